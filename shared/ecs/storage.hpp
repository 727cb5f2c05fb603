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

/// Whether copies of a world may copy values of T. To be said by hand where the language is wrong: a
/// std::vector<std::unique_ptr<X>>, and what holds one, claims a copy constructor that does not compile.
///   template <> inline constexpr bool shoal::kCopyable<Script> = false;
template <class T>
inline constexpr bool kCopyable = std::is_copy_constructible_v<T>;

namespace detail {

/// Null if there is none. What a copy constructor throws ends the program: half a world is no world.
template <class T>
constexpr auto copy_operation() -> void (*)(void*, const void*, std::size_t) {
  if constexpr (kCopyable<T>) {
    return [](void* target, const void* source, std::size_t count) noexcept {
      std::uninitialized_copy_n(static_cast<const T*>(source), count, static_cast<T*>(target));
    };
  } else {
    return nullptr;
  }
}

template <class T>
constexpr ValueOperations value_operations() {
  if constexpr (kIsTag<T>) {
    return {};
  } else if constexpr (std::is_trivially_copyable_v<T>) {
    return {.bytes = sizeof(T), .alignment = alignof(T), .stable_addresses = kStableAddress<T>};
  } else {
    return {
        .bytes = sizeof(T),
        .alignment = alignof(T),
        .stable_addresses = kStableAddress<T>,
        .relocate =
            [](void* target, void* source, std::size_t count) {
              auto* from = static_cast<T*>(source);
              std::uninitialized_move_n(from, count, static_cast<T*>(target));
              std::destroy_n(from, count);
            },
        .swap =
            [](void* a, void* b) {
              T between(std::move(*static_cast<T*>(a)));
              std::destroy_at(static_cast<T*>(a));
              ::new (a) T(std::move(*static_cast<T*>(b)));
              std::destroy_at(static_cast<T*>(b));
              ::new (b) T(std::move(between));
            },
        .destroy = [](void* values, std::size_t count) { std::destroy_n(static_cast<T*>(values), count); },
        .copy = copy_operation<T>(),
        .copyable = kCopyable<T>};
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

/// Values that follow each other in a pool with stable addresses.
template <class T>
class StableRun {
 public:
  explicit StableRun(const std::byte* run) : places_(reinterpret_cast<std::byte* const*>(run)) {}
  T& operator[](std::size_t at) const { return *reinterpret_cast<T*>(places_[at]); }

 private:
  std::byte* const* places_;
};

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
    static_assert(!kStableAddress<T>, "values with stable addresses are not contiguous; use a view");
    changes_.touch_range(0, size());
    return {data(), size()};
  }
  std::span<const T> values() const {
    static_assert(!kIsTag<T>, "a tag has no values");
    static_assert(!kStableAddress<T>, "values with stable addresses are not contiguous; use a view");
    return {data(), size()};
  }

  /// REQUIRES: the entity has the component. The handle's generation is checked in debug builds only: this is
  /// the way for hot code; Registry::get checks always.
  T& get(Entity entity) {
    static_assert(!kIsTag<T>, "a tag has no value");
    const std::uint32_t at = checked_position(entity);
    changes_.touch(at);
    return this->at(at);
  }
  const T& get(Entity entity) const { return at(checked_position(entity)); }
  T* try_get(Entity entity) {
    const std::uint32_t place = context_.entities->alive(entity) ? position(entity.index) : kAbsent;
    if (place == kAbsent) return nullptr;
    changes_.touch(place);
    return &at(place);
  }
  const T* try_get(Entity entity) const {
    const std::uint32_t place = context_.entities->alive(entity) ? position(entity.index) : kAbsent;
    return place == kAbsent ? nullptr : &at(place);
  }

  /// compare(const T&, const T&), or compare(Entity, Entity), which a tag needs: true if the first one belongs
  /// before the second in values() and indices(). (A view visits in that order.) Stable: equals
  /// keep their order. What was dirty is dirty, nothing is announced. O(n log n) comparisons and O(n) memory
  /// for a while; if compare throws, nothing has moved. References into the pool end. REQUIRES: no signal of
  /// this pool runs, and no loop that it leads, which is caught in debug builds.
  template <class Compare>
  void sort(Compare compare) {
    std::vector<std::uint32_t> order(size());
    std::iota(order.begin(), order.end(), 0u);
    if constexpr (!kIsTag<T> && std::is_invocable_r_v<bool, Compare&, const T&, const T&>) {
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return static_cast<bool>(compare(std::as_const(*this).at(a), std::as_const(*this).at(b)));
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
  template <class, class>
  friend class View;
  template <class, class>
  friend class Group;

  T* data() { return reinterpret_cast<T*>(run_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(run_.data()); }
  // Untouched. REQUIRES: below size().
  T& at(std::size_t position) { return run_from(position)[0]; }
  const T& at(std::size_t position) const { return run_from(position)[0]; }
  // What is indexed by places from this one on.
  auto run_from(std::size_t position) {
    if constexpr (kStableAddress<T>) {
      return detail::StableRun<T>(run_.data() + position * sizeof(std::byte*));
    } else {
      return data() + position;
    }
  }
  auto run_from(std::size_t position) const {
    if constexpr (kStableAddress<T>) {
      return detail::StableRun<const T>(run_.data() + position * sizeof(std::byte*));
    } else {
      return data() + position;
    }
  }

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
  // As append for each, in one go. REQUIRES: room was made; no groups, no stable addresses.
  template <class ValueAt>
  void append_range(std::span<const Entity> entities, ValueAt value_at) {
    if constexpr (!kIsTag<T>) {
      T* target = data() + size();
      for (std::size_t i = 0; i < entities.size(); ++i) ::new (static_cast<void*>(target + i)) T(value_at(i));
    }
    commit_range(entities);
  }
  /// The value after listeners ran, or the spare one if they removed it.
  T& settled(Entity entity) {
    return contains(entity) ? at(position(entity.index)) : *std::launder(reinterpret_cast<T*>(spare()));
  }
};

}  // namespace shoal
