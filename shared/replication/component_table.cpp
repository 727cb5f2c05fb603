#include "shared/replication/component_table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "shared/base/assert.hpp"
#include "shared/wire/quantise.hpp"

namespace shoal {
namespace {

std::uint8_t bytes_for(unsigned bits) {
  return bits <= 8 ? 1 : bits <= 16 ? 2 : 4;
}

}  // namespace

ComponentTable::ComponentTable(std::span<const ComponentDescriptor> descriptors) {
  std::vector<const ComponentDescriptor*> order;
  for (const auto& descriptor : descriptors) order.push_back(&descriptor);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->wire_id < b->wire_id; });

  for (const auto* descriptor : order) {
    SHOAL_ASSERT(components_.empty() || components_.back().wire_id != descriptor->wire_id,
                 "two components share a wire id: rename one");
    const auto index = static_cast<ComponentIndex>(components_.size());
    ReplicatedComponent component{std::string(descriptor->name),
                                  descriptor->wire_id,
                                  descriptor->hash,
                                  descriptor->audience,
                                  descriptor->size_bytes,
                                  {descriptor->fields.begin(), descriptor->fields.end()},
                                  static_cast<ColumnIndex>(columns_.size()),
                                  0,
                                  0};
    for (const auto& field : component.fields) {
      const auto bits = static_cast<std::uint8_t>(column_bits(field));
      for (unsigned i = 0; i < column_count(field.type); ++i) {
        columns_.push_back({index, bits, bytes_for(bits)});
        component.value_bits += bits;
        ++component.column_count;
      }
    }
    SHOAL_ASSERT(component.column_count <= kMaxColumnsPerComponent, "a component has too many fields");
    by_audience_[static_cast<std::size_t>(component.audience)].push_back(index);
    if (descriptor->interest_position) {
      SHOAL_ASSERT(!interest_component_,
                   "one component places entities on the grid: mark no second with (interest)");
      SHOAL_ASSERT(component.audience == Audience::Everyone, "the component with (interest) is for everyone");
      interest_component_ = index;
    }
    components_.push_back(std::move(component));
  }
}

ComponentTable::Place ComponentTable::place_of(const std::uint32_t* values) const {
  double found[2] = {};
  unsigned count = 0;
  for (const auto& field : components_[*interest_component_].fields) {
    if (field.kind == FieldKind::Position && count < 2) {
      if (field.type == FieldType::Float && field.step == 0) {
        const auto raw = std::bit_cast<float>(*values);
        found[count++] = std::isfinite(raw) ? static_cast<double>(raw) : 0;
      } else {
        found[count++] = field.min + field.step * static_cast<double>(*values);
      }
    }
    values += column_count(field.type);
  }
  return {found[0], found[1]};
}

std::optional<ComponentIndex> ComponentTable::find(std::uint32_t wire_id) const {
  const auto found = std::lower_bound(
      components_.begin(), components_.end(), wire_id,
      [](const ReplicatedComponent& component, std::uint32_t id) { return component.wire_id < id; });
  if (found == components_.end() || found->wire_id != wire_id) return std::nullopt;
  return static_cast<ComponentIndex>(found - components_.begin());
}

void ComponentTable::quantise(ComponentIndex index, const void* aggregate, std::uint32_t* target) const {
  for (const auto& field : components_[index].fields) {
    shoal::quantise(field, static_cast<const std::byte*>(aggregate), target);
    target += column_count(field.type);
  }
}

void ComponentTable::dequantise(ComponentIndex index, const std::uint32_t* source, void* aggregate) const {
  const auto& component = components_[index];
  std::memset(aggregate, 0, component.size_bytes);
  for (const auto& field : component.fields) {
    shoal::dequantise(field, source, static_cast<std::byte*>(aggregate));
    source += column_count(field.type);
  }
}

SchemaVersions schema_versions(const ComponentTable& table) {
  SchemaVersions schema;
  for (const auto& component : table.components())
    schema.push_back({component.wire_id, component.hash, component.name});
  return schema;
}

}  // namespace shoal
