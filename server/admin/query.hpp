// What stands behind the question mark: "client=3&entity=17:2".
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>

namespace shoal {

/// Decoded (%41, +); none when the query does not name it, or names it twice, or its escapes are no escapes.
std::optional<std::string> query_value(std::string_view query, std::string_view name);

/// All of the text, decimal.
template <std::unsigned_integral T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace shoal
