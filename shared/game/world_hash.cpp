#include "shared/game/world_hash.hpp"

#include <cstring>
#include <vector>

#include "schema/components_descriptors.hpp"
#include "shared/base/assert.hpp"
#include "shared/base/random.hpp"
#include "shared/game/server_components.hpp"
#include "shared/wire/component_descriptor.hpp"

namespace shoal::demo {
namespace {

struct Field {
  std::uint32_t offset;
  std::uint32_t bytes;
};
struct Column {
  ComponentType type;
  std::vector<Field> fields;
};

std::vector<Column> columns_of(const Registry& registry) {
  std::vector<Column> columns;
  for (const ComponentDescriptor& descriptor : component_descriptors()) {
    const auto type = registry.find_component(descriptor.wire_id);
    if (!type) continue;
    Column column{*type, {}};
    for (const FieldDescriptor& field : descriptor.fields)
      column.fields.push_back({field.offset_bytes, size_of(field.type)});
    columns.push_back(std::move(column));
  }
  // All of these are made of ticks and a bool.
  const auto add = [&](std::string_view name, std::vector<Field> fields) {
    if (const auto type = registry.find_component(name)) columns.push_back({*type, std::move(fields)});
  };
  add("shoal.demo.server.Lifetime", {{0, 4}});
  add("shoal.demo.server.Brain", {{0, 4}, {4, 4}});
  add("shoal.demo.server.Weapon", {{0, 4}, {offsetof(Weapon, trigger), 1}});
  add("shoal.demo.server.BurningTimer", {{0, 4}});
  add("shoal.demo.server.InvulnerableTimer", {{0, 4}});
  add("shoal.demo.server.HasteTimer", {{0, 4}});
  add("shoal.demo.server.SpawnPoint", {});
  add("shoal.Local", {});
  add("shoal.OnTeam", {{0, 4}});
  add("shoal.OwnedBy", {{0, 8}});
  return columns;
}

}  // namespace

std::uint64_t world_hash(const Registry& registry) {
  const std::vector<Column> columns = columns_of(registry);
  SHOAL_ASSERT(columns.size() == registry.component_count(), "world_hash knows every component of the demo");
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t value) { hash = mix64(hash ^ value); };
  registry.for_each_entity([&](Entity entity) {
    add(entity.bits());
    for (std::size_t number = 0; number < columns.size(); ++number) {
      const StorageBase& storage = registry.storage(columns[number].type);
      if (!storage.contains_index(entity.index)) continue;
      add(number);
      const auto* value = static_cast<const std::byte*>(storage.find(entity.index));
      for (const Field& field : columns[number].fields) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, value + field.offset, field.bytes);
        add(bits);
      }
    }
  });
  return hash;
}

}  // namespace shoal::demo
