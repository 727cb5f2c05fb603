// What the generator knows of a schema when every check has passed: components with their scalars flattened
// and quantised. emit.hpp writes C++ from it.
//
// Invariants: 1. every component fits a datagram alone; 2. wire ids differ; 3. all components lie in one
// namespace; 4. components and their order depend on names only, never on the order in the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/generator/declarations.hpp"
#include "schema/generator/quantisation.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/result.hpp"
#include "shared/wire/component_descriptor.hpp"

namespace shoal::schemac {

/// What a block may take, alone in its datagram.
inline constexpr std::size_t kMaxComponentBits = kMaxBlockBytes * 8;
/// Span, slots and hash check of a block, and the entity's id: what one slot costs beside its values
/// (shared/replication; tests/schema compares).
inline constexpr std::size_t kBlockBits = 160;
/// Integers that the scalars of one component are quantised to; an entity counts two.
inline constexpr std::size_t kMaxColumns = 512;
/// Full names and field paths: one byte holds their length.
inline constexpr std::size_t kMaxNameBytes = 255;

/// One step on the way from a component to a scalar inside: a member, and an element when it is an array.
struct PathStep {
  int object_index = kNoIndex;  // the struct that has the member
  std::string member;
  std::uint32_t element = 0;
  const TypeReference* type = nullptr;  // of the member
};

struct ScalarModel {
  std::string path;  // "value.x", "slots[2]"
  std::vector<PathStep> steps;
  int enum_index = kNoIndex;
  Quantisation quantisation;
};

struct ComponentModel {
  int object_index = kNoIndex;
  std::string name;
  std::uint32_t wire_id = 0;
  std::uint64_t hash = 0;
  Audience audience = Audience::Everyone;
  bool is_interest_position = false;
  bool is_tag = false;
  std::vector<ScalarModel> scalars;
};

struct SchemaModel {
  Declarations declarations;
  std::string name_space;                  // "shoal.demo"
  std::vector<ComponentModel> components;  // by name
};

/// Judges the declarations. Reports all that is wrong, not only the first.
Result<SchemaModel, std::vector<SchemaError>> build_model(Declarations declarations);

/// Worst case in a chunk: the entity's id, a presence bit per component of the schema, and for each scalar
/// its value and the bit that says whether it changed.
std::size_t worst_case_bits(const ComponentModel& component, std::size_t component_count);

}  // namespace shoal::schemac
