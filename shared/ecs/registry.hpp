// The registry: entities, the pools of their components, and who wants to know. Component types are
// registered by name, then the set is frozen; only a frozen registry takes entities.
//
// Thread rule: const functions, and views of const types, from several threads while nobody changes
// anything; everything else from one thread.
// Invariants:
// 1. A handle is alive from create to the end of destroy, never again.
// 2. The end of an entity, by destroy, clear or the registry's own end, goes in one order: it is marked as
//    dying; every on_destroy fires with the entity whole, by component number; the components are erased,
//    by component number; the handle dies.
// 3. Calls from inside signals: destroy of a dying entity, and removal of a component whose on_destroy
//    runs, do nothing. Destroying an entity while one of its components is being removed happens when that
//    removal has ended. Removal or destruction inside on_construct and on_update is immediate; the
//    remaining listeners are not called. Adding to a dying entity is refused.
// 4. The registry's end fires on_destroy as well: what a listener captures outlives the registry, or the
//    connection is a scoped one.
// 5. References and pointers into a pool hold until it is added to, removed from, sorted, shrunk or given room.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/assert.hpp"
#include "shared/ecs/change_log.hpp"
#include "shared/ecs/component_type.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/ecs/entity_table.hpp"
#include "shared/ecs/local.hpp"
#include "shared/ecs/resources.hpp"
#include "shared/ecs/running_system.hpp"
#include "shared/ecs/signal.hpp"
#include "shared/ecs/storage.hpp"
#include "shared/ecs/view.hpp"

namespace shoal {

struct RegistryLimits {
  std::uint32_t max_entities = 1u << 20;  // alive at once, and every index is below it
};

class Registry {
 public:
  /// Registers `Local` as "shoal.Local" by itself.
  explicit Registry(RegistryLimits limits = {});
  /// Destroys everything, with signals.
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  // --- Component types ---

  /// The number is given in the order of registration. Refused: after freeze, a type or a name twice, two
  /// names with one wire id.
  template <class T>
  ComponentType register_component(std::string_view full_name) {
    const std::uint32_t slot = detail::claim_type_slot<T>();
    return add_pool(std::make_unique<Storage<T>>(context(), next_type(full_name, slot), full_name), slot);
  }
  void freeze();
  bool frozen() const { return frozen_; }
  std::size_t component_count() const { return pools_.size(); }
  template <class T>
  ComponentType component_type() const {
    return storage<T>().type();
  }
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
  /// The typed pool, for hot code. REQUIRES: registered, frozen.
  template <class T>
  Storage<T>& storage() {
    audit(detail::type_slot<T>(), AccessMode::Write);
    return static_cast<Storage<T>&>(pool_of_slot(detail::type_slot<T>()));
  }
  template <class T>
  const Storage<T>& storage() const {
    audit(detail::type_slot<T>(), AccessMode::Read);
    return static_cast<const Storage<T>&>(pool_of_slot(detail::type_slot<T>()));
  }
  /// By the number of a C++ type (detail::type_slot); null if it is not registered.
  const StorageBase* find_slot(std::uint32_t slot) const {
    return slot < pool_by_slot_.size() ? pool_by_slot_[slot] : nullptr;
  }

  // --- Entities ---

  /// Freed indices come back first in, first out, each time in a later generation. REQUIRES: frozen, below
  /// the limit.
  Entity create();
  /// None, and nothing changed, when the limit is reached.
  std::optional<Entity> try_create();
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

  // --- Components. REQUIRES throughout: the entity is alive, the type registered, the registry frozen. ---

