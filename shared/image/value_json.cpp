#include "shared/image/value_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

namespace shoal {
namespace {

constexpr std::uint32_t kQuietNan = 0x7FC00000;

template <class T>
T number_at(std::span<const std::byte> value, std::size_t offset) {
  T number;
  std::memcpy(&number, value.data() + offset, sizeof number);
  return number;
}

void write_float(float number, std::string& target) {
  if (std::isnan(number)) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    target += bits == kQuietNan ? "\"NaN\"" : fmt::format("\"{:#010x}\"", bits);
  } else if (std::isinf(number)) {
    target += number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    const std::string text = fmt::format("{}", number);
    target += text;
    // Without a point a reader of JSON may take it for a whole number, of which there is only one zero.
    if (text.find_first_of(".e") == std::string::npos) target += ".0";
  }
}

void write_scalar(const ImageField& field, std::span<const std::byte> value, std::string& target) {
  const auto write_number = [&]<class T>(T number) {
    fmt::format_to(std::back_inserter(target), "{}", number);
  };
  const std::size_t at = field.offset_bytes;
  switch (field.type) {
    case FieldType::Bool:
      target += number_at<std::uint8_t>(value, at) != 0 ? "true" : "false";
      break;
    case FieldType::Int8:
      write_number(int{number_at<std::int8_t>(value, at)});
      break;
    case FieldType::Uint8:
      write_number(unsigned{number_at<std::uint8_t>(value, at)});
      break;
    case FieldType::Int16:
      write_number(number_at<std::int16_t>(value, at));
      break;
    case FieldType::Uint16:
      write_number(number_at<std::uint16_t>(value, at));
      break;
    case FieldType::Int32:
      write_number(number_at<std::int32_t>(value, at));
      break;
    case FieldType::Uint32:
      write_number(number_at<std::uint32_t>(value, at));
      break;
    case FieldType::Float:
      write_float(number_at<float>(value, at), target);
      break;
    case FieldType::Entity:
      target += json_of(number_at<Entity>(value, at));
      break;
  }
}

template <class T>
std::optional<T> whole_number_of(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::Number) return std::nullopt;
  T number{};
  const char* const end = value.text.data() + value.text.size();
  const auto [stopped, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return number;
}

std::optional<float> float_of(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::Number) {
    // From the digits straight to a float: by way of a double it would be rounded twice.
    float number = 0;
    const char* const end = value.text.data() + value.text.size();
    const auto [stopped, error] = std::from_chars(value.text.data(), end, number);
    if (error == std::errc() && stopped == end) return number;
    if (error != std::errc::result_out_of_range) return std::nullopt;
    double wide = 0;  // a finite one, or it were no JSON
    if (std::from_chars(value.text.data(), end, wide).ec == std::errc() && std::abs(wide) > 1)
      return std::nullopt;
    return value.text[0] == '-' ? -0.0f : 0.0f;
  }
  if (value.kind != JsonValue::Kind::String) return std::nullopt;
  if (value.text == "NaN") return std::bit_cast<float>(kQuietNan);
  if (value.text == "Infinity") return std::numeric_limits<float>::infinity();
  if (value.text == "-Infinity") return -std::numeric_limits<float>::infinity();
  if (value.text.size() != 10 || !value.text.starts_with("0x")) return std::nullopt;
  std::uint32_t bits = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stopped, error] = std::from_chars(value.text.data() + 2, end, bits, 16);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return std::bit_cast<float>(bits);
}

template <class T>
bool store(const std::optional<T>& number, std::size_t offset, std::span<std::byte> value) {
  if (number) std::memcpy(value.data() + offset, &*number, sizeof *number);
  return number.has_value();
}

bool read_scalar(const ImageField& field, const JsonValue& source, std::span<std::byte> value) {
  const std::size_t at = field.offset_bytes;
  switch (field.type) {
    case FieldType::Bool:
      return source.kind == JsonValue::Kind::Bool &&
             store(std::optional<std::uint8_t>(source.truth), at, value);
    case FieldType::Int8:
      return store(whole_number_of<std::int8_t>(source), at, value);
    case FieldType::Uint8:
      return store(whole_number_of<std::uint8_t>(source), at, value);
    case FieldType::Int16:
      return store(whole_number_of<std::int16_t>(source), at, value);
    case FieldType::Uint16:
      return store(whole_number_of<std::uint16_t>(source), at, value);
    case FieldType::Int32:
      return store(whole_number_of<std::int32_t>(source), at, value);
    case FieldType::Uint32:
      return store(whole_number_of<std::uint32_t>(source), at, value);
    case FieldType::Float:
      return store(float_of(source), at, value);
    case FieldType::Entity:
      return store(entity_of(source), at, value);
  }
  return false;
}

std::string_view expectation(FieldType type) {
  switch (type) {
    case FieldType::Bool:
      return "true or false";
    case FieldType::Float:
      return "a number that a float can be, \"NaN\", \"Infinity\" or \"-Infinity\"";
    case FieldType::Entity:
      return "an entity such as \"7:2\", or null";
    case FieldType::Int8:
      return "a whole number from -128 to 127";
    case FieldType::Uint8:
      return "a whole number from 0 to 255";
    case FieldType::Int16:
      return "a whole number from -32768 to 32767";
    case FieldType::Uint16:
      return "a whole number from 0 to 65535";
    case FieldType::Int32:
      return "a whole number from -2147483648 to 2147483647";
    case FieldType::Uint32:
      return "a whole number from 0 to 4294967295";
  }
  return "nothing";
}

