// What the schema says of a component, as data. The generator writes these from the .fbs file; the component
// table (shared/replication) computes the columns from them; nothing else knows a component's fields.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace shoal {

/// How a field lies in the component's C++ aggregate.
enum class FieldType : std::uint8_t { Bool, Int8, Uint8, Int16, Uint16, Int32, Uint32, Float, Entity };
/// Bytes of a field in the aggregate; 0 for a number that is no FieldType.
constexpr std::uint32_t size_of(FieldType type) {
  switch (type) {
    case FieldType::Bool:
    case FieldType::Int8:
    case FieldType::Uint8:
      return 1;
    case FieldType::Int16:
    case FieldType::Uint16:
      return 2;
    case FieldType::Int32:
    case FieldType::Uint32:
    case FieldType::Float:
      return 4;
    case FieldType::Entity:
      return 8;
  }
  return 0;
}

/// What a field means. Prediction and tables of the codec are chosen by it.
enum class FieldKind : std::uint8_t {
  Plain,     // no better knowledge
  Position,  // a coordinate of a place
  Velocity,  // its rate of change, units per second
  Angle,     // wraps around at the ends of its range
  Enum,      // values without an order
};

/// Who receives a component.
enum class Audience : std::uint8_t {
  Everyone,  // whoever is near enough
  Team,      // who is on the entity's team, wherever
  Owner,     // who owns the entity, wherever
};
inline constexpr unsigned kAudiences = 3;

/// One scalar of a component; nested structs and arrays are flattened ("target.x", "slots[2]").
struct FieldDescriptor {
  std::string_view path;
  FieldType type;
  FieldKind kind;
  std::uint16_t offset_bytes;  // in the aggregate
  // Float: the value is min + step × q, q in 0 … steps. Without quantisation step is 0: 32 raw bits.
  // Integers and enums: min is the least value, step 1, steps = max − min. Bool: 0, 1, 1. Entity: all 0.
  double min;
  double step;
  std::uint32_t steps;
};

struct ComponentDescriptor {
  std::string_view name;     // full name, "shoal.demo.Position"
  std::uint32_t wire_id;     // fnv1a32(name)
  std::uint64_t hash;        // of everything that must agree between server and client
  std::uint32_t size_bytes;  // of the aggregate; 0 for a tag
  std::uint32_t alignment_bytes;
  Audience audience;
  bool interest_position;  // this component's Position fields place the entity on the interest grid
  std::span<const FieldDescriptor> fields;
};

}  // namespace shoal
