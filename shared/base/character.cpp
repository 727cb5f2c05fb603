#include "shared/base/character.hpp"

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

// REQUIRES: `text` is one whole character.
char32_t decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (text.size() == 1) return first;
  char32_t code = first & (0x7Fu >> text.size());
  for (const char c : text.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  return code;
}

bool is_steering(char32_t code) {
  if (code < 0x20 || code == 0x7F) return true;   // C0: newline, escape
  if (code >= 0x80 && code <= 0x9F) return true;  // C1: U+009B is an escape and a bracket in one
  if (code >= 0x2028 && code <= 0x202E)
    return true;  // separators of lines and paragraphs; embeddings, overrides
  if (code >= 0x2066 && code <= 0x2069) return true;          // isolates of a direction
  return code == 0x061C || code == 0x200E || code == 0x200F;  // marks of a direction
}

}  // namespace

Character first_character(std::string_view text) {
  const std::size_t bytes = character_bytes(text);
  if (bytes == 0) return {Character::Kind::NotUtf8, 1, 0};
  const char32_t code = decode(text.substr(0, bytes));
  return {is_steering(code) ? Character::Kind::Steering : Character::Kind::Plain, bytes, code};
}

}  // namespace shoal
