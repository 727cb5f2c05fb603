// Where the scalars of a component's value lie, and how values go from one layout to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/wire/component_descriptor.hpp"

namespace shoal {

struct ImageField {
  std::string path;  // "x", "target.x", "slots[2]"
  FieldType type;
  std::uint32_t offset_bytes;

  friend bool operator==(const ImageField&, const ImageField&) = default;
};

/// "float", "entity": as the schema calls it.
std::string_view name_of(FieldType type);
std::vector<ImageField> fields_of(const ComponentDescriptor& descriptor);

struct CopyRun {
  std::uint32_t source;
  std::uint32_t target;
  std::uint32_t bytes;
};
/// The same copies with neighbours put together.
std::vector<CopyRun> merged(std::vector<CopyRun> runs);
/// The bytes that the fields cover, from a layout to itself: what lies between them is not part of a value.
std::vector<CopyRun> runs_of(std::span<const ImageField> fields);
/// True if the runs are the whole value, in place.
bool is_whole(std::span<const CopyRun> runs, std::size_t size_bytes);

/// A value as the generated structs begin: zeros, entities null. `value` has the component's size.
void write_default(std::span<const ImageField> fields, std::span<std::byte> value);

}  // namespace shoal
