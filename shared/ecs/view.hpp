// Views: the entities that have all of some components and none of others. A view is a few pointers, made
// anew wherever one is needed; it creates nothing in the registry.
//
// Iteration runs over the packed list of the smallest pool (the leading one), from its end to its start, so
// that the entity at hand may be destroyed, or lose or gain any component, while the loop goes on. Adding or
// removing the leading pool's component on any *other* entity, or sorting the leading pool, breaks the loop and
// is caught in debug builds; record it in a CommandBuffer. A reference into another pool holds until something
// is added to or removed from that pool, or it is sorted.
//
// Thread rule: views whose types are all const may be used from several threads while nobody changes the
// registry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/ecs/storage.hpp"

namespace shoal {

/// What a view must not find: view<A, B>(exclude<C>).
template <class... T>
struct Exclude {};
template <class... T>
inline constexpr Exclude<T...> exclude{};

namespace detail {

template <class... T>
struct Types {};

/// Which pools and how an entity is matched; knows nothing of C++ component types.
template <std::size_t kIncluded, std::size_t kExcluded>
struct ViewPools {
  std::array<StorageBase*, kIncluded> included{};
  std::array<StorageBase*, kExcluded> excluded{};
  const EntityTable* entities = nullptr;
  std::size_t leading = 0;

  void choose_leading() {
    for (std::size_t i = 1; i < kIncluded; ++i) {
      if (included[i]->size() < included[leading]->size()) leading = i;
    }
  }
  const StorageBase& leader() const { return *included[leading]; }

  /// Fills the position in each included pool; false if the entity does not belong to the view.
  bool match(std::size_t leader_number, std::uint32_t index, std::uint32_t leading_position,
             std::array<std::uint32_t, kIncluded>& positions) const {
    for (std::size_t i = 0; i < kIncluded; ++i) {
      positions[i] = i == leader_number ? leading_position : included[i]->position(index);
      if (i != leader_number && positions[i] == StorageBase::kAbsent) return false;
    }
    return !is_excluded(index);
  }
  bool is_excluded(std::uint32_t index) const {
    for (std::size_t i = 0; i < kExcluded; ++i) {
      if (excluded[i]->contains_index(index)) return true;
    }
    return false;
  }
};

/// The numbers of the types that have a value.
template <class... T>
constexpr auto valued_types() {
  constexpr std::size_t count = (std::size_t{0} + ... + (kIsTag<T> ? 0 : 1));
  constexpr auto numbers = [] {
    std::array<std::size_t, count> found{};
    std::size_t next = 0;
    std::size_t number = 0;
    ((kIsTag<T> ? void() : void(found[next++] = number), ++number), ...);
    return found;
  }();
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::index_sequence<numbers[I]...>{};
  }(std::make_index_sequence<count>{});
}

/// Catches additions and removals in the leading pool that the loop did not survive.
class IterationGuard {
 public:
  explicit IterationGuard([[maybe_unused]] const StorageBase& leader)
      : version_(leader.structure_version()) {}
  void check([[maybe_unused]] const StorageBase& leader, [[maybe_unused]] std::uint32_t index_at_hand) {
    SHOAL_DEBUG_ASSERT(
        leader.only_changed(index_at_hand, version_),
        "during iteration the leading pool may change for the entity at hand only, and is not sorted; record "
        "other changes in a CommandBuffer and apply it after the loop");
    version_ = leader.structure_version();
  }

 private:
  std::uint32_t version_;
};

}  // namespace detail

template <class Included, class Excluded>
class View;

template <class... Included, class... Excluded>
class View<detail::Types<Included...>, detail::Types<Excluded...>> {
  static_assert(sizeof...(Included) > 0, "a view needs at least one included type");
  static constexpr std::size_t kCount = sizeof...(Included);
  using Pools = detail::ViewPools<kCount, sizeof...(Excluded)>;
  using Positions = std::array<std::uint32_t, kCount>;
  template <std::size_t I>
  using TypeAt = std::tuple_element_t<I, std::tuple<Included...>>;

  static constexpr auto kAll = std::make_index_sequence<kCount>{};
  static constexpr auto kValued = detail::valued_types<Included...>();
  /// Everyone in the leading pool belongs to the view.
  static constexpr bool kMatchesAll = kCount == 1 && sizeof...(Excluded) == 0;
  template <std::size_t I>
  static constexpr bool kWritable = !std::is_const_v<TypeAt<I>> && !kIsTag<TypeAt<I>>;

  template <std::size_t... I>
  static std::tuple<TypeAt<I>&...> references_type(std::index_sequence<I...>);
  template <std::size_t... I>
  static std::tuple<Entity, TypeAt<I>&...> value_type(std::index_sequence<I...>);

 public:
  /// T&... without the tags.
  using References = decltype(references_type(kValued));
  /// Entity, T&... without the tags.
  using Value = decltype(value_type(kValued));

  explicit View(const Pools& pools) : pools_(pools) { pools_.choose_leading(); }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Value;

    Value operator*() const { return dereference(kValued); }
    Iterator& operator++() {
      guard_.check(pools_->leader(), index_);
      seek();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator& it, std::default_sentinel_t) { return it.next_ == kEnd; }

   private:
    friend class View;
    static constexpr std::size_t kEnd = ~std::size_t{0};

