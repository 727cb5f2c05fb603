// The options of a program, said once: the table drives the configuration file (TOML), the environment
// (SHOAL_…) and the command line, in rising order of strength, and the help. Used by main before anything
// runs; not safe from several threads.
//
//   OptionTable table({.program = "shoal-server", .summary = "an authoritative game server", .version =
//   "0.1.0"}); table.section("network"); table.add("port", &config.port, {.help = "UDP port; 0 lets the
//   system choose", .min = 0, .max = 65535}); const auto outcome = table.parse(argc, argv,
//   environment_from(environ), read_text_file);
//
// gives `--port 7777`, `SHOAL_PORT=7777` and `[network] port = 7777`.
//
// Invariants
// 1. Targets change only when every source was without fault; a failed parse leaves them as they were.
// 2. A fault in a weaker source counts although a stronger one overrides it: it would surprise later.
// 3. Nothing is read but what is passed in; no exception leaves.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/config/option.hpp"

namespace shoal {

using Environment = std::map<std::string, std::string>;
/// The SHOAL_… variables of a block like `environ`: "NAME=value" strings up to a null pointer.
Environment environment_from(const char* const* block);

/// The text of a file, or why there is none.
using FileReader = std::function<Result<std::string, std::string>(const std::string& path)>;

struct ProgramInfo {
  std::string program;  // "shoal-server"
  std::string summary;  // one line
  std::string version;  // "0.1.0"
};

/// What main does next.
struct ParseOutcome {
  /// Set by --help, --version and --print-config: print this and leave with exit code 0.
  std::optional<std::string> text_to_print;
  /// Lines for the log, such as an environment variable that looks like a mistyped option.
  std::vector<std::string> warnings;
};

class OptionTable {
 public:
  explicit OptionTable(ProgramInfo info) : info_(std::move(info)) {}

  /// Options added from now on belong to this section of the file and of the help. Lower case, once each.
  void section(std::string name);

  // The target's value at this moment is the default; the target must outlive `parse`. Asserted: a name of
  // lower-case letters, digits and '-', not yet taken; a default inside the range; min <= max.
  void add(std::string name, bool* target, OptionRules rules);
  void add(std::string name, float* target, OptionRules rules);
  void add(std::string name, double* target, OptionRules rules);
  /// A number, or the word `none`.
  void add(std::string name, std::optional<double>* target, OptionRules rules);
  /// With `rules.choices` the option takes only these.
  void add(std::string name, std::string* target, OptionRules rules);
  /// In seconds, fractions allowed; 0 to a billion seconds unless the rules say otherwise.
  void add(std::string name, Duration* target, OptionRules rules);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  void add(std::string name, T* target, OptionRules rules);
  /// An enumeration by its words: {{"debug", LogLevel::Debug}, …}.
  template <class E>
    requires std::is_enum_v<E>
  void add(std::string name, E* target, std::vector<std::pair<std::string, E>> words, OptionRules rules);

  /// Reads all sources. The error is one complaint a line, each with its place, the key and what is allowed.
  Result<ParseOutcome, std::string> parse(int argc, const char* const* argv, const Environment& environment,
                                          const FileReader& read_file);

  const std::vector<Option>& options() const { return options_; }
  const ProgramInfo& info() const { return info_; }
  /// What --help prints.
  std::string help() const;
  /// What --print-config prints: a configuration file with this effect, each value with its source.
  std::string config_as_toml() const;

 private:
  using SetSigned = std::function<void(std::int64_t)>;
  using SetUnsigned = std::function<void(std::uint64_t)>;
  void add_signed(Option option, SignedRange of_type, SetSigned set);
  void add_unsigned(Option option, UnsignedRange of_type, SetUnsigned set);
  void add_number(Option option, NumberRange of_type, std::function<void(double)> set);
  void add_choice(Option option, std::function<void(std::size_t choice)> set);
  void add_checked(Option option);
  Option make(std::string name, OptionType type, OptionRules rules) const;

  ProgramInfo info_;
  std::string section_;
  std::vector<std::string> sections_;
  std::vector<Option> options_;
};

template <std::integral T>
  requires(!std::same_as<T, bool>)
void OptionTable::add(std::string name, T* target, OptionRules rules) {
  Option option = make(std::move(name), OptionType::Integer, std::move(rules));
  option.current = [target] { return std::to_string(*target); };
  using Limits = std::numeric_limits<T>;
  if constexpr (std::signed_integral<T>) {
    add_signed(std::move(option), {Limits::min(), Limits::max()},
               [target](std::int64_t value) { *target = static_cast<T>(value); });
  } else {
    add_unsigned(std::move(option), {Limits::min(), Limits::max()},
                 [target](std::uint64_t value) { *target = static_cast<T>(value); });
  }
}

template <class E>
  requires std::is_enum_v<E>
void OptionTable::add(std::string name, E* target, std::vector<std::pair<std::string, E>> words,
                      OptionRules rules) {
  for (const auto& word : words) rules.choices.push_back(word.first);
  Option option = make(std::move(name), OptionType::Choice, std::move(rules));
  option.current = [target, words] {
    for (const auto& [word, value] : words) {
      if (value == *target) return word;
    }
    return std::string();
  };
  add_choice(std::move(option), [target, words](std::size_t choice) { *target = words[choice].second; });
}

}  // namespace shoal
