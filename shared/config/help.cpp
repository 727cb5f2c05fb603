// What --help and --print-config show, made from the same table that reads the values.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "shared/config/option_table.hpp"

namespace shoal {
namespace {

constexpr std::size_t kColumn = 30;
constexpr std::size_t kWidth = 110;

std::string placeholder(const Option& option) {
  switch (option.type) {
    case OptionType::Bool:
      return "";
    case OptionType::Integer:
      return option.rules.unit.empty() ? "N" : option.rules.unit;
    case OptionType::Number:
      return option.rules.unit.empty() ? "X" : option.rules.unit;
    case OptionType::Text:
      return "TEXT";
    case OptionType::Choice:
      return "WORD";
    case OptionType::Seconds:
      return "SECONDS";
  }
  return "";
}

// Breaks at spaces; continuation lines stand below the first one.
std::string wrapped(std::string_view text) {
  std::string lines;
  std::size_t column = kColumn;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (column > kColumn && column + 1 + word.size() > kWidth) {
      lines += "\n" + std::string(kColumn, ' ');
      column = kColumn;
    } else if (column > kColumn) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string entry(std::string_view names, std::string_view help, std::string_view facts) {
  std::string text = fmt::format("  {:<{}}", names, kColumn - 2);
  // A long name keeps its line to itself.
  if (names.size() + 3 > kColumn) text = fmt::format("  {}\n{}", names, std::string(kColumn, ' '));
  text += wrapped(help) + "\n";
  if (!facts.empty()) text += std::string(kColumn, ' ') + wrapped(facts) + "\n";
  return text;
}

std::string facts(const Option& option) {
  std::string text = "default " + (option.default_text.empty() ? std::string("none") : option.default_text);
  if (!option.rules.unit.empty()) text += " " + option.rules.unit;
  if (option.type != OptionType::Bool && !option.allowed.empty()) text += "; " + option.allowed;
  return text + "; " + option.environment();
}

// The value of an option as TOML writes it.
std::string toml_value(const Option& option) {
  const std::string text = option.current();
  if (option.may_be_none && text == "none") return "\"none\"";
  switch (option.type) {
    case OptionType::Bool:
      return text;
    case OptionType::Number:
    case OptionType::Seconds:
      return text;
    case OptionType::Integer: {
      std::int64_t value = 0;
      const bool fits = std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc();
      return fits ? text : '"' + text + '"';
    }
    case OptionType::Text:
    case OptionType::Choice:
      break;
  }
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') literal += '\\';
    if (byte < 0x20 || byte == 0x7F) {
      literal += fmt::format("\\u{:04X}", byte);
    } else {
      literal += c;
    }
  }
  return literal + '"';
}

// A comment ends with its line, so a strange file name must not.
std::string on_one_line(std::string text) {
  for (char& c : text) c = static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  return text;
}

std::string source_of(const Option& option) {
  switch (option.source) {
    case OptionSource::Default:
      return "default";
    case OptionSource::File:
      return "file " + on_one_line(option.origin);
    case OptionSource::Environment:
      return "environment " + option.origin;
    case OptionSource::CommandLine:
      return "command line " + option.origin;
  }
  return "";
}

}  // namespace

std::string OptionTable::help() const {
  std::string text = fmt::format(
      "{}: {}\n\nUsage: {} [options]\n\n"
      "Options come from a file (--config), the environment and the command line, in rising order of "
      "strength.\n",
      info_.program, info_.summary, info_.program);
  std::string section;
  bool first = true;
  for (const Option& option : options_) {
    if (first || option.section != section)
      text += fmt::format("\n{}:\n", option.section.empty() ? "general" : option.section);
    first = false;
    section = option.section;
    const std::string value = placeholder(option);
    const std::string negation = option.type == OptionType::Bool ? ", --no-" + option.name : "";
    text += entry(option.flag() + negation + (value.empty() ? "" : " " + value), option.rules.help,
                  facts(option));
  }
  text += "\nevery program:\n";
  text +=
      entry("--config FILE", "read options from this TOML file: [section], then key = value", "SHOAL_CONFIG");
  text += entry("--print-config", "print the options in effect as such a file, with their sources, and leave",
                "");
  text += entry("--version", "print the version and leave", "");
  text += entry("-h, --help", "print this and leave", "");
  return text;
}

std::string OptionTable::config_as_toml() const {
  std::string text = fmt::format("# The options of {} in effect.\n", info_.program);
  std::string section;
  for (const Option& option : options_) {
    if (option.section != section) text += fmt::format("\n[{}]\n", option.section);
    section = option.section;
    text += fmt::format("{} = {}  # {}\n", option.file_key(), toml_value(option), source_of(option));
  }
  return text;
}

}  // namespace shoal
