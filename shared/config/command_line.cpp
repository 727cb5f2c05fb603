// The command line, split by CLI11. CLI11 gives us words; types, ranges and messages are ours.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "shared/config/sources.hpp"

namespace shoal::config_sources {
namespace {

// CLI11 takes whatever follows as the value of an option; a following flag was hardly meant so.
bool is_known_flag(const std::vector<std::string>& known, std::string_view word) {
  return std::find(known.begin(), known.end(), word.substr(0, word.find('='))) != known.end();
}

void complain_of_unknown(const std::vector<std::string>& words, const std::vector<std::string>& known,
                         Gathered& gathered) {
  bool after_option = false;  // the word behind an unknown option is probably its value
  for (const std::string& word : words) {
    const bool option = word.size() > 1 && word[0] == '-';
    if (option) {
      const std::string name = word.substr(0, word.find('='));
      gathered.errors.push_back(fmt::format("unknown option {}{}", in_quotes(name), suggestion(name, known)));
    } else if (!after_option) {
      gathered.errors.push_back(
          fmt::format("unexpected argument {}; options begin with --", in_quotes(word)));
    }
    after_option = option && word.find('=') == std::string::npos;
  }
}

}  // namespace

CommandLine read_command_line(const std::vector<Option>& options, int argc, const char* const* argv,
                              Gathered& gathered) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<const CLI::Option*, std::size_t> positions;
  std::map<const CLI::Option*, bool> negations;
  std::vector<std::string> known{"--help", "--version", "--config", "--print-config"};
  CommandLine asked;
  std::vector<std::string> ignored;
  app.add_flag("-h,--help", asked.help);
  app.add_flag("--version", asked.version);
  app.add_flag("--print-config", asked.print_config);
  std::string config_path;
  const CLI::Option* config = app.add_option("--config", config_path)->take_last();
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string flag = options[i].flag();
    known.push_back(flag);
    if (options[i].type != OptionType::Bool) {
      positions[app.add_option(flag, ignored)->expected(1)->take_all()] = i;
      continue;
    }
    positions[app.add_flag(flag, ignored)->take_all()] = i;
    const std::string negated = "--no-" + options[i].name;
    known.push_back(negated);
    const CLI::Option* negation = app.add_flag(negated, ignored)->take_all();
    positions[negation] = i;
    negations[negation] = true;
  }

  try {
    app.parse(argc, argv);
  } catch (const CLI::ArgumentMismatch& error) {
    // CLI11 begins its message with the option; a missing value is the only mismatch that our options know.
    const std::string message = error.what();
    const std::string name = message.substr(0, message.find(':'));
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const Option& o) { return o.flag() == name; });
    gathered.errors.push_back(fmt::format("{} needs a value{}", name,
                                          option == options.end() ? std::string() : allowed_suffix(*option)));
    return asked;
  } catch (const CLI::ParseError& error) {
    gathered.errors.push_back(error.what());
    return asked;
  }
  if (config->count() > 0) asked.config_path = config_path;
  complain_of_unknown(app.remaining(), known, gathered);

  // parse_order names an option once for each time it stands there, so a repeated option gives its values in
  // turn and the last one wins, also between --x and --no-x.
  std::map<const CLI::Option*, std::size_t> seen;
  for (const CLI::Option* parsed : app.parse_order()) {
    const auto position = positions.find(parsed);
    if (position == positions.end()) continue;
    const Option& option = options[position->second];
    const std::string text = parsed->results().at(seen[parsed]++);
    if (option.type == OptionType::Bool && negations.count(parsed) > 0) {
      if (text != "true") {
        gathered.errors.push_back(fmt::format("--no-{} takes no value", option.name));
        continue;
      }
      add_setting(options, position->second, "false", OptionSource::CommandLine, "--no-" + option.name,
                  "--no-" + option.name, gathered);
      continue;
    }
    if (is_known_flag(known, text)) {
      gathered.errors.push_back(fmt::format("{} needs a value, found the option {}{}", option.flag(), text,
                                            allowed_suffix(option)));
      continue;
    }
    add_setting(options, position->second, text, OptionSource::CommandLine, option.flag(), option.flag(),
                gathered);
  }
  return asked;
}

}  // namespace shoal::config_sources
