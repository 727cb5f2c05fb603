#include "shared/replication/world_digest.hpp"

#include <xxhash.h>

#include <vector>

#include "shared/ecs/local.hpp"
#include "shared/wire/quantise.hpp"

namespace shoal {
namespace {

bool is_visible(const Registry& registry, Entity entity) {
  return registry.alive(entity) && !registry.all_of<Local>(entity);
}

}  // namespace

WorldDigest digest_world(const Registry& registry, const ComponentTable& table) {
  struct Source {
    const StorageBase* storage;  // null when this registry does not know the component
    const ReplicatedComponent* component;
  };
  std::vector<Source> sources;
  for (const auto& component : table.components()) {
    const auto type = registry.find_component(component.wire_id);
    sources.push_back({type ? &registry.storage(*type) : nullptr, &component});
  }

  WorldDigest digest;
  std::vector<std::uint32_t> row;
  registry.for_each_entity([&](Entity entity) {
    if (!is_visible(registry, entity)) return;
    row.assign({entity.index, entity.generation});
    for (std::size_t i = 0; i < sources.size(); ++i) {
      const auto& [storage, component] = sources[i];
      if (!storage || !storage->contains_index(entity.index)) continue;
      row.push_back(component->wire_id);
      const auto* aggregate = static_cast<const std::byte*>(storage->find(entity.index));
      for (const auto& field : component->fields) {
        std::uint32_t values[2] = {};
        quantise(field, aggregate, values);
        if (field.type == FieldType::Entity && !is_visible(registry, Entity{values[0], values[1]})) {
          values[0] = kNullEntity.index;
          values[1] = kNullEntity.generation;
        }
        row.insert(row.end(), values, values + column_count(field.type));
      }
    }
    digest.hash += XXH3_64bits(row.data(), row.size() * sizeof row[0]);
    ++digest.entities;
  });
  return digest;
}

}  // namespace shoal
