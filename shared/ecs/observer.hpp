// Observers: what became of one component since the change log and the change bits were cleared last, that is, in this
// tick. A view of both, not a third record: nothing is connected, nothing is stored per entity, and who does not ask
// pays nothing.
//
//   Observer<Health> observer(registry);
//   observer.for_each_constructed([](Entity entity) { … });
//   observer.for_each_updated([](Entity entity, const Health& health) { … });
//   observer.for_each_removed([](Entity entity) { … });
//
// Each entity comes once at most in each of the three:
// - constructed: it has the component now, and had none or another one before;
// - updated: it has had it all the time, and somebody announced a change (replace, patch, mark_dirty). Writes through
//   plain references are not announced: StorageBase::for_each_possibly_changed has those, too;
// - removed: it had the component before, and has none or another one now. The entity may be dead.
// So one that was taken off and put on again is removed and constructed; what came and went is in none of them.
// constructed and removed come in the order in which the log first names the entities, updated in the order of the
// pool.
//
// Thread rule: one thread; the registry must not change while a loop runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "shared/base/assert.hpp"
#include "shared/ecs/change_log.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal {

template <class T>
class Observer {
 public:
  /// REQUIRES: the registry, whose log is on, outlives this.
  explicit Observer(const Registry& registry) : registry_(&registry) {
    SHOAL_ASSERT(registry.log().enabled(),
                 "an observer reads the change log; switch it on: log().set_enabled(true)");
  }

  /// fn(Entity). n log n in the entries of the log; allocates while it grows only, as for_each_removed.
  template <class F>
  void for_each_constructed(F fn) {
    for_each_net([&](const NetChange& change) {
      if (change.kind == NetKind::Added || change.kind == NetKind::Reset) fn(change.entity);
    });
  }
  /// fn(Entity).
  template <class F>
  void for_each_removed(F fn) {
    for_each_net([&](const NetChange& change) {
      if (change.kind == NetKind::Removed || change.kind == NetKind::Reset) fn(change.entity);
    });
  }
  /// fn(Entity, const T&), for a tag fn(Entity). O(size / 512 + what changed), and the log once.
  template <class F>
  void for_each_updated(F fn) {
    constructed_.clear();
    for_each_constructed([&](Entity entity) { constructed_.push_back(entity.index); });
    std::sort(constructed_.begin(), constructed_.end());
    const Storage<T>& pool = registry_->template storage<T>();
    pool.for_each_dirty([&](std::uint32_t index, [[maybe_unused]] const void* value) {
      if (std::binary_search(constructed_.begin(), constructed_.end(), index)) return;
      if constexpr (kIsTag<T>) {
        fn(registry_->entity_at(index));
      } else {
        fn(registry_->entity_at(index), *static_cast<const T*>(value));
      }
    });
  }

 private:
  template <class F>
  void for_each_net(F fn) {
    const ComponentType type = registry_->template component_type<T>();
    for (const NetChange& change : summary_.summarize(registry_->log().entries())) {
      if (change.type == type) fn(change);
    }
  }

  const Registry* registry_;
  ChangeSummary summary_;
  std::vector<std::uint32_t> constructed_;  // indices, sorted
};

}  // namespace shoal
