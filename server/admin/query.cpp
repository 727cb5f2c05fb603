#include "server/admin/query.hpp"

#include <cstdint>

namespace shoal {
namespace {

std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    std::uint8_t byte = 0;
    if (i + 3 > text.size()) return std::nullopt;
    const char* digits = text.data() + i + 1;
    const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
    if (error != std::errc() || end != digits + 2) return std::nullopt;
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

}  // namespace

std::optional<std::string> query_value(std::string_view query, std::string_view name) {
  std::optional<std::string_view> found;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
    if (found) return std::nullopt;
    found = pair.substr(equals + 1);
  }
  return found ? decoded(*found) : std::nullopt;
}

}  // namespace shoal
