// One option of a program: its names, type, range and help, and where its value came from. Not safe from
// several threads; everything here happens before the program starts its work.
//
// Invariants
// 1. A value in any source is text until `accept` has checked it, so file, environment and command line obey
//    the same rules and give the same complaints.
// 2. `accept` with Store::No changes nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/base/time.hpp"

namespace shoal {

enum class OptionType {
  Bool,
  Integer,  // whole numbers, up to 64 bits
  Number,   // floating point
  Text,
  Choice,   // one word of a list
  Seconds,  // a duration; fractions allowed
};

/// Rising strength: a later one replaces an earlier one.
enum class OptionSource { Default, File, Environment, CommandLine };

/// What may be said of an option beside its name; write it with designated initialisers.
struct OptionRules {
  std::string help;
  std::optional<double> min = std::nullopt;  // inclusive; seconds for durations
  std::optional<double> max = std::nullopt;  // inclusive; seconds for durations
  std::string unit = {};                     // shown in the help: "Hz", "ms", "%"
  std::vector<std::string> choices = {};     // for strings: the only allowed values
};

enum class Store : bool { No, Yes };

struct Option {
  std::string section;  // of the file; empty for keys at the top
  std::string name;     // "tick-rate"
  OptionType type = OptionType::Text;
  OptionRules rules;
  std::string allowed;       // "0 to 65535", "Idle, Chase or Flee"; empty when everything is
  std::string default_text;  // the value at the time of `add`
  bool may_be_none = false;  // the word `none` stands for no value
  OptionSource source = OptionSource::Default;
  std::string origin = "default";  // "shoal.toml:3:8", "SHOAL_PORT", "--port"

  /// Checks `text` and stores it; the complaint when it is not allowed ("is out of range").
  std::function<std::optional<std::string>(std::string_view text, Store store)> accept;
  std::function<std::string()> current;

  std::string file_key() const;     // "tick_rate"
  std::string full_key() const;     // "network.tick_rate"
  std::string flag() const;         // "--tick-rate"
  std::string environment() const;  // "SHOAL_TICK_RATE"
  std::string_view type_name() const;
  /// Somebody said a value, be it the default's. One that --print-config wrote into a file says nothing.
  bool is_said() const { return source > OptionSource::File || current() != default_text; }
};

// The rules of each type of value. All of them refuse what they do not use up to the last character.
struct SignedRange {
  std::int64_t min, max;
};
struct UnsignedRange {
  std::uint64_t min, max;
};
struct NumberRange {
  double min, max;
};
Result<std::int64_t, std::string> parse_signed(std::string_view text, SignedRange range);
Result<std::uint64_t, std::string> parse_unsigned(std::string_view text, UnsignedRange range);
/// Finite numbers only.
Result<double, std::string> parse_number(std::string_view text, NumberRange range);
/// true, false, yes, no, on, off, 1, 0.
Result<bool, std::string> parse_bool(std::string_view text);
/// REQUIRES: `text` passed parse_number with a range below 2^63 nanoseconds.
Duration duration_from_seconds(double seconds_value);

/// The shortest text that reads back as exactly this value.
std::string to_text(double value);
std::string to_text(float value);
std::string seconds_to_text(Duration duration);

/// In quotes, on one line, shortened: text from outside inside a message.
std::string in_quotes(std::string_view text);
/// "a, b or c"
std::string join_words(const std::vector<std::string>& words);

}  // namespace shoal
