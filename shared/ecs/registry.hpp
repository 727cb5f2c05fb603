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
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/ecs/group.hpp"
#include "shared/ecs/local.hpp"
#include "shared/ecs/registry_base.hpp"
#include "shared/ecs/signal.hpp"
#include "shared/ecs/storage.hpp"
#include "shared/ecs/view.hpp"

namespace shoal {

class Registry : public RegistryBase {
 public:
  using RegistryBase::clear;
  using RegistryBase::remove;
  using RegistryBase::storage;

  /// Registers `Local` as "shoal.Local" by itself.
  explicit Registry(RegistryLimits limits = {});
  /// Destroys everything, with signals.
  ~Registry();

  // --- Component types ---

  /// The number is given in the order of registration. Refused: after freeze, a type or a name twice, two
  /// names with one wire id.
  template <class T>
  ComponentType register_component(std::string_view full_name) {
    const std::uint32_t slot = detail::claim_type_slot<T>();
    return add_pool(std::make_unique<Storage<T>>(context(), next_type(full_name, slot), full_name), slot);
  }
  template <class T>
  ComponentType component_type() const {
    return storage<T>().type();
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
    insert_prepared<T>(entities, [&](std::size_t) -> const T& { return copy; });
  }
  /// Value number i for entity number i. REQUIRES: as many of both; the values do not lie in the pool.
  template <class T>
  void insert(std::span<const Entity> entities, std::span<const T> values) {
    SHOAL_ASSERT(entities.size() == values.size(), "insert takes as many values as entities");
    prepare_insert(storage<T>(), entities, values.data());
    insert_prepared<T>(entities, [&](std::size_t i) -> const T& { return values[i]; });
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
    const std::uint32_t version = entities_.structure_version();
    pool.changes_.mark_dirty(at);
    if constexpr (kIsTag<T>) {
      (std::forward<F>(fn)(), ...);
    } else {
      (std::forward<F>(fn)(pool.at(at)), ...);
    }
    return published_update(pool, entity, at, version);
  }
  /// False if it has none, or if its removal is under way. Fires on_destroy first.
  template <class T>
  bool remove(Entity entity) {
    return remove_from(storage<T>(), entity);
  }
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
    using Constant = detail::Types<typename detail::Included<T>::Constant...>;
    return const_cast<Registry*>(this)->make_view<Constant, X...>(Constant{});
  }

  /// Before freeze: from then on these pools keep who has all of the components, and none of the excluded ones, at
  /// their front. Refused: a pool that another group owns, with both names. See group.hpp.
  template <class... Owned, class... Observed, class... Excluded>
    requires(sizeof...(Owned) > 0)
  void declare_group(Observe<Observed...> = {}, Exclude<Excluded...> = {}) {
    RegistryBase::declare_group(
        {{&registered<Owned>()...}, {&registered<Observed>()...}, {&registered<Excluded>()...}});
  }
  /// REQUIRES: declared with these very lists. const types are for reading, and count as read in a system.
  template <class... Owned, class... Observed, class... Excluded>
  auto group(Observe<Observed...> = {}, Exclude<Excluded...> = {}) {
    OwningGroup& group = find_group(
        {{&storage_for<Owned>()...}, {&storage_for<Observed>()...}, {&storage_for<const Excluded>()...}});
    return Group<detail::Types<Owned...>, detail::Types<Observed...>>(group, entities_);
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

 private:
  StorageContext context() { return {this, &entities_, &log_}; }
  template <class T>
  StorageBase& registered() {
    return registered_pool(detail::type_slot<T>());
  }
  /// The pool for a view, a group or a reference of T, which writes only what is neither const nor a tag.
  template <class T>
  Storage<std::remove_const_t<T>>& storage_for() {
    using Type = std::remove_const_t<T>;
    audit(detail::type_slot<Type>(),
          std::is_const_v<T> || kIsTag<Type> ? AccessMode::Read : AccessMode::Write);
    return static_cast<Storage<Type>&>(pool_of_slot(detail::type_slot<Type>()));
  }

  template <class T>
  T& get_one(Entity entity) {
    auto& pool = storage_for<T>();
    const std::uint32_t at = pool.required_position("get", entity);
    if constexpr (!std::is_const_v<T>) pool.changes_.touch(at);
    return pool.at(at);
  }
  template <class T>
  T& get_one(Entity entity) const {
    const auto& pool = storage<std::remove_const_t<T>>();
    return pool.at(pool.required_position("get", entity));
  }
  template <class T, class... Args>
  decltype(auto) emplace_new(Storage<T>& pool, Entity entity, Args&&... args) {
    if (!endings_.empty() && dying(entity)) [[unlikely]]
      refuse_dying(pool, entity);
    pool.append(entity, std::forward<Args>(args)...);
    if (pool.on_construct().empty()) {
      // A group may have moved it from the end.
      if constexpr (!kIsTag<T>)
        return (pool.at(pool.grouped_ ? pool.position(entity.index) : pool.size() - 1));
    } else {
      pool.publish_construct_known(entity);
      if constexpr (!kIsTag<T>) return (pool.settled(entity));
    }
  }
  template <class T, class... Args>
  decltype(auto) replace_known(Storage<T>& pool, Entity entity, Args&&... args) {
    const std::uint32_t at = pool.position(entity.index);
    const std::uint32_t version = entities_.structure_version();
    pool.changes_.mark_dirty(at);
    if constexpr (!kIsTag<T>) pool.at(at) = detail::make_value<T>(std::forward<Args>(args)...);
    return published_update(pool, entity, at, version);
  }
  // `at` holds where the entity was at that structure version.
  template <class T>
  decltype(auto) published_update(Storage<T>& pool, Entity entity, [[maybe_unused]] std::uint32_t at,
                                  [[maybe_unused]] std::uint32_t version) {
    if (!pool.on_update().empty()) pool.publish_update_known(entity);
    if constexpr (!kIsTag<T>)
      return (entities_.structure_version() == version ? pool.at(at) : pool.settled(entity));
  }

  template <class T, class ValueAt>
  void insert_prepared(std::span<const Entity> entities, ValueAt value_at) {
    if (entities.empty()) return;
    Storage<T>& pool = storage<T>();
    if constexpr (!kStableAddress<T> && std::is_nothrow_copy_constructible_v<T>) {
      if (pool.on_construct().empty() && !pool.grouped_) {
        pool.append_range(entities, value_at);
        return;
      }
    }
    for (std::size_t i = 0; i < entities.size(); ++i) emplace<T>(entities[i], value_at(i));
  }

  template <class List, class... X, class... T>
  auto make_view(detail::Types<T...>) {
    detail::ViewPools<sizeof...(T), sizeof...(X)> pools;
    pools.included = {&storage_for<typename detail::Included<T>::Component>()...};
    if constexpr (sizeof...(X) > 0) pools.excluded = {&storage_for<const X>()...};
    pools.entities = &entities_;
    return View<List, detail::Types<X...>>(pools);
  }
};

}  // namespace shoal
