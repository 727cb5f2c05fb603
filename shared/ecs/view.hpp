// Views: the entities that have all of some components and none of others. A view is a few pointers, made
// anew wherever one is needed; it creates nothing in the registry.
//
//   registry.view<Position, const Velocity>(exclude<Frozen>)   const: read only
//   registry.view<Position, Maybe<Velocity>>()                 a pointer, null where there is none
//
// Iteration runs over the packed list of the leading pool, the smallest one or the chosen one, from its start to its
// end, in one go where the pools are aligned (view_pools.hpp). The entity at hand may be destroyed, lose or gain any
// component, while the loop goes on: each entity that is in the view when the loop begins, and still when its turn
// comes, is visited once. Adding or removing the leading pool's component on any *other* entity, or sorting the
// leading pool, breaks the loop and is caught in debug builds; record it in a CommandBuffer. (So does a change that
// makes an entity join or leave a group that owns the leading pool.) A reference into another pool holds until
// something is added to or removed from that pool, or it is sorted.
//
// Thread rule: views whose types are all const may be used from several threads while nobody changes the
// registry.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/ecs/storage.hpp"
#include "shared/ecs/view_pools.hpp"

namespace shoal {

/// What a view must not find: view<A, B>(exclude<C>).
template <class... T>
struct Exclude {};
template <class... T>
inline constexpr Exclude<T...> exclude{};

/// What a view may find: view<A, Maybe<B>>() visits who has A, with a B* that is null for who has no B.
template <class T>
struct Maybe {};

namespace detail {

template <class... T>
struct Types {};

/// One entry of a view's list.
template <class T>
struct Included {
  using Component = T;  // with its const
  using Constant = const T;
  using Reference = T&;
  static constexpr bool kOptional = false;
};
template <class T>
struct Included<Maybe<T>> {
  static_assert(!kIsTag<std::remove_const_t<T>>, "a tag has no value to point to; use all_of()");
  using Component = T;
  using Constant = Maybe<const T>;
  using Reference = T*;
  static constexpr bool kOptional = true;
};
template <class T>
using ComponentOf = std::remove_const_t<typename Included<T>::Component>;

/// The numbers of the types that have a value.
template <class... T>
constexpr auto valued_types() {
  constexpr std::size_t count = (std::size_t{0} + ... + (kIsTag<ComponentOf<T>> ? 0 : 1));
  constexpr auto numbers = [] {
    std::array<std::size_t, count> found{};
    std::size_t next = 0;
    std::size_t number = 0;
    ((kIsTag<ComponentOf<T>> ? void() : void(found[next++] = number), ++number), ...);
    return found;
  }();
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::index_sequence<numbers[I]...>{};
  }(std::make_index_sequence<count>{});
}

}  // namespace detail

template <class Included, class Excluded>
class View;

template <class... T, class... X>
class View<detail::Types<T...>, detail::Types<X...>> {
  static constexpr std::size_t kCount = sizeof...(T);
  using Pools = detail::ViewPools<kCount, sizeof...(X)>;
  using Positions = typename Pools::Positions;
  template <std::size_t I>
  using Entry = detail::Included<std::tuple_element_t<I, std::tuple<T...>>>;
  template <std::size_t I>
  using Component = typename Entry<I>::Component;
  template <std::size_t I>
  using Reference = typename Entry<I>::Reference;

  static constexpr auto kAll = std::make_index_sequence<kCount>{};
  static constexpr auto kValued = detail::valued_types<T...>();
  static constexpr bool kAllRequired = (!detail::Included<T>::kOptional && ...);
  static_assert((!detail::Included<T>::kOptional || ...),
                "a view needs at least one type that must be there");
  template <std::size_t I>
  static constexpr bool kWritable =
      !std::is_const_v<Component<I>> && !kIsTag<std::remove_const_t<Component<I>>>;

  template <std::size_t... I>
  static std::tuple<Reference<I>...> references_type(std::index_sequence<I...>);
  template <std::size_t... I>
  static std::tuple<Entity, Reference<I>...> value_type(std::index_sequence<I...>);

  // Shorter stretches are not worth a loop of their own; after them so many entities are looked up.
  static constexpr std::uint32_t kLeastRun = detail::kLeastRun;
  static constexpr std::uint32_t kLookups = 64;
  // An aligned stretch is looked for and visited in parts of this length, which the cache holds.
  static constexpr std::uint32_t kMostRun = 2048;

 public:
  /// T&... (T* for Maybe<T>) without the tags.
  using References = decltype(references_type(kValued));
  /// Entity, then the references.
  using Value = decltype(value_type(kValued));

