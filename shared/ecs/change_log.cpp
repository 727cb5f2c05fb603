#include "shared/ecs/change_log.hpp"

#include <algorithm>
#include <tuple>

namespace shoal {

void ChangeLog::set_enabled(bool enabled) {
  enabled_ = enabled;
  if (!enabled) entries_.clear();
}

std::span<const NetChange> ChangeSummary::summarize(std::span<const LogEntry> entries) {
  keyed_.clear();
  groups_.clear();
  net_.clear();
  for (const LogEntry& entry : entries) {
    keyed_.push_back({entry, static_cast<std::uint32_t>(keyed_.size())});
  }
  // Born and Died carry the greatest type number, so each group has its components first, then its life.
  std::sort(keyed_.begin(), keyed_.end(), [](const Keyed& a, const Keyed& b) {
    return std::tuple(a.entry.entity.bits(), a.entry.type, a.order) <
           std::tuple(b.entry.entity.bits(), b.entry.type, b.order);
  });
  for (std::uint32_t begin = 0; begin < keyed_.size();) {
    std::uint32_t end = begin;
    std::uint32_t first_order = keyed_[begin].order;
    for (; end < keyed_.size() && keyed_[end].entry.entity == keyed_[begin].entry.entity; ++end) {
      first_order = std::min(first_order, keyed_[end].order);
    }
    groups_.push_back({first_order, begin, end});
    begin = end;
  }
  std::sort(groups_.begin(), groups_.end(),
            [](const Group& a, const Group& b) { return a.first_order < b.first_order; });
  for (const Group& group : groups_) {
    append_net(std::span(keyed_).subspan(group.begin, group.end - group.begin));
  }
  return net_;
}

void ChangeSummary::append_net(std::span<const Keyed> life) {
  const Entity entity = life.front().entry.entity;
  std::size_t components_end = life.size();
  while (components_end > 0 && life[components_end - 1].entry.type == ComponentType{}) --components_end;
  // Births and deaths alternate, as additions and removals do, so the first one tells the state before and
  // the last one the state after.
  const auto births = life.subspan(components_end);
  const bool lived = births.empty() || births.front().entry.kind == LogKind::Died;
  const bool lives = births.empty() || births.back().entry.kind == LogKind::Born;
  if (!lived && !lives) return;
  if (!lived) net_.push_back({entity, {}, NetKind::Born});
  for (std::size_t begin = 0; begin < components_end;) {
    const ComponentType type = life[begin].entry.type;
    std::size_t last = begin;
    while (last + 1 < components_end && life[last + 1].entry.type == type) ++last;
    const bool had = life[begin].entry.kind == LogKind::Removed;
    const bool has = life[last].entry.kind == LogKind::Added;
    if (had && has) net_.push_back({entity, type, NetKind::Reset});
    if (had && !has) net_.push_back({entity, type, NetKind::Removed});
    if (!had && has) net_.push_back({entity, type, NetKind::Added});
    begin = last + 1;
  }
  if (!lives) net_.push_back({entity, {}, NetKind::Died});
}

}  // namespace shoal
