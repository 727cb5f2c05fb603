#include "shared/image/field_layout.hpp"

#include <algorithm>
#include <cstring>

#include "shared/ecs/entity.hpp"

namespace shoal {

std::string_view name_of(FieldType type) {
  switch (type) {
    case FieldType::Bool:
      return "bool";
    case FieldType::Int8:
      return "byte";
    case FieldType::Uint8:
      return "ubyte";
    case FieldType::Int16:
      return "short";
    case FieldType::Uint16:
      return "ushort";
    case FieldType::Int32:
      return "int";
    case FieldType::Uint32:
      return "uint";
    case FieldType::Float:
      return "float";
    case FieldType::Entity:
      return "entity";
  }
  return "unknown";
}

std::vector<ImageField> fields_of(const ComponentDescriptor& descriptor) {
  std::vector<ImageField> fields;
  for (const FieldDescriptor& field : descriptor.fields)
    fields.push_back({std::string(field.path), field.type, field.offset_bytes});
  return fields;
}

std::vector<CopyRun> merged(std::vector<CopyRun> runs) {
  std::sort(runs.begin(), runs.end(), [](const CopyRun& a, const CopyRun& b) { return a.target < b.target; });
  std::vector<CopyRun> longer;
  for (const CopyRun& run : runs) {
    if (!longer.empty() && longer.back().source + longer.back().bytes == run.source &&
        longer.back().target + longer.back().bytes == run.target) {
      longer.back().bytes += run.bytes;
    } else {
      longer.push_back(run);
    }
  }
  return longer;
}

std::vector<CopyRun> runs_of(std::span<const ImageField> fields) {
  std::vector<CopyRun> runs;
  for (const ImageField& field : fields)
    runs.push_back({field.offset_bytes, field.offset_bytes, size_of(field.type)});
  return merged(std::move(runs));
}

bool is_whole(std::span<const CopyRun> runs, std::size_t size_bytes) {
  return runs.size() == 1 && runs[0].source == 0 && runs[0].target == 0 && runs[0].bytes == size_bytes;
}

void write_default(std::span<const ImageField> fields, std::span<std::byte> value) {
  std::fill(value.begin(), value.end(), std::byte{0});
  for (const ImageField& field : fields) {
    if (field.type == FieldType::Entity)
      std::memcpy(value.data() + field.offset_bytes, &kNullEntity, sizeof kNullEntity);
  }
}

}  // namespace shoal
