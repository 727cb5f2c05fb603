#include "shared/base/character.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace shoal {
namespace {

using Kind = Character::Kind;

std::string utf8(char32_t code) {
  const auto tail = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0 | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0 | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0)};
}

TEST(Character, EachCodeIsReadAndThoseThatSteerAreTheseAlone) {
  std::string steering;
  char32_t begin = 0;
  bool was_steering = false;
  for (char32_t code = 0; code <= 0x110000; ++code) {
    bool is_steering = false;
    const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
    if (code < 0x110000 && !is_surrogate) {
      const std::string text = utf8(code);
      const Character character = first_character(text + "\x80");
      ASSERT_NE(character.kind, Kind::NotUtf8) << std::hex << static_cast<unsigned>(code);
      ASSERT_EQ(character.code, code);
      ASSERT_EQ(character.bytes, text.size());
      is_steering = character.kind == Kind::Steering;
    }
    if (is_steering && !was_steering) begin = code;
    if (!is_steering && was_steering) {
      char range[24];
      std::snprintf(range, sizeof range, "%X-%X ", static_cast<unsigned>(begin),
                    static_cast<unsigned>(code - 1));
      steering += range;
    }
    was_steering = is_steering;
  }
  EXPECT_EQ(steering, "0-1F 7F-9F 61C-61C 200E-200F 2028-202E 2066-2069 ");
}

TEST(Character, WhatIsNotUtf8IsOneByteOfNoCode) {
  for (const char* text :
       {"\x80", "\xC0\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"}) {
    const Character character = first_character(text);
    EXPECT_EQ(character.kind, Kind::NotUtf8);
    EXPECT_EQ(character.bytes, 1u);
    EXPECT_EQ(character.code, U'\0');
  }
}

}  // namespace
}  // namespace shoal
