// One component's value as JSON. Paths of fields become objects and lists: "target.x", "slots[2]" are
// {"target":{"x":…},"slots":[…,…,…]}.
//
// | field | JSON |
// |---|---|
// | bool | true, false |
// | whole numbers, enums | a number |
// | float | a number, the shortest that reads back as the same bits; else "NaN", "Infinity", "-Infinity"; other bits of
//   NaN as "0x7fc00001" |
// | entity | "7:2" (index, generation), null |
// | opaque, encoded values | their bytes in hexadecimal |
// | a tag | {} |
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/ecs/entity.hpp"
#include "shared/image/field_layout.hpp"
#include "shared/image/json_document.hpp"

namespace shoal {

/// What is wrong in a text, and where: "entities[3].components.game.Thing.x".
struct JsonFault {
  const JsonValue* value;
  std::string path;
  std::string what;
};

class FieldTree {
 public:
  /// Any paths: where they contradict each other, each is one name.
  explicit FieldTree(std::span<const ImageField> fields);

  /// REQUIRES: each field lies in `value`.
  void write(std::span<const std::byte> value, std::string& target) const;
  /// Fields that the text does not name stay what they are in `value`. On a fault some may be written.
  std::optional<JsonFault> read(const JsonValue& source, const std::string& path,
                                std::span<std::byte> value) const;

 private:
  struct Node {
    std::string name;    // of a list's items: empty
    std::string prefix;  // what JSON has before the value: the name, quoted, and a colon
    bool is_list = false;
    std::optional<ImageField> field;  // of a leaf
    std::vector<Node> children;
  };

  bool insert(const ImageField& field);
  static void write(const Node& node, std::span<const std::byte> value, std::string& target);
  static std::optional<JsonFault> read(const Node& node, const JsonValue& source, const std::string& path,
                                       std::span<std::byte> value);

  Node root_;
};

std::string json_of(Entity entity);
/// None for anything but "7:2"; null gives the null entity.
std::optional<Entity> entity_of(const JsonValue& value);

std::string hexadecimal(std::span<const std::byte> bytes);
std::optional<std::vector<std::byte>> bytes_of_hexadecimal(std::string_view text);

/// A whole number of JSON in a range.
std::optional<std::uint64_t> unsigned_of(const JsonValue& value, std::uint64_t greatest);

}  // namespace shoal