  explicit View(const Pools& pools) : pools_(pools) {
    pools_.optional = {detail::Included<T>::kOptional...};
    pools_.choose_smallest();
  }

  class Iterator;

  /// The same view with the pool of L in the lead: in its order, whichever is the smallest. L is one of the types that
  /// must be there.
  template <class L>
    requires(((std::is_same_v<L, detail::ComponentOf<T>> && !detail::Included<T>::kOptional) || ...))
  View led_by() const {
    View view = *this;
    std::size_t number = 0;
    static_cast<void>(((std::is_same_v<L, detail::ComponentOf<T>> || (++number, false)) || ...));
    view.pools_.leading = number;
    return view;
  }

  /// for (auto [entity, position, velocity] : registry.view<Position, const Velocity>()). The view must
  /// outlive its iterators.
  Iterator begin() const {
    begin_touching(kAll);
    return Iterator(pools_);
  }
  std::default_sentinel_t end() const { return {}; }

  /// fn(Entity, T&...) or fn(T&...) for each match. Where the pools are aligned and fn does arithmetic, as fast as a
  /// loop over plain arrays.
  template <class F>
  void each(F fn) const {
    begin_touching(kAll);
    each_between(0, static_cast<std::uint32_t>(pools_.leader().size()), fn);
  }

  /// fn(std::span<const std::uint32_t> indices, std::span<T>...) for each stretch in which all pools are aligned, in
  /// order; stretches are as short as one entity where they are not. For loops that need whole arrays. REQUIRES: fn
  /// adds and removes nothing. Not for a Maybe, since spans have no gaps, nor for stable addresses.
  template <class F>
    requires(kAllRequired && (!kStableAddress<detail::ComponentOf<T>> && ...))
  void each_span(F fn) const {
    begin_touching(kAll);
    const auto end = static_cast<std::uint32_t>(pools_.leader().size());
    Positions first{};
    for (std::uint32_t at = 0; at < end;) {
      const std::uint32_t index = pools_.leader().indices()[at];
      std::uint32_t length = 0;
      if (!pools_.is_excluded(index)) {
        length = detail::aligned_run(pools_.included, pools_.leading, at,
                                     pools_.excludes_nobody() ? end - at : 1, first);
      }
      if (length > 0) call_with_spans(fn, first, length, kValued);
      at += length > 0 ? length : 1;
    }
  }

  /// At least as many as will be visited; exact for one type without exclusions.
  std::size_t size_hint() const { return pools_.leader().size(); }
  bool contains(Entity entity) const {
    Positions positions{};
    return pools_.entities->alive(entity) && pools_.match(entity.index, positions);
  }
  /// REQUIRES: contains(entity).
  References get(Entity entity) const {
    std::optional<References> found = find(entity);
    SHOAL_ASSERT(found, "get of an entity that is not in the view; test with contains() or use find()");
    return *found;
  }
  /// None if the view does not contain it.
  std::optional<References> find(Entity entity) const {
    Positions positions{};
    if (!pools_.entities->alive(entity) || !pools_.match(entity.index, positions)) return std::nullopt;
    begin_touching(kAll);
    return references(positions, kValued);
  }
  /// The first entity that iteration would visit, or null.
  Entity front() const {
    for (const std::uint32_t index : pools_.leader().indices()) {
      if (Positions positions{}; pools_.match(index, positions)) return pools_.entities->at(index);
    }
    return kNullEntity;
  }
  /// The last one, or null.
  Entity back() const {
    const auto indices = pools_.leader().indices();
    for (auto index = indices.rbegin(); index != indices.rend(); ++index) {
      if (Positions positions{}; pools_.match(*index, positions)) return pools_.entities->at(*index);
    }
    return kNullEntity;
  }
  bool empty() const { return front().is_null(); }

