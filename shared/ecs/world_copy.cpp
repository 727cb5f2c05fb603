#include "shared/ecs/world_copy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/assert.hpp"

namespace shoal {

std::string copy_obstacle(const Registry& from, const Registry& to) {
  const std::size_t types = std::max(from.pools_.size(), to.pools_.size());
  for (std::size_t i = 0; i < types; ++i) {
    if (i >= from.pools_.size() || i >= to.pools_.size()) {
      const bool is_missing_in_source = i >= from.pools_.size();
      return fmt::format("{} is registered in the {} only: register the same types in the same order",
                         (is_missing_in_source ? to : from).pools_[i]->name(),
                         is_missing_in_source ? "target" : "source");
    }
    const StorageBase& source = *from.pools_[i];
    const StorageBase& target = *to.pools_[i];
    if (source.name() != target.name()) {
      return fmt::format("component {} is {} here and {} there: register the same types in the same order", i,
                         source.name(), target.name());
    }
    if (from.slots_[i] != to.slots_[i]) {
      return fmt::format("{} is another C++ type in the target: register the same one", source.name());
    }
    if (!source.copyable()) {
      return fmt::format(
          "{} has no copy constructor: give it one, or keep such values outside of the registry",
          source.name());
    }
  }
  if (from.entities_.reserved() != to.entities_.reserved()) {
    return fmt::format(
        "the source reserves {} entity indices, the target {}: make RegistryLimits::reserved_indices the "
        "same",
        from.entities_.reserved(), to.entities_.reserved());
  }
  if (from.entities_.index_end() > to.max_entities()) {
    return fmt::format(
        "the source has {} entity indices, the target allows {}: raise RegistryLimits::max_entities",
        from.entities_.index_end(), to.max_entities());
  }
  return {};
}

void copy_world(const Registry& from, Registry& to) {
  SHOAL_ASSERT(from.frozen_ && to.frozen_, "copy_world before freeze()");
  SHOAL_ASSERT(&from != &to, "copy_world of a registry onto itself");
  SHOAL_ASSERT(from.endings_.empty() && to.endings_.empty(), "copy_world while on_destroy runs");
  if (const std::string obstacle = copy_obstacle(from, to); !obstacle.empty())
    assertion_failed("copy_world", obstacle.c_str(), __FILE__, __LINE__);

  const auto log_all = [&](LogKind component_kind, bool born) {
    if (!to.log_.enabled()) return;
    to.for_each_entity([&](Entity entity) {
      if (born) to.log_.add(LogKind::Born, entity);
      for (const auto& pool : to.pools_) {
        if (to.entities_.has(entity.index, pool->type())) to.log_.add(component_kind, entity, pool->type());
      }
      if (!born) to.log_.add(LogKind::Died, entity);
    });
  };
  log_all(LogKind::Removed, false);
  to.entities_.copy_from(from.entities_);
  for (std::size_t i = 0; i < from.pools_.size(); ++i) to.pools_[i]->copy_from(*from.pools_[i]);
  to.rebuild_groups();
  log_all(LogKind::Added, true);
}

}  // namespace shoal
