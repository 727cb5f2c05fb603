#include "shared/ecs/access.hpp"

#include <algorithm>

#include "shared/base/fault.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal {

void Access::add(const AccessItem& item) {
  if (item.slot >= modes_.size()) modes_.resize(item.slot + 1, AccessMode::None);
  const bool is_new = modes_[item.slot] == AccessMode::None;
  modes_[item.slot] = std::max(modes_[item.slot], item.mode);
  if (is_new) {
    items_.push_back(item);
    return;
  }
  const auto known = std::find_if(items_.begin(), items_.end(),
                                  [&](const AccessItem& other) { return other.slot == item.slot; });
  known->mode = modes_[item.slot];
}

std::string name_of(const AccessItem& item, const Registry& registry) {
  const StorageBase* pool = item.resource ? nullptr : registry.find_slot(item.slot);
  return std::string(pool != nullptr ? pool->name() : item.type_name);
}

std::vector<std::string> conflicts(const Access& a, const Access& b, const Registry& registry) {
  if (fault("overlook-conflicts")) return {};
  if (a.everything() == AccessMode::Write || b.everything() == AccessMode::Write) return {"everything"};
  std::vector<std::string> names;
  const auto meet = [&](AccessMode one, AccessMode other) {
    return std::max(one, other) == AccessMode::Write && std::min(one, other) != AccessMode::None;
  };
  for (const AccessItem& item : a.items()) {
    if (meet(item.mode, b.of(item.slot))) names.push_back(name_of(item, registry));
  }
  for (const AccessItem& item : b.items()) {
    // Those that `a` lists were looked at above.
    const bool listed = std::any_of(a.items().begin(), a.items().end(),
                                    [&](const AccessItem& other) { return other.slot == item.slot; });
    if (!listed && meet(a.of(item.slot), item.mode)) names.push_back(name_of(item, registry));
  }
  return names;
}

}  // namespace shoal