 private:
  template <std::size_t I>
  static auto& pool(const Pools& pools) {
    auto& typed = static_cast<Storage<std::remove_const_t<Component<I>>>&>(*pools.included[I]);
    if constexpr (std::is_const_v<Component<I>>) {
      return std::as_const(typed);
    } else {
      return typed;
    }
  }
  template <std::size_t I>
  static void touch(const Pools& pools, std::uint32_t position) {
    if constexpr (kWritable<I>) {
      if (!Entry<I>::kOptional || position != StorageBase::kAbsent)
        pool<I>(pools).changes_.touch_in_loop(position);
    }
  }
  /// The value, or the pointer for an optional one. Not touched.
  template <std::size_t I>
  static Reference<I> reference(const Pools& pools, std::uint32_t position) {
    if constexpr (Entry<I>::kOptional) {
      return position == StorageBase::kAbsent ? nullptr : &pool<I>(pools).at(position);
    } else {
      return pool<I>(pools).at(position);
    }
  }
  template <std::size_t I>
  static Reference<I> touched(const Pools& pools, std::uint32_t position) {
    touch<I>(pools, position);
    return reference<I>(pools, position);
  }
  template <std::size_t... I>
  static void touch_all(const Pools& pools, const Positions& positions, std::index_sequence<I...>) {
    (touch<I>(pools, positions[I]), ...);
  }
  template <std::size_t... I>
  References references(const Positions& positions, std::index_sequence<I...>) const {
    return References(touched<I>(pools_, positions[I])...);
  }
  template <std::size_t... I>
  void begin_touching(std::index_sequence<I...>) const {
    (begin_touching_one<I>(), ...);
  }
  template <std::size_t I>
  void begin_touching_one() const {
    if constexpr (kWritable<I>) pool<I>(pools_).changes_.begin_touching();
  }
  template <std::size_t... I>
  static void touch_range(const Pools& pools, const Positions& first, std::uint32_t length,
                          std::index_sequence<I...>) {
    (touch_range_of<I>(pools, first[I], length), ...);
  }
  template <std::size_t I>
  static void touch_range_of(const Pools& pools, std::uint32_t first, std::uint32_t length) {
    if constexpr (kWritable<I>) pool<I>(pools).changes_.touch_range(first, length);
  }

  template <class F, std::size_t... I>
  void call_with_spans(F& fn, const Positions& first, std::uint32_t length, std::index_sequence<I...>) const {
    touch_range(pools_, first, length, kAll);
    fn(pools_.leader().indices().subspan(first[pools_.leading], length),
       std::span<Component<I>>(&pool<I>(pools_).at(first[I]), length)...);
  }

  /// Places of the leading pool from `begin`, below `end`.
  template <class F>
  void each_between(std::uint32_t begin, std::uint32_t end, F& fn) const {
    each_led_by_one_of({pools_.leader().indices(), begin, end}, fn, kAll);
  }
  template <class F, std::size_t... I>
  void each_led_by_one_of(detail::LoopPlaces places, F& fn, std::index_sequence<I...>) const {
    // The leading pool as a constant of the loop.
    static_cast<void>(((pools_.leading == I && (each_led_by<I>(places, fn), true)) || ...));
  }
  template <std::size_t kLeader, class F>
  void each_led_by(detail::LoopPlaces places, F& fn) const {
    detail::IterationGuard guard(pools_.leader());
    // What is compared or looked up in one go: short parts where that turned out to be in vain, longer ones later.
    std::uint32_t most_compared = kMostRun;
    std::uint32_t most_looked_up = kLookups;
    while (!places.done()) {
      const std::uint32_t rest = places.end() - places.at();
      if constexpr (kAllRequired) {
        Positions first{};
        std::uint32_t run = 0;
        // Asked each time: fn may give somebody what is excluded.
        if (pools_.excludes_nobody())
          run = detail::aligned_run(pools_.included, kLeader, places.at(), std::min(rest, most_compared),
                                    first);
        if (run >= kLeastRun || run == rest) {
          const bool whole = each_of_run<kLeader>(fn, first, run, places, guard, kValued);
          most_compared = whole ? std::min(2 * most_compared, kMostRun) : kLookups;
          most_looked_up = kLookups;
          continue;
        }
      }
      each_looked_up<kLeader>(fn, std::min(rest, most_looked_up), places, guard);
      most_looked_up = std::min(2 * most_looked_up, kMostRun);
    }
  }

