#include "shared/ecs/owning_group.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/ecs/running_system.hpp"

namespace shoal {
namespace {

bool has(std::span<StorageBase* const> pools, const StorageBase& pool) {
  return std::find(pools.begin(), pools.end(), &pool) != pools.end();
}

std::string names(std::span<StorageBase* const> pools) {
  std::string text;
  for (const StorageBase* pool : pools) text += fmt::format("{}{}", text.empty() ? "" : ", ", pool->name());
  return text;
}

[[noreturn]] void refuse_group(const std::string& name, const std::string& why) {
  assertion_failed("group", fmt::format("group of {}: {}", name, why).c_str(), __FILE__, __LINE__);
}

}  // namespace

OwningGroup::OwningGroup(const EntityTable& entities, Pools pools)
    : entities_(&entities), pools_(std::move(pools)) {
  std::vector<StorageBase*> all = pools_.owned;
  all.insert(all.end(), pools_.observed.begin(), pools_.observed.end());
  all.insert(all.end(), pools_.excluded.begin(), pools_.excluded.end());
  for (StorageBase* pool : all) {
    if (std::count(all.begin(), all.end(), pool) > 1)
      refuse_group(name(), fmt::format("{} stands there twice", pool->name()));
    if (!pool->empty()) refuse_group(name(), "it is declared before the first entity gets a component");
  }
  for (StorageBase* pool : pools_.owned) {
    for (const OwningGroup* other : pool->groups_) {
      if (!other->owns(*pool)) continue;
      refuse_group(name(),
                   fmt::format("{} is owned by the group of {} already, and a pool has one order; observe it "
                               "(Observe<...>) in one of the two",
                               pool->name(), other->name()));
    }
  }
  for (StorageBase* pool : all) {
    pool->groups_.push_back(this);
    pool->grouped_ = true;
  }
}

bool OwningGroup::owns(const StorageBase& pool) const {
  return has(pools_.owned, pool);
}

std::string OwningGroup::name() const {
  std::string text = names(pools_.owned);
  if (!pools_.observed.empty()) text += " with " + names(pools_.observed);
  if (!pools_.excluded.empty()) text += " without " + names(pools_.excluded);
  return text;
}

bool OwningGroup::belongs(std::uint32_t index) const {
  const auto in = [&](const StorageBase* pool) { return entities_->has(index, pool->type()); };
  return std::all_of(pools_.owned.begin(), pools_.owned.end(), in) &&
         std::all_of(pools_.observed.begin(), pools_.observed.end(), in) &&
         std::none_of(pools_.excluded.begin(), pools_.excluded.end(), in);
}

void OwningGroup::swap_with(std::uint32_t index, std::uint32_t place) {
  for (StorageBase* pool : pools_.owned) pool->swap_positions(pool->position(index), place);
}

void OwningGroup::after_change(std::uint32_t index) {
  const bool is_in = contains_index(index);
  const bool should_be = belongs(index);
  if (is_in == should_be) return;
  if (should_be) {
    swap_with(index, size_++);
  } else {
    leave(index);
  }
}

void OwningGroup::leave(std::uint32_t index) {
  swap_with(index, --size_);
  note_leaver(index);
}

void OwningGroup::note_leaver(std::uint32_t index) {
  ++leavers_;
  leavers_in_a_row_ = index == last_leaver_ ? leavers_in_a_row_ + 1 : 1;
  last_leaver_ = index;
}

void OwningGroup::before_removal(const StorageBase& pool, std::uint32_t index) {
  if (has(pools_.excluded, pool) || !contains_index(index)) return;
  if (!fault("group-keeps-leavers")) leave(index);
}

void OwningGroup::reorder(std::span<const std::uint32_t> order) {
  SHOAL_DEBUG_ASSERT(
      detail::may_change(*pools_.owned.front()->context_.registry, "sort", "the group " + name()),
      "structure changes in a parallel system");
  // Cycle by cycle: the pools agree on the places, so the same swaps do for all of them.
  std::vector<std::uint32_t> indices;
  indices.reserve(order.size());
  for (const std::uint32_t place : order) indices.push_back(pools_.owned.front()->indices()[place]);
  for (std::uint32_t place = 0; place < indices.size(); ++place) swap_with(indices[place], place);
  note_leaver(StorageBase::kAbsent);
}

void OwningGroup::rebuild() {
  size_ = 0;
  const StorageBase& first = *pools_.owned.front();
  // Who is swapped backwards was looked at before, and does not belong.
  for (std::uint32_t place = 0; place < first.size(); ++place) {
    const std::uint32_t index = first.indices()[place];
    if (belongs(index)) swap_with(index, size_++);
  }
}

}  // namespace shoal