    explicit Iterator(const Pools& pools)
        : pools_(&pools), next_(pools.leader().size()), guard_(pools.leader()) {
      seek();
    }
    template <std::size_t... I>
    Value dereference(std::index_sequence<I...>) const {
      return Value(pools_->entities->at(index_), View::template touched<I>(*pools_, positions_[I])...);
    }
    // next_ is one above the next candidate; the size is read anew, since the entity at hand may have left.
    void seek() {
      const StorageBase& leader = pools_->leader();
      while (next_ > 0) {
        const std::size_t at = --next_;
        if (at >= leader.size()) continue;
        index_ = leader.indices()[at];
        if (pools_->match(pools_->leading, index_, static_cast<std::uint32_t>(at), positions_)) return;
      }
      next_ = kEnd;
    }

    const Pools* pools_;
    std::size_t next_;
    std::uint32_t index_ = 0;
    Positions positions_{};
    detail::IterationGuard guard_;
  };

  /// for (auto [entity, position, velocity] : registry.view<Position, const Velocity>()). The view must
  /// outlive its iterators.
  Iterator begin() const {
    begin_touching(kAll);
    return Iterator(pools_);
  }
  std::default_sentinel_t end() const { return {}; }

  /// fn(Entity, T&...) or fn(T&...) for each match. The fastest way over several types; over one, see
  /// Storage::values().
  template <class F>
  void each(F fn) const {
    begin_touching(kAll);
    each_led_by_one_of(fn, kAll);
  }

  /// At least as many as will be visited; exact for one type without exclusions.
  std::size_t size_hint() const { return pools_.leader().size(); }
  bool contains(Entity entity) const {
    Positions positions{};
    return find(entity, positions);
  }
  /// REQUIRES: contains(entity).
  References get(Entity entity) const {
    Positions positions{};
    SHOAL_ASSERT(find(entity, positions), "get of an entity that is not in the view; test with contains()");
    begin_touching(kAll);
    return references(positions, kValued);
  }
  /// The first entity that iteration would visit, or null.
  Entity front() const {
    const Iterator first(pools_);
    return first == std::default_sentinel ? kNullEntity : pools_.entities->at(first.index_);
  }
  bool empty() const { return front().is_null(); }

 private:
  template <std::size_t I>
  static auto& pool(const Pools& pools) {
    using T = TypeAt<I>;
    auto& typed = static_cast<Storage<std::remove_const_t<T>>&>(*pools.included[I]);
    if constexpr (std::is_const_v<T>) {
      return std::as_const(typed);
    } else {
      return typed;
    }
  }
  template <std::size_t I>
  static TypeAt<I>& value(const Pools& pools, std::size_t position) {
    return pool<I>(pools).data()[position];
  }
  template <std::size_t I>
  static TypeAt<I>& touched(const Pools& pools, std::uint32_t position) {
    if constexpr (kWritable<I>) pool<I>(pools).changes_.touch_in_loop(position);
    return value<I>(pools, position);
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
  bool find(Entity entity, Positions& positions) const {
    if (!pools_.entities->alive(entity)) return false;
    const std::uint32_t at = pools_.leader().position(entity.index);
    return at != StorageBase::kAbsent && pools_.match(pools_.leading, entity.index, at, positions);
  }

  template <class F, std::size_t... I>
  void each_led_by_one_of(F& fn, std::index_sequence<I...>) const {
    // The leading pool as a constant of the loop.
    static_cast<void>(((pools_.leading == I && (each_led_by<I>(fn), true)) || ...));
  }
  template <std::size_t kLeader, class F>
  void each_led_by(F& fn) const {
    const StorageBase& leader = *pools_.included[kLeader];
    detail::IterationGuard guard(leader);
    Positions positions{};
    for (std::size_t end = leader.size(); end > 0;) {
      // Run by run, so that the leading pool is touched once per 64 values.
      const std::size_t begin = (end - 1) / ChangeBits::kRun * ChangeBits::kRun;
      bool run_touched = !kWritable<kLeader>;
      if constexpr (kMatchesAll && kWritable<kLeader>) {
        pool<kLeader>(pools_).changes_.touch_in_loop(static_cast<std::uint32_t>(begin));
        run_touched = true;
      }
      for (std::size_t at = end; at-- > begin;) {
        // The size is read anew, since the entity at hand may have left.
        if (at >= leader.size()) continue;
        const std::uint32_t index = leader.indices()[at];
        if (!pools_.match(kLeader, index, static_cast<std::uint32_t>(at), positions)) continue;
        if (!run_touched) {
          if constexpr (kWritable<kLeader>) pool<kLeader>(pools_).changes_.touch_in_loop(positions[kLeader]);
          run_touched = true;
        }
        call<kLeader>(fn, index, positions, kValued);
        guard.check(leader, index);
      }
      end = begin;
    }
  }
  template <std::size_t kLeader, class F, std::size_t... I>
  void call(F& fn, std::uint32_t index, const Positions& positions, std::index_sequence<I...>) const {
    if constexpr (std::is_invocable_v<F&, Entity, TypeAt<I>&...>) {
      fn(pools_.entities->at(index), each_value<kLeader, I>(positions)...);
    } else {
      fn(each_value<kLeader, I>(positions)...);
    }
  }
  template <std::size_t kLeader, std::size_t I>
  TypeAt<I>& each_value(const Positions& positions) const {
    return I == kLeader ? value<I>(pools_, positions[I]) : touched<I>(pools_, positions[I]);
  }

  Pools pools_;
};

}  // namespace shoal
