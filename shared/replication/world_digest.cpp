#include "shared/replication/world_digest.hpp"

#include <xxhash.h>

#include <vector>

#include "shared/ecs/local.hpp"
#include "shared/wire/quantise.hpp"

namespace shoal {
namespace {

std::uint64_t hash_of(const std::vector<std::uint32_t>& row) {
  return XXH3_64bits(row.data(), row.size() * sizeof row[0]);
}

}  // namespace

WorldDigest digest_world(const Registry& registry, const ComponentTable& table,
                         const VisibleAudiences& visible) {
  struct Source {
    const StorageBase* storage;
    const ReplicatedComponent* component;
  };
  std::vector<Source> sources;  // without those that this registry does not know
  for (const auto& component : table.components()) {
    if (const auto type = registry.find_component(component.wire_id))
      sources.push_back({&registry.storage(*type), &component});
  }
  const auto seen = [&](Entity entity) -> AudienceMask {
    return registry.alive(entity) && !registry.all_of<Local>(entity) ? visible(entity) : AudienceMask{0};
  };

  WorldDigest digest;
  std::vector<std::uint32_t> row;
  registry.for_each_entity([&](Entity entity) {
    const AudienceMask audiences = seen(entity);
    if (audiences == 0) return;
    ++digest.entities;
    row.assign({entity.index, entity.generation});
    digest.hash += hash_of(row);
    for (const auto& [storage, component] : sources) {
      if ((audiences & audience_bit(component->audience)) == 0) continue;
      if (!storage->contains_index(entity.index)) continue;
      row.assign({entity.index, entity.generation, component->wire_id});
      const auto* aggregate = static_cast<const std::byte*>(storage->find(entity.index));
      for (const auto& field : component->fields) {
        std::uint32_t values[2] = {};
        quantise(field, aggregate, values);
        if (field.type == FieldType::Entity && seen(Entity{values[0], values[1]}) == 0) {
          values[0] = kNullEntity.index;
          values[1] = kNullEntity.generation;
        }
        row.insert(row.end(), values, values + column_count(field.type));
      }
      digest.hash += hash_of(row);
    }
  });
  return digest;
}

WorldDigest digest_world(const Registry& registry, const ComponentTable& table) {
  return digest_world(registry, table, [](Entity) { return kAllAudiences; });
}

}  // namespace shoal
