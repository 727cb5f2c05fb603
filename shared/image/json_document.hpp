// JSON text as a tree that knows where each value stood, so that who reads it can say so. nlohmann-json reads it, in
// json_document.cpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/image/image_error.hpp"

namespace shoal {

struct JsonValue {
  enum class Kind : std::uint8_t { Null, Bool, Number, String, Array, Object };

  Kind kind = Kind::Null;
  bool truth = false;              // Bool
  std::size_t offset = 0;          // in the text: behind its first character (Array, Object) or its last
  std::string text;                // String; Number: as it was written
  std::vector<JsonValue> items;    // Array; Object: of its members, in the order of the text
  std::vector<std::string> names;  // Object: of the items; they differ

  struct Member {
    const std::string& name;
    const JsonValue& value;
  };
  std::vector<Member> members() const;
  /// Null if there is none of this name.
  const JsonValue* find(std::string_view name) const;
};

/// "a number", "an object": for messages.
std::string_view name_of(JsonValue::Kind kind);

/// Fails with line and column: text that is no JSON, a name twice in one object, more than 32 levels.
Result<JsonValue, ImageError> parse_json(std::string_view text);

std::size_t line_of(std::string_view text, const JsonValue& value);

/// With quotes. REQUIRES: UTF-8; other bytes become replacement characters.
std::string json_string(std::string_view text);

}  // namespace shoal
