// Text from anywhere, character by character, for what passes it on: to the log, to a screen, into JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal {

struct Character {
  enum class Kind : std::uint8_t {
    Plain,
    Steering,  // moves, colours or turns round what a terminal shows, or ends the line: replace it or escape it
    NotUtf8,  // one byte that belongs to no character: replace it
  };
  Kind kind;
  std::size_t bytes;  // of the text's front; 1 where it is not UTF-8
  char32_t code;      // 0 where it is not UTF-8
};

/// REQUIRES: `text` is not empty.
Character first_character(std::string_view text);

}  // namespace shoal
