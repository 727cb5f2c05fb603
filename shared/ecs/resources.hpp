// Resources: one value per type that belongs to the world and to no entity (the map, the score, the random
// numbers of the game). Found by a small number, as component types are.
//
// Thread rule: reading from several threads; changes from one thread while nobody reads.
// Invariant: resources end in the opposite order of their making.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/assert.hpp"
#include "shared/ecs/component_type.hpp"
#include "shared/ecs/running_system.hpp"

namespace shoal {

class Resources {
 public:
  Resources() = default;
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;
  ~Resources() {
    while (!order_.empty()) erase_slot(order_.back());
  }

  /// REQUIRES: none of this type yet. The address stays until `erase`.
  template <class T, class... Args>
  T& emplace(Args&&... args) {
    SHOAL_DEBUG_ASSERT(detail::may_change(*this, "emplace", detail::type_name<T>()),
                       "resources change in a parallel system");
    const std::uint32_t slot = detail::claim_type_slot<Key<T>>();
    if (slot >= values_.size()) values_.resize(slot + 1);
    SHOAL_ASSERT(values_[slot].value == nullptr,
                 "there is a resource of this type already; use get() or erase() first");
    // The braces and the parentheses of a value, as for components.
    T* value = nullptr;
    if constexpr (std::is_aggregate_v<T>) {
      value = new T{std::forward<Args>(args)...};
    } else {
      value = new T(std::forward<Args>(args)...);
    }
    values_[slot] = {value, [](void* resource) { delete static_cast<T*>(resource); }};
    order_.push_back(slot);
    return *value;
  }
  /// Null if there is none. Of a const T, as of const resources, it counts as reading (shared/ecs/access.hpp).
  template <class T>
  T* try_get() {
    if constexpr (std::is_const_v<T>) {
      return std::as_const(*this).template try_get<std::remove_const_t<T>>();
    } else {
      audit<T>(AccessMode::Write);
      return static_cast<T*>(find(detail::type_slot<Key<T>>()));
    }
  }
  template <class T>
  const T* try_get() const {
    audit<T>(AccessMode::Read);
    return static_cast<const T*>(find(detail::type_slot<Key<std::remove_const_t<T>>>()));
  }
  /// REQUIRES: there is one.
  template <class T>
  T& get() {
    T* value = try_get<T>();
    SHOAL_ASSERT(value != nullptr, "no resource of this type; emplace it first or use try_get()");
    return *value;
  }
  template <class T>
  const T& get() const {
    const T* value = try_get<T>();
    SHOAL_ASSERT(value != nullptr, "no resource of this type; emplace it first or use try_get()");
    return *value;
  }
  /// False if there was none.
  template <class T>
  bool erase() {
    SHOAL_DEBUG_ASSERT(detail::may_change(*this, "erase", detail::type_name<T>()),
                       "resources change in a parallel system");
    const std::uint32_t slot = detail::type_slot<Key<T>>();
    return find(slot) != nullptr && erase_slot(slot);
  }

  /// The number under which resources of this type are found, in every world.
  template <class T>
  static std::uint32_t slot_of() {
    return detail::claim_type_slot<Key<T>>();
  }

 private:
  // Slots of their own, so that a type may be a component and a resource.
  template <class T>
  struct Key {};
  struct Value {
    void* value = nullptr;
    void (*destroy)(void*) = nullptr;
  };

  template <class T>
  void audit([[maybe_unused]] AccessMode mode) const {
    SHOAL_DEBUG_ASSERT(detail::may_access(*this, detail::type_slot<Key<std::remove_const_t<T>>>(),
                                          detail::type_name<T>(), mode),
                       "a resource that the system did not declare");
  }

  void* find(std::uint32_t slot) const { return slot < values_.size() ? values_[slot].value : nullptr; }
  bool erase_slot(std::uint32_t slot) {
    std::erase(order_, slot);
    const Value value = std::exchange(values_[slot], {});
    value.destroy(value.value);
    return true;
  }

  std::vector<Value> values_;
  std::vector<std::uint32_t> order_;
};

}  // namespace shoal
