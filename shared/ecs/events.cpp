#include "shared/ecs/events.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace shoal {

void Events::add_one_tick(Registry& registry, ComponentType type) {
  const StorageBase& pool = registry.storage(type);
  if (std::find(one_tick_.begin(), one_tick_.end(), type) != one_tick_.end()) {
    assertion_failed("added once", fmt::format("add_one_tick of {} twice", pool.name()).c_str(), __FILE__,
                     __LINE__);
  }
  one_tick_.push_back(type);
}

void Events::end_tick(Registry& registry) {
  SHOAL_ASSERT(!ending_, "end_tick() from a listener that end_tick() called");
  ending_ = true;
  for (const auto end_queue : queues_) end_queue(registry);
  // By number: a listener may add a further type.
  for (std::size_t i = 0; i < one_tick_.size(); ++i) remove_from_all(registry, one_tick_[i]);
  ending_ = false;
}

void Events::remove_from_all(Registry& registry, ComponentType type) {
  const StorageBase& pool = registry.storage(type);
  // A copy of the holders: listeners add, remove and destroy, and the pool moves under our hands.
  holders_.clear();
  for (std::size_t at = 0; at < pool.size(); ++at) holders_.push_back(pool.entity_at(at));
  for (const Entity holder : holders_) {
    if (registry.alive(holder)) registry.remove(holder, type);
  }
}

}  // namespace shoal
