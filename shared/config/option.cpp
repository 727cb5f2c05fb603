#include "shared/config/option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace shoal {
namespace {

// People read 1000000000 more easily than 1e+09; only very long numbers get an exponent.
template <class T>
std::string shortest(T value) {
  const T magnitude = std::fabs(value);
  const bool plain = magnitude == 0 || (magnitude >= T(1e-6) && magnitude < T(1e15));
  std::array<char, 64> buffer{};
  char* const last = buffer.data() + buffer.size();
  const auto end = plain ? std::to_chars(buffer.data(), last, value, std::chars_format::fixed).ptr
                         : std::to_chars(buffer.data(), last, value).ptr;
  return {buffer.data(), end};
}

// from_chars knows no leading plus, people do.
std::string_view without_plus(std::string_view text) {
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return plus ? text.substr(1) : text;
}

template <class T>
Result<T, std::string> parse_whole(std::string_view text, T min, T max) {
  const std::string_view digits = without_plus(text);
  const bool negative = digits.starts_with('-');
  T value{};
  // An unsigned type would call "-1" no number at all; it is one, only out of range.
  const char* first = digits.data() + (negative && std::is_unsigned_v<T> ? 1 : 0);
  const auto [end, error] = std::from_chars(first, digits.data() + digits.size(), value);
  if (digits.empty() || end != digits.data() + digits.size() || error == std::errc::invalid_argument) {
    return Failure{std::string("is not a whole number")};
  }
  const bool below_zero = std::is_unsigned_v<T> && negative && value != 0;
  if (error == std::errc::result_out_of_range || below_zero || value < min || value > max) {
    return Failure{std::string("is out of range")};
  }
  return value;
}

}  // namespace

std::string Option::file_key() const {
  std::string key = name;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string Option::full_key() const {
  return section.empty() ? file_key() : section + "." + file_key();
}

std::string Option::flag() const {
  return "--" + name;
}

std::string Option::environment() const {
  std::string variable = "SHOAL_" + file_key();
  for (char& c : variable) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return variable;
}

std::string_view Option::type_name() const {
  switch (type) {
    case OptionType::Bool:
      return "true or false";
    case OptionType::Integer:
      return "a whole number";
    case OptionType::Number:
      return "a number";
    case OptionType::Text:
      return "a string";
    case OptionType::Choice:
      return "a string";
    case OptionType::Seconds:
      return "a number of seconds";
  }
  return "";
}

Result<std::int64_t, std::string> parse_signed(std::string_view text, SignedRange range) {
  return parse_whole<std::int64_t>(text, range.min, range.max);
}

Result<std::uint64_t, std::string> parse_unsigned(std::string_view text, UnsignedRange range) {
  return parse_whole<std::uint64_t>(text, range.min, range.max);
}

Result<double, std::string> parse_number(std::string_view text, NumberRange range) {
  const std::string_view digits = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::invalid_argument || end != digits.data() + digits.size() || !std::isfinite(value)) {
    return Failure{std::string("is not a number")};
  }
  if (error == std::errc::result_out_of_range || value < range.min || value > range.max) {
    return Failure{std::string("is out of range")};
  }
  return value;
}

Result<bool, std::string> parse_bool(std::string_view text) {
  for (const auto word : {"true", "yes", "on", "1"}) {
    if (text == word) return true;
  }
  for (const auto word : {"false", "no", "off", "0"}) {
    if (text == word) return false;
  }
  return Failure{std::string("is neither true nor false")};
}

Duration duration_from_seconds(double seconds_value) {
  return Duration(static_cast<Duration::rep>(std::llround(seconds_value * 1e9)));
}

std::string to_text(double value) {
  return shortest(value);
}
std::string to_text(float value) {
  return shortest(value);
}
std::string seconds_to_text(Duration duration) {
  return shortest(to_seconds(duration));
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kMaxShown = 80;
  std::string shown = "\"";
  for (const char c : text.substr(0, kMaxShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown + (text.size() > kMaxShown ? "…\"" : "\"");
}

std::string join_words(const std::vector<std::string>& words) {
  std::string joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) joined += i + 1 == words.size() ? " or " : ", ";
    joined += words[i];
  }
  return joined;
}

}  // namespace shoal
