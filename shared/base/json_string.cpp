#include "shared/base/json_string.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace shoal {
namespace {

// How many bytes the character at the front has; 0 when it is not UTF-8: a stray or missing continuation, a longer form
// than needed, half a surrogate pair, or beyond U+10FFFF (RFC 3629, section 4).
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first <= 0xDF   ? 2
                           : first >= 0xE0 && first <= 0xEF ? 3
                           : first >= 0xF0 && first <= 0xF4 ? 4
                                                            : 0;
  if (size == 0 || text.size() < size) return 0;
  const unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  const unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < least || byte(1) > most) return 0;
  for (std::size_t i = 2; i < size; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return size;
}

}  // namespace

void append_json_string(std::string& text, std::string_view value) {
  text += '"';
  while (!value.empty()) {
    const std::size_t size = character_bytes(value);
    const auto first = static_cast<unsigned char>(value[0]);
    if (size == 0) {
      text += "\\ufffd";
    } else if (value[0] == '"' || value[0] == '\\') {
      text += '\\';
      text += value[0];
    } else if (value[0] == '\n') {
      text += "\\n";
    } else if (value[0] == '\t') {
      text += "\\t";
    } else if (first < 0x20 || first == 0x7F) {
      text += fmt::format("\\u{:04x}", first);
    } else {
      text += value.substr(0, size);
    }
    value.remove_prefix(size == 0 ? 1 : size);
  }
  text += '"';
}

}  // namespace shoal