// "slots[2].x" as slots, [2], x; empty if it is no such path.
std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> steps;
  while (!path.empty()) {
    const bool is_index = path[0] == '[';
    const std::size_t end = is_index ? path.find(']') : std::min(path.find_first_of(".["), path.size());
    if (end == std::string_view::npos || end == 0) return {};
    steps.emplace_back(path.substr(0, end));
    path.remove_prefix(is_index ? end + 1 : end);
    if (path.empty() || path[0] == '[') continue;
    if (path[0] != '.' || path.size() == 1 || path[1] == '[') return {};
    path.remove_prefix(1);
  }
  return steps;
}

JsonFault fault(const JsonValue& value, const std::string& path, std::string what) {
  return {&value, path, std::move(what)};
}

}  // namespace

FieldTree::FieldTree(std::span<const ImageField> fields) {
  if (std::all_of(fields.begin(), fields.end(), [&](const ImageField& field) { return insert(field); }))
    return;
  root_ = {};
  for (const ImageField& field : fields)
    root_.children.push_back({field.path, json_string(field.path) + ':', false, field, {}});
}

bool FieldTree::insert(const ImageField& field) {
  const std::vector<std::string> steps = steps_of(field.path);
  if (steps.empty() || steps.size() > 16 || steps[0][0] == '[') return false;
  Node* node = &root_;
  for (const std::string& step : steps) {
    const bool is_item = step[0] == '[';
    if (node->field || (!node->children.empty() && node->is_list != is_item)) return false;
    node->is_list = is_item;
    if (is_item) {
      // Items come in their order, each with all that is in it.
      std::size_t number = 0;
      std::from_chars(step.data() + 1, step.data() + step.size(), number);
      if (number == node->children.size()) node->children.emplace_back();
      if (number + 1 != node->children.size() || step != fmt::format("[{}", number)) return false;
      node = &node->children.back();
    } else {
      const auto found = std::find_if(node->children.begin(), node->children.end(),
                                      [&](const Node& child) { return child.name == step; });
      if (found == node->children.end()) {
        node->children.push_back({step, json_string(step) + ':', false, std::nullopt, {}});
        node = &node->children.back();
      } else {
        node = &*found;
      }
    }
  }
  if (node->field || !node->children.empty()) return false;
  node->field = field;
  return true;
}

void FieldTree::write(std::span<const std::byte> value, std::string& target) const {
  write(root_, value, target);
}

void FieldTree::write(const Node& node, std::span<const std::byte> value, std::string& target) {
  if (node.field) {
    write_scalar(*node.field, value, target);
    return;
  }
  target += node.is_list ? '[' : '{';
  for (const Node& child : node.children) {
    if (&child != &node.children.front()) target += ',';
    target += child.prefix;
    write(child, value, target);
  }
  target += node.is_list ? ']' : '}';
}

std::optional<JsonFault> FieldTree::read(const JsonValue& source, const std::string& path,
                                         std::span<std::byte> value) const {
  return read(root_, source, path, value);
}

std::optional<JsonFault> FieldTree::read(const Node& node, const JsonValue& source, const std::string& path,
                                         std::span<std::byte> value) {
  if (node.field) {
    if (read_scalar(*node.field, source, value)) return std::nullopt;
    return fault(source, path,
                 fmt::format("{} is expected, not {}", expectation(node.field->type),
                             source.kind == JsonValue::Kind::Number ? source.text
                                                                    : std::string(name_of(source.kind))));
  }
  if (node.is_list) {
    if (source.kind != JsonValue::Kind::Array || source.items.size() != node.children.size())
      return fault(source, path, fmt::format("a list of {} is expected", node.children.size()));
    for (std::size_t i = 0; i < source.items.size(); ++i) {
      if (auto wrong = read(node.children[i], source.items[i], fmt::format("{}[{}]", path, i), value))
        return wrong;
    }
    return std::nullopt;
  }
  if (source.kind != JsonValue::Kind::Object)
    return fault(source, path, fmt::format("an object is expected, not {}", name_of(source.kind)));
  for (const auto& [name, member] : source.members()) {
    const auto child = std::find_if(node.children.begin(), node.children.end(),
                                    [&, &wanted = name](const Node& each) { return each.name == wanted; });
    const std::string member_path = path + '.' + name;
    if (child == node.children.end()) return fault(member, member_path, "there is no such field");
    if (auto wrong = read(*child, member, member_path, value)) return wrong;
  }
  return std::nullopt;
}

std::string json_of(Entity entity) {
  return entity.is_null() ? "null" : fmt::format("\"{}:{}\"", entity.index, entity.generation);
}

std::optional<Entity> entity_of(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::Null) return kNullEntity;
  if (value.kind != JsonValue::Kind::String) return std::nullopt;
  Entity entity;
  const char* const end = value.text.data() + value.text.size();
  const auto index = std::from_chars(value.text.data(), end, entity.index);
  if (index.ec != std::errc() || index.ptr == end || *index.ptr != ':') return std::nullopt;
  const auto generation = std::from_chars(index.ptr + 1, end, entity.generation);
  if (generation.ec != std::errc() || generation.ptr != end) return std::nullopt;
  return entity;
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

std::optional<std::vector<std::byte>> bytes_of_hexadecimal(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t at = 0; at < text.size(); at += 2) {
    std::uint8_t byte = 0;
    const auto [stopped, error] = std::from_chars(text.data() + at, text.data() + at + 2, byte, 16);
    if (error != std::errc() || stopped != text.data() + at + 2) return std::nullopt;
    bytes.push_back(std::byte{byte});
  }
  return bytes;
}

std::optional<std::uint64_t> unsigned_of(const JsonValue& value, std::uint64_t greatest) {
  const auto number = whole_number_of<std::uint64_t>(value);
  return number && *number <= greatest ? number : std::nullopt;
}

}  // namespace shoal
