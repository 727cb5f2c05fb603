// Groups as their users see them. Declared before the registry is frozen, used like a view:
//
//   registry.declare_group<Position, Velocity>(observe<Health>, exclude<Frozen>);
//   …
//   auto group = registry.group<Position, Velocity>(observe<Health>, exclude<Frozen>);
//   group.each([](Position& position, const Velocity& velocity, Health& health) { … });
//   std::span<Position> positions = group.values<Position>();  // number i of each belongs to one entity
//
// During `each` the entity at hand may be destroyed, lose or gain any component; any other entity may join. That another
// one leaves, or that the group is sorted, breaks the loop, and is caught in debug builds. Sorting one of the owned pools
// alone is refused.
//
// Thread rule: as views.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "shared/ecs/owning_group.hpp"
#include "shared/ecs/view.hpp"

namespace shoal {

/// What a group needs and does not own: group<A, B>(observe<C>).
template <class... T>
struct Observe {};
template <class... T>
inline constexpr Observe<T...> observe{};

template <class Owned, class Observed>
class Group;

template <class... Owned, class... Observed>
class Group<detail::Types<Owned...>, detail::Types<Observed...>> {
  // What is read through a const type is not written through another.
  template <class T>
  static constexpr bool kOwned = ((std::is_same_v<T, Owned> || std::is_same_v<T, const Owned>) || ...);

  static constexpr auto kValuedOwned = detail::valued_types<Owned...>();
  static constexpr auto kValuedObserved = detail::valued_types<Observed...>();

 public:
  Group(OwningGroup& group, const EntityTable& entities) : group_(&group), entities_(&entities) {}

  std::size_t size() const { return group_->size(); }
  bool empty() const { return group_->size() == 0; }
  bool contains(Entity entity) const {
    return entities_->alive(entity) && group_->contains_index(entity.index);
  }
  /// The entities' indices, in the order of the values.
  std::span<const std::uint32_t> indices() const { return leader().indices().first(size()); }
  /// REQUIRES: place < size().
  Entity entity_at(std::size_t place) const { return leader().entity_at(place); }

  /// The values of an owned type, aligned with those of the others. A mutable span marks every run as touched; take it
  /// anew each tick, and after each addition and removal. Values of observed types and with stable addresses come
  /// through each().
  template <class T>
    requires(kOwned<T> && !kIsTag<std::remove_const_t<T>> && !kStableAddress<std::remove_const_t<T>>)
  std::span<T> values() const {
    auto& pool = owned_pool<T>();
    if constexpr (!std::is_const_v<T>) pool.changes_.touch_range(0, size());
    return {pool.data(), size()};
  }

  /// fn(Entity, Owned&..., Observed&...) or without the entity; tags have no parameter.
  template <class F>
  void each(F fn) const {
    each_of(fn, kValuedOwned, kValuedObserved);
  }

  /// compare(Entity, Entity), or compare(const T&, const T&) for one of the owned types: true if the first comes before the
  /// second. Stable. REQUIRES: no loop over the group runs.
  template <class T, class Compare>
    requires kOwned<const T>
  void sort(Compare compare) const {
    const auto& pool = std::as_const(owned_pool<T>());
    sort_by([&](std::uint32_t a, std::uint32_t b) { return compare(pool.at(a), pool.at(b)); });
  }
  template <class Compare>
  void sort(Compare compare) const {
    sort_by([&](std::uint32_t a, std::uint32_t b) { return compare(entity_at(a), entity_at(b)); });
  }

 private:
  StorageBase& leader() const { return *group_->pools().owned.front(); }
  template <class T>
  auto& owned_pool() const {
    // In the order of the declaration.
    std::size_t number = 0;
    static_cast<void>(
        ((std::is_same_v<std::remove_const_t<T>, std::remove_const_t<Owned>> || (++number, false)) || ...));
    return static_cast<Storage<std::remove_const_t<T>>&>(*group_->pools().owned[number]);
  }
  template <std::size_t I>
  auto& owned() const {
    return pool_at<std::tuple_element_t<I, std::tuple<Owned...>>>(group_->pools().owned[I]);
  }
  template <std::size_t I>
  auto& observed() const {
    return pool_at<std::tuple_element_t<I, std::tuple<Observed...>>>(group_->pools().observed[I]);
  }
  template <class T>
  static auto& pool_at(StorageBase* pool) {
    auto& typed = static_cast<Storage<std::remove_const_t<T>>&>(*pool);
    if constexpr (std::is_const_v<T>) {
      return std::as_const(typed);
    } else {
      return typed;
    }
  }
  template <class Pool>
  static void touch(Pool& pool, std::uint32_t first, std::uint32_t count) {
    if constexpr (!std::is_const_v<Pool>) pool.changes_.touch_range(first, count);
  }
  template <class Pool>
  static auto& touched_value(Pool& pool, std::uint32_t index) {
    const std::uint32_t position = pool.position(index);
    touch(pool, position, 1);
    return pool.at(position);
  }

  template <class F, std::size_t... O, std::size_t... W>
  void each_of(F& fn, std::index_sequence<O...>, std::index_sequence<W...>) const {
    detail::LoopPlaces places(indices(), 0, group_->size());
    while (!places.done()) {
      const std::uint32_t begin = places.at();
      const std::uint32_t length = places.end() - begin;
      (touch(owned<O>(), begin, length), ...);
      const std::uint32_t version = entities_->structure_version();
      const std::uint32_t leavers = group_->leavers();
      const std::uint32_t* indices = leader().indices().data() + begin;
      const std::tuple runs(owned<O>().run_from(begin)...);
      std::uint32_t i = 0;
      for (; i < length; ++i) {
        const std::uint32_t index = indices[i];
        [&]<std::size_t... N>(std::index_sequence<N...>) {
          detail::call_for_entity(fn, *entities_, index, std::get<N>(runs)[i]...,
                                  touched_value(observed<W>(), index)...);
        }(std::make_index_sequence<sizeof...(O)>{});
        if (entities_->structure_version() == version) [[likely]]
          continue;
        SHOAL_DEBUG_ASSERT(
            group_->only_left(index, leavers),
            "during a loop over a group only the entity at hand may leave it, and it is not sorted; record "
            "other changes in a CommandBuffer and apply it after the loop");
        places.advance(i);
        places.advance_changed(this->indices(), index);
        break;
      }
      if (i == length) places.advance(length);
    }
  }
  template <class Before>
  void sort_by(Before before) const {
    std::vector<std::uint32_t> order(size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), before);
    group_->reorder(order);
  }

  OwningGroup* group_;
  const EntityTable* entities_;
};

}  // namespace shoal