  /// REQUIRES: it has none yet, and is not dying. Returns the value as it is after the signals (if a listener
  /// removed it: some value that belongs to nobody). Nothing for a tag.
  template <class T, class... Args>
  decltype(auto) emplace(Entity entity, Args&&... args) {
    Storage<T>& pool = storage<T>();
    if (!alive(entity)) [[unlikely]]
      pool.refuse("emplace", entity, StorageBase::kRuleAlive);
    if (pool.contains_index(entity.index)) [[unlikely]]
      refuse_second(pool, entity);
    return emplace_new(pool, entity, std::forward<Args>(args)...);
  }
  template <class T, class... Args>
  decltype(auto) emplace_or_replace(Entity entity, Args&&... args) {
    Storage<T>& pool = storage<T>();
    if (!alive(entity)) [[unlikely]]
      pool.refuse("emplace_or_replace", entity, StorageBase::kRuleAlive);
    if (!pool.contains_index(entity.index)) return emplace_new(pool, entity, std::forward<Args>(args)...);
    return replace_known(pool, entity, std::forward<Args>(args)...);
  }
  /// The value that is there, or a new one made from the arguments.
  template <class T, class... Args>
  decltype(auto) get_or_emplace(Entity entity, Args&&... args) {
    Storage<T>& pool = storage<T>();
    if (!alive(entity)) [[unlikely]]
      pool.refuse("get_or_emplace", entity, StorageBase::kRuleAlive);
    if (!pool.contains_index(entity.index)) return emplace_new(pool, entity, std::forward<Args>(args)...);
    if constexpr (!kIsTag<T>) return (pool.get(entity));
  }
  /// As emplace for one after the other, in this order, each with its signals before the next comes, but the
  /// pool grows once. REQUIRES, checked before anything changes: all alive, none dying, none has it, none stands
  /// there twice. O(entities), with a sort if their indices do not rise.
  template <class T>
  void insert(std::span<const Entity> entities, const T& value = T{}) {
    const T copy = value;  // it may lie in the pool that grows
    prepare_insert(storage<T>(), entities, nullptr);
    for (const Entity entity : entities) emplace<T>(entity, copy);
  }
  /// Value number i for entity number i. REQUIRES: as many of both; the values do not lie in the pool.
  template <class T>
  void insert(std::span<const Entity> entities, std::span<const T> values) {
    SHOAL_ASSERT(entities.size() == values.size(), "insert takes as many values as entities");
    prepare_insert(storage<T>(), entities, values.data());
    for (std::size_t i = 0; i < entities.size(); ++i) emplace<T>(entities[i], values[i]);
  }
  /// REQUIRES: it has one. Fires on_update.
  template <class T, class... Args>
  decltype(auto) replace(Entity entity, Args&&... args) {
    Storage<T>& pool = storage<T>();
    pool.required_position("replace", entity);
    return replace_known(pool, entity, std::forward<Args>(args)...);
  }
  /// Calls each fn with the value, then fires on_update. REQUIRES: it has one.
  template <class T, class... F>
  decltype(auto) patch(Entity entity, F&&... fn) {
    Storage<T>& pool = storage<T>();
    const std::uint32_t at = pool.required_position("patch", entity);
    pool.changes_.mark_dirty(at);
    if constexpr (kIsTag<T>) {
      (std::forward<F>(fn)(), ...);
    } else {
      (std::forward<F>(fn)(pool.data()[at]), ...);
    }
    return published_update(pool, entity);
  }
  /// False if it has none, or if its removal is under way. Fires on_destroy first.
  template <class T>
  bool remove(Entity entity) {
    return remove_from(storage<T>(), entity);
  }
  bool remove(Entity entity, ComponentType type) { return remove_from(storage(type), entity); }
  /// As remove. REQUIRES: it has one.
  template <class T>
  void erase(Entity entity) {
    Storage<T>& pool = storage<T>();
    pool.required_position("erase", entity);
    remove_from(pool, entity);
  }

  /// One type: T&; several: a tuple. A mutable reference marks the value's run as touched; get<const T> does
  /// not. REQUIRES: it has all of them.
  template <class... T>
  decltype(auto) get(Entity entity) {
    static_assert(sizeof...(T) > 0 && !(kIsTag<T> || ...), "a tag has no value; use all_of()");
    if constexpr (sizeof...(T) == 1) {
      return get_one<T...>(entity);
    } else {
      return std::tuple<T&...>(get_one<T>(entity)...);
    }
  }
  template <class... T>
  decltype(auto) get(Entity entity) const {
    static_assert(sizeof...(T) > 0 && !(kIsTag<T> || ...), "a tag has no value; use all_of()");
    if constexpr (sizeof...(T) == 1) {
      return get_one<const T...>(entity);
    } else {
      return std::tuple<const T&...>(get_one<const T>(entity)...);
    }
  }
  /// Null if it has none, or is not alive.
  template <class T>
  T* try_get(Entity entity) {
    static_assert(!kIsTag<T>, "a tag has no value; use all_of()");
    if constexpr (std::is_const_v<T>) {
      return std::as_const(*this).template storage<std::remove_const_t<T>>().try_get(entity);
    } else {
      return storage<T>().try_get(entity);
    }
  }
  template <class T>
  const T* try_get(Entity entity) const {
    static_assert(!kIsTag<T>, "a tag has no value; use all_of()");
    return storage<std::remove_const_t<T>>().try_get(entity);
  }
  /// False for an entity that is not alive.
  template <class... T>
  bool all_of(Entity entity) const {
    return alive(entity) && (storage<std::remove_const_t<T>>().contains_index(entity.index) && ...);
  }
  template <class... T>
  bool any_of(Entity entity) const {
    return alive(entity) && (storage<std::remove_const_t<T>>().contains_index(entity.index) || ...);
  }
  /// Takes these types from every entity that has them now, with signals.
  template <class... T>
    requires(sizeof...(T) > 0)
  void clear() {
    (clear_pool(storage<T>()), ...);
  }

  /// By two values or two entities; see Storage::sort.
  template <class T, class Compare>
  void sort(Compare compare) {
    storage<T>().sort(std::move(compare));
  }
  /// T in the order of Other; see StorageBase::sort_as.
  template <class T, class Other>
  void sort_as() {
    storage<T>().sort_as(storage<Other>());
  }

  template <class... T, class... X>
  auto view(Exclude<X...> = {}) {
    return make_view<detail::Types<T...>, X...>(detail::Types<T...>{});
  }
  template <class... T, class... X>
  auto view(Exclude<X...> = {}) const {
    // The view of const types never writes through the pools.
    return const_cast<Registry*>(this)->make_view<detail::Types<const T...>, X...>(
        detail::Types<const T...>{});
  }

