#include "shared/base/json_string.hpp"

#include <fmt/format.h>

#include "shared/base/character.hpp"

namespace shoal {
void append_json_string(std::string& text, std::string_view value) {
  text += '"';
  while (!value.empty()) {
    const Character character = first_character(value);
    if (character.kind == Character::Kind::NotUtf8) {
      text += "\\ufffd";
    } else if (value[0] == '"' || value[0] == '\\') {
      text += '\\';
      text += value[0];
    } else if (value[0] == '\n') {
      text += "\\n";
    } else if (value[0] == '\t') {
      text += "\\t";
    } else if (character.kind == Character::Kind::Steering) {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(character.code));
    } else {
      text += value.substr(0, character.bytes);
    }
    value.remove_prefix(character.bytes);
  }
  text += '"';
}

}  // namespace shoal
