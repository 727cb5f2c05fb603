// Views: the entities that have all of some components and none of others. A view is a few pointers, made
// anew wherever one is needed; it creates nothing in the registry.
//
// Iteration runs over the packed list of the smallest pool (the leading one), from its end to its start, so
// that the entity at hand may be destroyed, or lose or gain any component, while the loop goes on. Adding or
// removing the leading pool's component on any *other* entity breaks the loop and is caught in debug builds;
// record it in a CommandBuffer. A reference into another pool holds until something is added to or removed
// from that pool.
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
  bool match(std::uint32_t index, std::uint32_t leading_position,
             std::array<std::uint32_t, kIncluded>& positions) const {
    for (std::size_t i = 0; i < kIncluded; ++i) {
      positions[i] = i == leading ? leading_position : included[i]->position(index);
      if (positions[i] == StorageBase::kAbsent) return false;
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

/// Catches additions and removals in the leading pool that the loop did not survive.
class IterationGuard {
 public:
  explicit IterationGuard([[maybe_unused]] const StorageBase& leader)
      : version_(leader.structure_version()) {}
  void check([[maybe_unused]] const StorageBase& leader, [[maybe_unused]] std::uint32_t index_at_hand) {
    SHOAL_DEBUG_ASSERT(
        leader.only_changed(index_at_hand, version_),
        "during iteration the leading pool may change for the entity at hand only; record other "
        "changes in a CommandBuffer and apply it after the loop");
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
  template <class T>
  using ReferenceTuple = std::conditional_t<kIsTag<T>, std::tuple<>, std::tuple<T&>>;

 public:
  /// Tags do not show up in the tuple.
  using References = decltype(std::tuple_cat(std::declval<ReferenceTuple<Included>>()...));
  using Value = decltype(std::tuple_cat(std::declval<std::tuple<Entity>>(), std::declval<References>()));

  explicit View(const Pools& pools) : pools_(pools) { pools_.choose_leading(); }

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Value;

    Value operator*() const {
      return std::tuple_cat(std::tuple<Entity>(pools_->entities->at(index_)),
                            View::references(*pools_, positions_, kSequence));
    }
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
    // next_ is one above the next candidate; the size is read anew, since the entity at hand may have left.
    void seek() {
      const StorageBase& leader = pools_->leader();
      while (next_ > 0) {
        const std::size_t at = --next_;
        if (at >= leader.size()) continue;
        index_ = leader.indices()[at];
        if (pools_->match(index_, static_cast<std::uint32_t>(at), positions_)) return;
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
    begin_touching(kSequence);
    return Iterator(pools_);
  }
  std::default_sentinel_t end() const { return {}; }

  /// fn(Entity, T&...) or fn(T&...) for each match.
  template <class F>
  void each(F fn) const {
    begin_touching(kSequence);
    const StorageBase& leader = pools_.leader();
    detail::IterationGuard guard(leader);
    Positions positions{};
    for (std::size_t next = leader.size(); next > 0;) {
      const std::size_t at = --next;
      if (at >= leader.size()) continue;
      const std::uint32_t index = leader.indices()[at];
      if (!pools_.match(index, static_cast<std::uint32_t>(at), positions)) continue;
      call(fn, index, references(pools_, positions, kSequence));
      guard.check(leader, index);
    }
  }

  /// At least as many as will be visited; exact for one type without exclusions.
  std::size_t size_hint() const { return pools_.leader().size(); }
  bool contains(Entity entity) const {
    Positions positions{};
    return pools_.entities->alive(entity) &&
           pools_.match(entity.index, leading_position(entity.index), positions);
  }
  /// REQUIRES: contains(entity).
  References get(Entity entity) const {
    Positions positions{};
    SHOAL_ASSERT(pools_.entities->alive(entity) &&
                     pools_.match(entity.index, leading_position(entity.index), positions),
                 "get of an entity that is not in the view; test with contains()");
    begin_touching(kSequence);
    return references(pools_, positions, kSequence);
  }
  /// The first entity that iteration would visit, or null.
  Entity front() const {
    const Iterator first(pools_);
    return first == std::default_sentinel ? kNullEntity : pools_.entities->at(first.index_);
  }
  bool empty() const { return front().is_null(); }

 private:
  static constexpr auto kSequence = std::make_index_sequence<kCount>{};

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
  static ReferenceTuple<TypeAt<I>> reference(const Pools& pools, const Positions& positions) {
    if constexpr (kIsTag<TypeAt<I>>) {
      return {};
    } else {
      auto& typed = pool<I>(pools);
      if constexpr (!std::is_const_v<TypeAt<I>>) typed.changes_.touch_in_loop(positions[I]);
      return {typed.data()[positions[I]]};
    }
  }
  template <std::size_t... I>
  static References references(const Pools& pools, const Positions& positions, std::index_sequence<I...>) {
    return std::tuple_cat(reference<I>(pools, positions)...);
  }
  template <std::size_t... I>
  void begin_touching(std::index_sequence<I...>) const {
    (begin_touching_one<I>(), ...);
  }
  template <std::size_t I>
  void begin_touching_one() const {
    if constexpr (!std::is_const_v<TypeAt<I>> && !kIsTag<TypeAt<I>>)
      pool<I>(pools_).changes_.begin_touching();
  }
  std::uint32_t leading_position(std::uint32_t index) const { return pools_.leader().position(index); }

  template <class F>
  void call(F& fn, std::uint32_t index, References&& references) const {
    std::apply(
        [&](auto&&... values) {
          if constexpr (std::is_invocable_v<F&, Entity, decltype(values)&...>) {
            fn(pools_.entities->at(index), values...);
          } else {
            fn(values...);
          }
        },
        std::move(references));
  }

  Pools pools_;
};

}  // namespace shoal