  // --- Who wants to know ---

  template <class T>
  Signal& on_construct() {
    return storage<T>().on_construct();
  }
  template <class T>
  Signal& on_update() {
    return storage<T>().on_update();
  }
  template <class T>
  Signal& on_destroy() {
    return storage<T>().on_destroy();
  }
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
  void reserve_entities(std::size_t entities) { entities_.reserve(entities); }
  const EntityTable& entity_table() const { return entities_; }

 private:
  // An entity that dies, or a component that is being removed, while its listeners run.
  struct Ending {
    Entity entity;
    ComponentType type;  // no type: the whole entity
    bool destroy_afterwards;
  };

  StorageContext context() { return {this, &entities_, &log_}; }
  /// Checks a registration before it changes anything.
  ComponentType next_type(std::string_view full_name, std::uint32_t slot) const;
  ComponentType add_pool(std::unique_ptr<StorageBase> pool, std::uint32_t slot);

  // Empty until the registry is frozen, so one test finds both mistakes.
  StorageBase& pool_of_slot(std::uint32_t slot) const {
    if (slot >= pool_by_slot_.size() || pool_by_slot_[slot] == nullptr) [[unlikely]]
      refuse_type(slot);
    return *pool_by_slot_[slot];
  }
  [[noreturn]] void refuse_type(std::uint32_t slot) const;
  void audit(std::uint32_t slot, AccessMode mode) const {
    SHOAL_DEBUG_ASSERT(detail::may_access(*this, slot, mode), "a component that the system did not declare");
  }
  /// The pool for a view or a reference of T, which writes only what is neither const nor a tag.
  template <class T>
  Storage<std::remove_const_t<T>>& storage_for() {
    using Type = std::remove_const_t<T>;
    audit(detail::type_slot<Type>(),
          std::is_const_v<T> || kIsTag<Type> ? AccessMode::Read : AccessMode::Write);
    return static_cast<Storage<Type>&>(pool_of_slot(detail::type_slot<Type>()));
  }
  [[noreturn]] static void refuse_second(const StorageBase& pool, Entity entity);

  template <class T>
  T& get_one(Entity entity) {
    auto& pool = storage_for<T>();
    const std::uint32_t at = pool.required_position("get", entity);
    if constexpr (!std::is_const_v<T>) pool.changes_.touch(at);
    return pool.data()[at];
  }
  template <class T>
  T& get_one(Entity entity) const {
    const auto& pool = storage<std::remove_const_t<T>>();
    return pool.data()[pool.required_position("get", entity)];
  }
  template <class T, class... Args>
  decltype(auto) emplace_new(Storage<T>& pool, Entity entity, Args&&... args) {
    if (!endings_.empty() && dying(entity)) [[unlikely]]
      refuse_dying(pool, entity);
    pool.append(entity, std::forward<Args>(args)...);
    const bool heard = !pool.on_construct().empty();
    if (heard) pool.publish_construct(entity);
    if constexpr (!kIsTag<T>) return heard ? (pool.settled(entity)) : (pool.data()[pool.size() - 1]);
  }
  template <class T, class... Args>
  decltype(auto) replace_known(Storage<T>& pool, Entity entity, Args&&... args) {
    const std::uint32_t at = pool.position(entity.index);
    pool.changes_.mark_dirty(at);
    if constexpr (!kIsTag<T>) pool.data()[at] = detail::make_value<T>(std::forward<Args>(args)...);
    return published_update(pool, entity);
  }
  template <class T>
  decltype(auto) published_update(Storage<T>& pool, Entity entity) {
    const bool heard = !pool.on_update().empty();
    if (heard) pool.publish_update(entity);
    if constexpr (!kIsTag<T>) return (pool.settled(entity));
  }
  [[noreturn]] static void refuse_dying(const StorageBase& pool, Entity entity);
  void prepare_insert(StorageBase& pool, std::span<const Entity> entities, const void* values) const;

  template <class List, class... X, class... T>
  auto make_view(detail::Types<T...>) {
    detail::ViewPools<sizeof...(T), sizeof...(X)> pools;
    pools.included = {&storage_for<T>()...};
    if constexpr (sizeof...(X) > 0) pools.excluded = {&storage_for<const X>()...};
    pools.entities = &entities_;
    return View<List, detail::Types<X...>>(pools);
  }

  bool remove_from(StorageBase& pool, Entity entity);
  void clear_pool(StorageBase& pool);
  void destroy_now(Entity entity);
  template <class F>
  void for_each_component(Entity entity, F fn);

  EntityTable entities_;
  ChangeLog log_;
  bool frozen_ = false;
  std::vector<StorageBase*> pool_by_slot_;
  std::vector<Ending> endings_;
  std::vector<std::unique_ptr<StorageBase>> pools_;
  std::vector<std::uint32_t> slots_;                                 // of each pool
  std::vector<std::pair<std::uint32_t, ComponentType>> by_wire_id_;  // sorted when frozen
  Resources resources_;
};

}  // namespace shoal
