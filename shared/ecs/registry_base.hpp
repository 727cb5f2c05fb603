// What a registry is without knowing C++ types: entities, pools, groups, and the one protocol of endings. `Registry`
// in registry.hpp is the typed shell around it, and where the invariants stand.
//
// Thread rule: as Registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/base/assert.hpp"
#include "shared/ecs/change_log.hpp"
#include "shared/ecs/component_type.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/ecs/entity_table.hpp"
#include "shared/ecs/owning_group.hpp"
#include "shared/ecs/resources.hpp"
#include "shared/ecs/running_system.hpp"
#include "shared/ecs/storage_base.hpp"

namespace shoal {

class Registry;

struct RegistryLimits {
  std::uint32_t max_entities = 1u << 20;  // alive at once, and every index is below it
  /// Indices below this come from create_exact alone: for things that have the same id in every world.
  std::uint32_t reserved_indices = 0;
};

class RegistryBase {
 public:
  RegistryBase(const RegistryBase&) = delete;
  RegistryBase& operator=(const RegistryBase&) = delete;

  // --- Component types ---

  void freeze();
  bool frozen() const { return frozen_; }
  std::size_t component_count() const { return pools_.size(); }
  std::optional<ComponentType> find_component(std::uint32_t wire_id) const;
  std::optional<ComponentType> find_component(std::string_view full_name) const;

  StorageBase& storage(ComponentType type) {
    SHOAL_ASSERT(type.value < pools_.size(), "no such component type in this registry");
    audit(slots_[type.value], AccessMode::Write);
    return *pools_[type.value];
  }
  const StorageBase& storage(ComponentType type) const {
    SHOAL_ASSERT(type.value < pools_.size(), "no such component type in this registry");
    audit(slots_[type.value], AccessMode::Read);
    return *pools_[type.value];
  }
  /// By the number of a C++ type (detail::type_slot); null if it is not registered.
  const StorageBase* find_slot(std::uint32_t slot) const {
    return slot < pool_by_slot_.size() ? pool_by_slot_[slot] : nullptr;
  }

  // --- Entities ---

  /// Freed indices come back first in, first out, each time in a later generation. REQUIRES: frozen, below
  /// the limit.
  Entity create() {
    const std::optional<Entity> entity = try_create();
    if (!entity) [[unlikely]]
      refuse_create();
    return *entity;
  }
  /// None, and nothing changed, when the limit is reached.
  std::optional<Entity> try_create() {
    if (!frozen_) [[unlikely]]
      refuse_unfrozen();
    SHOAL_DEBUG_ASSERT(may_change("create"), "structure changes in a parallel system");
    const std::optional<Entity> entity = entities_.try_create();
    if (entity) log_.add(LogKind::Born, *entity);
    return entity;
  }
  /// As create for each. REQUIRES: frozen, room for all of them below the limit; else nothing has changed.
  void create(std::span<Entity> entities);
  /// This very entity, for mirrors and saved worlds. False, and nothing changed, when its index is alive or
  /// not below the limit, or the generation is 0 or above Entity::kMaxGeneration.
  bool create_exact(Entity entity);
  /// Cost: what the entity owns. REQUIRES: alive.
  void destroy(Entity entity);
  /// One after the other, in this order; those that are not alive (any more) are skipped.
  void destroy(std::span<const Entity> entities);
  /// Destroys every entity that is alive now, by rising index. What signals create meanwhile stays.
  void clear();

  bool alive(Entity entity) const { return entities_.alive(entity); }
  bool dying(Entity entity) const;
  std::size_t alive_count() const { return entities_.alive_count(); }
  std::uint32_t max_entities() const { return entities_.max_entities(); }
  /// The living entity of this index, or null.
  Entity entity_at(std::uint32_t index) const { return entities_.at(index); }
  /// fn(Entity) by rising index. fn may destroy and create; what it creates is visited or not.
  template <class F>
  void for_each_entity(F fn) const {
    const std::uint32_t end = entities_.index_end();
    for (std::uint32_t index = 0; index < end; ++index) {
      if (const Entity entity = entities_.at(index); !entity.is_null()) fn(entity);
    }
  }
  /// The set of components, one bit per component number, 64 to a word. REQUIRES: alive.
  std::span<const std::uint64_t> component_mask(Entity entity) const;
  bool has(Entity entity, ComponentType type) const {
    return alive(entity) && entities_.has(entity.index, type);
  }

