// The typed shell around StorageBase: no data of its own, only the places where the C++ type matters. Hot
// code asks the registry once for `storage<T>()` and works with the spans.
//
// Thread rule: as StorageBase.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/ecs/storage_base.hpp"

namespace shoal {

namespace detail {

template <class T>
constexpr ValueOperations value_operations() {
  if constexpr (kIsTag<T>) {
    return {};
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    return {.bytes = sizeof(T), .alignment = alignof(T)};
  } else {
    return {
        .bytes = sizeof(T),
        .alignment = alignof(T),
        .relocate =
            [](void* target, void* source, std::size_t count) {
              auto* from = static_cast<T*>(source);
              std::uninitialized_move_n(from, count, static_cast<T*>(target));
              std::destroy_n(from, count);
            },
        .destroy = [](void* values, std::size_t count) { std::destroy_n(static_cast<T*>(values), count); }};
  }
}

/// Aggregates are made with braces: emplace<Position>(e, 1.0f, 2.0f) and emplace<Position>(e) both work.
template <class T, class... Args>
T make_value(Args&&... args) {
  if constexpr (std::is_aggregate_v<T>) {
    return T{std::forward<Args>(args)...};
  } else {
    return T(std::forward<Args>(args)...);
  }
}

}  // namespace detail

template <class T>
class Storage final : public StorageBase {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>);
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "removal moves values, which must not throw");

 public:
  Storage(StorageContext context, ComponentType type, std::string_view name)
      : StorageBase(context, type, name, detail::value_operations<T>()) {}

  /// All values, in the order of indices(). The mutable span marks every run as touched, so it is for loops
  /// that write to most of them; take it anew each tick.
  std::span<T> values() {
    static_assert(!kIsTag<T>, "a tag has no values");
    changes_.touch_first(size());
    return {data(), size()};
  }
  std::span<const T> values() const {
    static_assert(!kIsTag<T>, "a tag has no values");
    return {data(), size()};
  }

  /// REQUIRES: the entity has the component. The handle's generation is checked in debug builds only: this is
  /// the way for hot code; Registry::get checks always.
  T& get(Entity entity) {
    static_assert(!kIsTag<T>, "a tag has no value");
    const std::uint32_t at = checked_position(entity);
    changes_.touch(at);
    return data()[at];
  }
  const T& get(Entity entity) const { return data()[checked_position(entity)]; }
  T* try_get(Entity entity) {
    const std::uint32_t at = contains(entity) ? position(entity.index) : kAbsent;
    if (at == kAbsent) return nullptr;
    changes_.touch(at);
    return data() + at;
  }
  const T* try_get(Entity entity) const {
    return contains(entity) ? data() + position(entity.index) : nullptr;
  }

  /// compare(const T&, const T&), or compare(Entity, Entity), which a tag needs: true if the first one belongs
  /// before the second in values() and indices(). (A view visits from the end to the start.) Stable: equals
  /// keep their order. What was dirty is dirty, nothing is announced. O(n log n) comparisons and O(n) memory
  /// for a while; if compare throws, nothing has moved. References into the pool end. REQUIRES: no signal of
  /// this pool runs, and no loop that it leads, which is caught in debug builds.
  template <class Compare>
  void sort(Compare compare) {
    std::vector<std::uint32_t> order(size());
    std::iota(order.begin(), order.end(), 0u);
    if constexpr (!kIsTag<T> && std::is_invocable_r_v<bool, Compare&, const T&, const T&>) {
      const T* values = data();
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return static_cast<bool>(compare(values[a], values[b]));
      });
    } else {
      static_assert(std::is_invocable_r_v<bool, Compare&, Entity, Entity>,
                    "compare takes two values or two entities");
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return static_cast<bool>(compare(entity_at(a), entity_at(b)));
      });
    }
    reorder(order);
  }

 private:
  friend class Registry;
  friend struct detail::PieceAccess;
  template <class, class>
  friend class View;

  T* data() { return reinterpret_cast<T*>(values_); }
  const T* data() const { return reinterpret_cast<const T*>(values_); }

  std::uint32_t checked_position(Entity entity) const {
    SHOAL_DEBUG_ASSERT(context_.entities->alive(entity), kRuleAlive);
    const std::uint32_t at = position(entity.index);
    if (at == kAbsent) [[unlikely]]
      refuse("get", entity, kRuleHas);
    return at;
  }
  template <class... Args>
  void append(Entity entity, Args&&... args) {
    if constexpr (kIsTag<T>) {
      static_assert(sizeof...(Args) <= 1, "a tag has no values");
    } else {
      // Made before the pool may grow: the arguments may refer into it.
      T value = detail::make_value<T>(std::forward<Args>(args)...);
      ::new (static_cast<void*>(prepare_append())) T(std::move(value));
    }
    commit_append(entity);
  }
  /// The value after listeners ran, or the spare one if they removed it.
  T& settled(Entity entity) {
    return contains(entity) ? data()[position(entity.index)] : *std::launder(reinterpret_cast<T*>(spare()));
  }
};

}  // namespace shoal
