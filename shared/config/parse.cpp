// OptionTable::parse: gathers the sources, then stores all of them or nothing.
#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "shared/config/nearest.hpp"
#include "shared/config/option_table.hpp"
#include "shared/config/sources.hpp"

namespace shoal {
namespace config_sources {

std::string allowed_suffix(const Option& option) {
  return option.allowed.empty() ? std::string() : "; allowed: " + option.allowed;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string found = nearest(word, known);
  return found.empty() ? std::string() : fmt::format("; did you mean {}?", found);
}

void add_setting(const std::vector<Option>& options, std::size_t position, std::string text,
                 OptionSource source, const std::string& origin, const std::string& place,
                 Gathered& gathered) {
  const Option& option = options[position];
  if (const auto complaint = option.accept(text, Store::No)) {
    const bool choice = option.type == OptionType::Choice;
    gathered.errors.push_back(fmt::format("{}: {} {}{}{}", place, in_quotes(text), *complaint,
                                          allowed_suffix(option),
                                          choice ? suggestion(text, option.rules.choices) : std::string()));
    return;
  }
  gathered.settings.push_back({position, std::move(text), source, origin});
}

void read_environment(const std::vector<Option>& options, const Environment& environment,
                      Gathered& gathered) {
  std::vector<std::string> known{std::string(kConfigVariable)};
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string name = options[i].environment();
    known.push_back(name);
    const auto found = environment.find(name);
    if (found == environment.end()) continue;
    add_setting(options, i, found->second, OptionSource::Environment, name, "environment " + name, gathered);
  }
  // An unknown variable may belong to another program of shoal, so it is no error.
  for (const auto& [name, value] : environment) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string meant = nearest(name, known);
    if (meant.empty() || edit_distance(name, meant) > 2) continue;
    gathered.warnings.push_back(
        fmt::format("environment {} is not an option; did you mean {}?", name, meant));
  }
}

}  // namespace config_sources

namespace {

using config_sources::Gathered;

// Sources in rising order of strength. The command line is read first, for it may name the file, but its
// settings come last.
Result<ParseOutcome, std::string> gather(OptionTable& table, std::vector<Option>& options, int argc,
                                         const char* const* argv, const Environment& environment,
                                         const FileReader& read_file) {
  Gathered from_command_line;
  const auto command_line = config_sources::read_command_line(options, argc, argv, from_command_line);
  if (command_line.help) return ParseOutcome{table.help(), {}};
  if (command_line.version)
    return ParseOutcome{fmt::format("{} {}\n", table.info().program, table.info().version), {}};

  Gathered all;
  std::optional<std::string> path = command_line.config_path;
  const auto variable = environment.find(std::string(config_sources::kConfigVariable));
  if (!path && variable != environment.end() && !variable->second.empty()) path = variable->second;
  if (path) {
    const auto text = read_file(*path);
    if (text) {
      config_sources::read_toml(options, *text, *path, all);
    } else {
      all.errors.push_back(fmt::format("{}: cannot read the configuration file: {}", *path, text.error()));
    }
  }
  config_sources::read_environment(options, environment, all);
  const auto append = [](auto& target, auto& source) {
    target.insert(target.end(), source.begin(), source.end());
  };
  append(all.settings, from_command_line.settings);
  append(all.errors, from_command_line.errors);

  if (!all.errors.empty()) return Failure{fmt::format("{}", fmt::join(all.errors, "\n"))};
  for (const auto& setting : all.settings) {
    Option& option = options[setting.option];
    static_cast<void>(option.accept(setting.text, Store::Yes));
    option.source = setting.source;
    option.origin = setting.origin;
  }
  ParseOutcome outcome{std::nullopt, std::move(all.warnings)};
  if (command_line.print_config) outcome.text_to_print = table.config_as_toml();
  return outcome;
}

}  // namespace

Result<ParseOutcome, std::string> OptionTable::parse(int argc, const char* const* argv,
                                                     const Environment& environment,
                                                     const FileReader& read_file) {
  // The libraries below throw; what they throw in a case that we did not foresee ends here.
  try {
    return gather(*this, options_, argc, argv, environment, read_file);
  } catch (const std::exception& exception) {
    return Failure{fmt::format("cannot read the options: {}", exception.what())};
  }
}

}  // namespace shoal