  // Aligned: entity number i of the run is at place first[p] + i of each pool p. False if something changed before the
  // last one.
  template <std::size_t kLeader, class F, std::size_t... I>
  bool each_of_run(F& fn, const Positions& first, std::uint32_t length, detail::LoopPlaces& places,
                   detail::IterationGuard& guard, std::index_sequence<I...>) const {
    touch_range(pools_, first, length, kAll);
    const EntityTable& entities = *pools_.entities;
    const std::uint32_t version = entities.structure_version();
    const std::uint32_t* indices = pools_.leader().indices().data() + first[kLeader];
    const std::tuple runs(pool<I>(pools_).run_from(first[I])...);
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint32_t index = indices[i];
      [&]<std::size_t... N>(std::index_sequence<N...>) {
        detail::call_for_entity(fn, entities, index, std::get<N>(runs)[i]...);
      }(std::make_index_sequence<sizeof...(I)>{});
      if (entities.structure_version() != version) [[unlikely]] {
        places.advance(i);
        advance_changed(places, index, guard);
        return false;
      }
    }
    places.advance(length);
    return true;
  }

  // Not aligned: one entity after the other is looked up in the other pools.
  template <std::size_t kLeader, class F>
  void each_looked_up(F& fn, std::uint32_t length, detail::LoopPlaces& places,
                      detail::IterationGuard& guard) const {
    const std::uint32_t* indices = pools_.leader().indices().data() + places.at();
    const std::uint32_t version = pools_.entities->structure_version();
    Positions positions{};
    for (std::uint32_t i = 0; i < length; ++i) {
      const std::uint32_t index = indices[i];
      positions[kLeader] = places.at() + i;
      if (!pools_.template match_others<kLeader>(index, positions)) continue;
      call_at(fn, index, positions, kValued);
      if (pools_.entities->structure_version() != version) [[unlikely]] {
        places.advance(i);
        advance_changed(places, index, guard);
        return;
      }
    }
    places.advance(length);
  }
  void advance_changed(detail::LoopPlaces& places, std::uint32_t visited_index,
                       detail::IterationGuard& guard) const {
    guard.check(pools_.leader(), visited_index);
    places.advance_changed(pools_.leader().indices(), visited_index);
  }
  template <class F, std::size_t... I>
  void call_at(F& fn, std::uint32_t index, const Positions& positions, std::index_sequence<I...>) const {
    detail::call_for_entity(fn, *pools_.entities, index, touched<I>(pools_, positions[I])...);
  }
  Pools pools_;
};

template <class... T, class... X>
class View<detail::Types<T...>, detail::Types<X...>>::Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Value;

  Value operator*() const { return dereference(kValued); }
  Iterator& operator++() {
    if (pools_->entities->structure_version() == version_) [[likely]] {
      places_.advance(1);
    } else {
      guard_.check(pools_->leader(), index_);
      // A copy, as in seek(): an address that leaves would keep the iterator out of registers.
      detail::LoopPlaces places = places_;
      places.advance_changed(pools_->leader().indices(), index_);
      places_ = places;
      restart();
      most_compared_ = kLookups;
    }
    seek();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.places_.done(); }

 private:
  friend class View;

  explicit Iterator(const Pools& pools)
      : pools_(&pools),
        places_(pools.leader().indices(), 0, static_cast<std::uint32_t>(pools.leader().size())),
        guard_(pools.leader()) {
    restart();
    seek();
  }
  template <std::size_t... I>
  Value dereference(std::index_sequence<I...>) const {
    return Value(pools_->entities->at(index_), View::template reference<I>(*pools_, position_of<I>())...);
  }
  // Within a run all places rise together; one counter moves and not each of them.
  template <std::size_t I>
  std::uint32_t position_of() const {
    const std::uint32_t first = positions_[I];
    return Entry<I>::kOptional ? first : first + (places_.at() - first_at_);
  }
  void restart() {
    version_ = pools_->entities->structure_version();
    aligned_ = kAllRequired && pools_->excludes_nobody();
    run_end_ = places_.at();
    next_try_ = places_.at();
  }
  // To the first match from here on.
  void seek() {
    const std::uint32_t* indices = pools_->leader().indices().data();
    if (places_.at() < run_end_) [[likely]] {
      index_ = indices[places_.at()];
      return;
    }
    for (; !places_.done(); places_.advance(1)) {
      index_ = indices[places_.at()];
      first_at_ = places_.at();
      if (aligned_ && first_at_ >= next_try_) {
        Positions first{};
        const std::uint32_t run =
            detail::aligned_run(pools_->included, pools_->leading, first_at_,
                                std::min(places_.end() - first_at_, most_compared_), first);
        most_compared_ = std::min(2 * most_compared_, kMostRun);
        next_try_ = first_at_ + kLookups;
        if (run >= kLeastRun) {
          touch_range(*pools_, first, run, kAll);
          positions_ = first;
          run_end_ = first_at_ + run;
          return;
        }
      }
      Positions found{};
      if (pools_->match(index_, found)) {
        touch_all(*pools_, found, kAll);
        positions_ = found;
        return;
      }
    }
  }

  const Pools* pools_;
  detail::LoopPlaces places_;
  std::uint32_t first_at_ = 0;  // where the positions were found
  std::uint32_t run_end_ = 0;   // aligned up to here
  std::uint32_t most_compared_ = kMostRun;
  std::uint32_t next_try_ = 0;  // where to look again whether the pools are aligned
  std::uint32_t version_ = 0;
  std::uint32_t index_ = 0;
  bool aligned_ = false;
  Positions positions_{};
  detail::IterationGuard guard_;
};

}  // namespace shoal
