// What a system may touch: component types and resources, each for reading or for writing. The schedule makes stages of
// it, debug builds hold the system to it, and the graph shows it.
//
// Presence counts as reading: `exclude<Burning>` reads Burning. A tag has no value, so in a view it is always read; who
// gives or takes one by commands, and wants later systems to see it in the same tick, declares it as written.
//
// Thread rule: const functions from several threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "shared/ecs/component_type.hpp"
#include "shared/ecs/resources.hpp"
#include "shared/ecs/running_system.hpp"

namespace shoal {

class Registry;

/// One component type or resource.
struct AccessItem {
  std::uint32_t slot = 0;  // the number of the C++ type; a resource has one of its own
  AccessMode mode = AccessMode::None;
  bool resource = false;
  std::string_view type_name;  // of C++
};

class Access {
 public:
  template <class T>
  void add_component(AccessMode mode) {
    using Type = std::remove_const_t<T>;
    static_assert(std::is_same_v<Type, std::remove_cvref_t<T>>, "a component type, or const of one");
    add({detail::claim_type_slot<Type>(), mode, false, detail::type_name<Type>()});
  }
  template <class T>
  void add_resource(AccessMode mode) {
    add({Resources::slot_of<T>(), mode, true, detail::type_name<T>()});
  }
  /// Of everything that there is, beside the items.
  void set_everything(AccessMode mode) { everything_ = mode; }
  AccessMode everything() const { return everything_; }

  /// The strongest that was added.
  AccessMode of(std::uint32_t slot) const {
    return slot < modes_.size() && modes_[slot] > everything_ ? modes_[slot] : everything_;
  }
  /// In the order of their adding, each once.
  std::span<const AccessItem> items() const { return items_; }

 private:
  void add(const AccessItem& item);

  AccessMode everything_ = AccessMode::None;
  std::vector<AccessItem> items_;
  std::vector<AccessMode> modes_;  // by slot
};

/// The names of what keeps two systems from running side by side: items that one writes and the other reads or writes,
/// or "everything" when one of them needs the world for itself. Empty: they may.
std::vector<std::string> conflicts(const Access& a, const Access& b, const Registry& registry);
/// The name that the registry knows, or that of C++.
std::string name_of(const AccessItem& item, const Registry& registry);

}  // namespace shoal