  // --- Components ---

  /// As Registry::remove<T>.
  bool remove(Entity entity, ComponentType type) { return remove_from(storage(type), entity); }

  ChangeLog& log() { return log_; }
  const ChangeLog& log() const { return log_; }
  /// clear_changes of every pool.
  void clear_changes();

  Resources& resources() { return resources_; }
  const Resources& resources() const { return resources_; }

  /// "entity 7:2 alive: shoal.demo.Position, shoal.demo.Health". For messages and tools.
  std::string describe(Entity entity) const;
  /// Of every pool; see StorageBase. What is known of indices, dead ones too, stays: handles rest on it.
  void shrink_to_fit();
  std::size_t memory_bytes() const;  // of the pools and the table of entities, used or not
  void reserve_entities(std::size_t entities) {
    SHOAL_DEBUG_ASSERT(may_change("reserve_entities"), "structure changes in a parallel system");
    entities_.reserve(entities);
  }
  const EntityTable& entity_table() const { return entities_; }

  // For saved worlds: first the entities, then every pool (StorageBase::adopt), then the groups.
  /// See EntityTable::restore. The change log says that each one alive was born, by rising index. REQUIRES: frozen,
  /// nobody alive.
  void restore_entities(const EntityTableState& state);
  /// Makes each group what its pools say now. Who was saved with the same groups keeps its order. O(owned values).
  void rebuild_groups();

 protected:
  friend std::string copy_obstacle(const Registry& from, const Registry& to);
  friend void copy_world(const Registry& from, Registry& to);

  explicit RegistryBase(RegistryLimits limits);
  ~RegistryBase() = default;

  // An entity that dies, or a component that is being removed, while its listeners run.
  struct Ending {
    Entity entity;
    ComponentType type;  // no type: the whole entity
    bool destroy_afterwards;
  };

  /// Checks a registration before it changes anything.
  ComponentType next_type(std::string_view full_name, std::uint32_t slot) const;
  ComponentType add_pool(std::unique_ptr<StorageBase> pool, std::uint32_t slot);

  // Empty until the registry is frozen, so one test finds both mistakes.
  StorageBase& pool_of_slot(std::uint32_t slot) const {
    if (slot >= pool_by_slot_.size() || pool_by_slot_[slot] == nullptr) [[unlikely]]
      refuse_type(slot);
    return *pool_by_slot_[slot];
  }
  // For SHOAL_DEBUG_ASSERT, while systems run side by side: false is never the answer, see running_system.hpp.
  bool may_change(const char* operation, std::string_view component = {}) const;
  void audit(std::uint32_t slot, AccessMode mode) const {
    SHOAL_DEBUG_ASSERT(detail::may_access(*this, slot, mode), "a component that the system did not declare");
  }
  [[noreturn]] void refuse_type(std::uint32_t slot) const;
  [[noreturn]] void refuse_unregistered(std::uint32_t slot) const;
  [[noreturn]] static void refuse_second(const StorageBase& pool, Entity entity);
  [[noreturn]] static void refuse_dying(const StorageBase& pool, Entity entity);
  [[noreturn]] void refuse_create() const;
  [[noreturn]] static void refuse_unfrozen();
  /// Checks an insert before it changes anything. `values`: those of the range, to see that they do not lie in
  /// the pool; null: none.
  void prepare_insert(StorageBase& pool, std::span<const Entity> entities, const void* values) const;
  bool remove_from(StorageBase& pool, Entity entity);
  void clear_pool(StorageBase& pool);
  void destroy_now(Entity entity);

  /// Before and after freeze.
  StorageBase& registered_pool(std::uint32_t slot) const;
  OwningGroup& declare_group(OwningGroup::Pools pools);
  OwningGroup& find_group(const OwningGroup::Pools& pools) const;

  EntityTable entities_;
  ChangeLog log_;
  bool frozen_ = false;
  PlainList<StorageBase*> pool_by_slot_;
  PlainList<Ending> endings_;
  std::vector<std::unique_ptr<StorageBase>> pools_;
  std::vector<std::unique_ptr<OwningGroup>> groups_;
  std::vector<std::uint32_t> slots_;                                 // of each pool
  std::vector<std::pair<std::uint32_t, ComponentType>> by_wire_id_;  // sorted when frozen
  Resources resources_;
};

}  // namespace shoal
