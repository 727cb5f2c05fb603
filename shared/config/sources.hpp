// The three sources of option values, each into the same list of settings and complaints. Internal to
// shared/config.
//
// Invariant: a setting in the list has passed its option's check.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/config/option_table.hpp"

namespace shoal::config_sources {

struct Setting {
  std::size_t option;  // position in the table
  std::string text;
  OptionSource source;
  std::string origin;
};

struct Gathered {
  std::vector<Setting> settings;  // the later one of an option is the stronger one
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
};

/// What the command line asks for beside option values.
struct CommandLine {
  bool help = false;
  bool version = false;
  bool print_config = false;
  std::optional<std::string> config_path;
};

CommandLine read_command_line(const std::vector<Option>& options, int argc, const char* const* argv,
                              Gathered& gathered);
void read_environment(const std::vector<Option>& options, const Environment& environment, Gathered& gathered);
void read_toml(const std::vector<Option>& options, std::string_view text, const std::string& path,
               Gathered& gathered);

/// Checks `text` and adds the setting or the complaint, which begins with `place`.
void add_setting(const std::vector<Option>& options, std::size_t option, std::string text,
                 OptionSource source, const std::string& origin, const std::string& place,
                 Gathered& gathered);
/// "; allowed: 0 to 65535", or nothing.
std::string allowed_suffix(const Option& option);
/// "; did you mean port?", or nothing.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

inline constexpr std::string_view kConfigVariable = "SHOAL_CONFIG";

}  // namespace shoal::config_sources
