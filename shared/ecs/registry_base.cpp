#include "shared/ecs/registry_base.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "shared/base/fault.hpp"
#include "shared/base/hash.hpp"

namespace shoal {
namespace {

constexpr const char* kRuleNew =
    "the entity has the component already; use emplace_or_replace() or replace()";

[[noreturn]] void refuse_registration(std::string_view name, std::string_view why) {
  assertion_failed("registration", fmt::format("register_component(\"{}\"): {}", name, why).c_str(), __FILE__,
                   __LINE__);
}

}  // namespace

RegistryBase::RegistryBase(RegistryLimits limits) : entities_(limits.max_entities, limits.reserved_indices) {}

// --- Component types ---

ComponentType RegistryBase::next_type(std::string_view full_name, std::uint32_t slot) const {
  if (frozen_) refuse_registration(full_name, "the registry is frozen; register everything before freeze()");
  if (full_name.empty()) refuse_registration(full_name, "a component needs a name");
  if (pools_.size() >= 0xFFFF) refuse_registration(full_name, "too many component types");
  const std::uint32_t wire_id = fnv1a32(full_name);
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    const std::string_view known = pools_[i]->name();
    if (slots_[i] == slot) {
      refuse_registration(full_name, fmt::format("the C++ type is registered already as \"{}\"", known));
    }
    if (known == full_name) {
      refuse_registration(full_name, fmt::format("another C++ type has this name already: \"{}\"", known));
    }
    if (pools_[i]->wire_id() == wire_id) {
      refuse_registration(
          full_name, fmt::format("its wire id {:#010x} is that of \"{}\" too; rename one", wire_id, known));
    }
  }
  return {static_cast<std::uint16_t>(pools_.size())};
}

ComponentType RegistryBase::add_pool(std::unique_ptr<StorageBase> pool, std::uint32_t slot) {
  const ComponentType type = pool->type();
  by_wire_id_.emplace_back(pool->wire_id(), type);
  slots_.push_back(slot);
  pools_.push_back(std::move(pool));
  return type;
}

void RegistryBase::freeze() {
  SHOAL_ASSERT(!frozen_, "freeze() twice");
  frozen_ = true;
  std::sort(by_wire_id_.begin(), by_wire_id_.end());
  entities_.set_mask_words(static_cast<std::uint32_t>((pools_.size() + 63) / 64));
  pool_by_slot_.resize(*std::max_element(slots_.begin(), slots_.end()) + 1, nullptr);
  for (std::size_t i = 0; i < pools_.size(); ++i) pool_by_slot_[slots_[i]] = pools_[i].get();
}

std::optional<ComponentType> RegistryBase::find_component(std::uint32_t wire_id) const {
  SHOAL_ASSERT(frozen_, "find_component before freeze()");
  const auto found =
      std::lower_bound(by_wire_id_.begin(), by_wire_id_.end(), std::pair(wire_id, ComponentType{0}));
  if (found == by_wire_id_.end() || found->first != wire_id) return std::nullopt;
  return found->second;
}

std::optional<ComponentType> RegistryBase::find_component(std::string_view full_name) const {
  const auto type = find_component(fnv1a32(full_name));
  if (!type || storage(*type).name() != full_name) return std::nullopt;
  return type;
}

StorageBase& RegistryBase::registered_pool(std::uint32_t slot) const {
  const auto found = std::find(slots_.begin(), slots_.end(), slot);
  if (found == slots_.end()) refuse_unregistered(slot);
  return *pools_[static_cast<std::size_t>(found - slots_.begin())];
}

OwningGroup& RegistryBase::declare_group(OwningGroup::Pools pools) {
  SHOAL_ASSERT(!frozen_,
               "declare_group after freeze(): register everything, declare the groups, then freeze");
  return *groups_.emplace_back(std::make_unique<OwningGroup>(entities_, std::move(pools)));
}

OwningGroup& RegistryBase::find_group(const OwningGroup::Pools& pools) const {
  for (const auto& group : groups_) {
    if (group->pools() == pools) return *group;
  }
  std::string declared;
  for (const auto& group : groups_)
    declared += fmt::format("{}{}", declared.empty() ? "" : "; ", group->name());
  assertion_failed(
      "group",
      fmt::format("no group was declared with these components in this order (the first one owned is {}); "
                  "declared are: {}",
                  pools.owned.front()->name(), declared.empty() ? "none" : declared)
          .c_str(),
      __FILE__, __LINE__);
}

void RegistryBase::refuse_type(std::uint32_t slot) const {
  if (!frozen_) {
    assertion_failed("frozen()",
                     "use of a component type before freeze(): register all types, freeze, then go", __FILE__,
                     __LINE__);
  }
  refuse_unregistered(slot);
}

void RegistryBase::refuse_unregistered(std::uint32_t slot) const {
  std::string known;
  for (const auto& pool : pools_) known += fmt::format("{}{}", known.empty() ? "" : ", ", pool->name());
  assertion_failed(
      "registered",
      fmt::format("use of a component type that was not registered (type slot {}); registered are: {}", slot,
                  known)
          .c_str(),
      __FILE__, __LINE__);
}

// --- Entities ---

void RegistryBase::refuse_create() const {
  assertion_failed("create",
                   fmt::format("the limit of {} entities is reached ({} alive, {} indices retired); raise "
                               "RegistryLimits::max_entities or use try_create()",
                               max_entities(), alive_count(), entities_.retired_count())
                       .c_str(),
                   __FILE__, __LINE__);
}

void RegistryBase::refuse_unfrozen() {
  assertion_failed("frozen()", "an entity before freeze(): register all component types, freeze, then create",
                   __FILE__, __LINE__);
}

void RegistryBase::create(std::span<Entity> entities) {
  if (!frozen_) refuse_unfrozen();
  SHOAL_DEBUG_ASSERT(may_change("create"), "structure changes in a parallel system");
  if (entities.size() > entities_.room()) refuse_create();
  entities_.create(entities);
  if (!log_.enabled()) return;
  for (const Entity entity : entities) log_.add(LogKind::Born, entity);
}

bool RegistryBase::create_exact(Entity entity) {
  if (!frozen_) refuse_unfrozen();
  SHOAL_DEBUG_ASSERT(may_change("create_exact"), "structure changes in a parallel system");
  if (!entities_.create_exact(entity)) return false;
  log_.add(LogKind::Born, entity);
  return true;
}

void RegistryBase::restore_entities(const EntityTableState& state) {
  if (!frozen_) refuse_unfrozen();
  entities_.restore(state);
  for_each_entity([&](Entity entity) { log_.add(LogKind::Born, entity); });
}

void RegistryBase::rebuild_groups() {
  for (const auto& group : groups_) group->rebuild();
}

bool RegistryBase::dying(Entity entity) const {
  return std::any_of(endings_.begin(), endings_.end(), [&](const Ending& ending) {
    return ending.entity == entity && ending.type == ComponentType{};
  });
}

bool RegistryBase::may_change(const char* operation, std::string_view component) const {
  return detail::may_change(*this, operation, component);
}

void RegistryBase::destroy(Entity entity) {
  SHOAL_DEBUG_ASSERT(may_change("destroy"), "structure changes in a parallel system");
  if (!alive(entity)) [[unlikely]] {
    assertion_failed("alive", fmt::format("destroy of {}", describe(entity)).c_str(), __FILE__, __LINE__);
  }
  for (Ending& ending : endings_) {
    if (ending.entity != entity) continue;
    if (ending.type != ComponentType{}) ending.destroy_afterwards = true;
    return;
  }
  destroy_now(entity);
}

void RegistryBase::destroy_now(Entity entity) {
  const std::uint32_t words = entities_.mask_words();
  const auto for_each_component = [&](auto fn) {
    // The table of masks may move while listeners run.
    for (std::uint32_t word = 0; word < words; ++word) {
      for (std::uint64_t bits = entities_.mask(entity.index)[word]; bits != 0; bits &= bits - 1)
        fn(*pools_[word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits))]);
    }
  };
  bool heard = false;
  for_each_component([&](const StorageBase& pool) { heard |= !pool.on_destroy_.empty(); });
  if (heard) {
    endings_.push_back({entity, {}, false});
    for_each_component([&](StorageBase& pool) {
      if (!pool.on_destroy().empty()) pool.publish_destroy(entity);
    });
    endings_.pop_back();
  }
  for_each_component([&](StorageBase& pool) { pool.erase_of_dying(entity.index); });
  entities_.clear_mask(entity.index);
  entities_.release(entity);
  log_.add(LogKind::Died, entity);
}

void RegistryBase::destroy(std::span<const Entity> entities) {
  for (const Entity entity : entities) {
    if (alive(entity)) destroy(entity);
  }
}

void RegistryBase::clear() {
  // A copy: signals may create, and an index that dies early may be reborn before the walk reaches it.
  std::vector<Entity> living;
  living.reserve(alive_count());
  for_each_entity([&](Entity entity) { living.push_back(entity); });
  destroy(living);
}

std::span<const std::uint64_t> RegistryBase::component_mask(Entity entity) const {
  SHOAL_ASSERT(alive(entity), "component_mask of an entity that is not alive");
  return {entities_.mask(entity.index), entities_.mask_words()};
}

// --- Components ---

bool RegistryBase::remove_from(StorageBase& pool, Entity entity) {
  SHOAL_DEBUG_ASSERT(may_change("remove", pool.name()), "structure changes in a parallel system");
  if (!alive(entity)) [[unlikely]]
    pool.refuse("remove", entity, StorageBase::kRuleAlive);
  if (!pool.contains_index(entity.index)) return false;
  for (const Ending& ending : endings_) {
    if (ending.entity == entity && (ending.type == ComponentType{} || ending.type == pool.type()))
      return false;
  }
  if (pool.on_destroy().empty() || fault("skip-on-destroy")) {
    pool.erase_index(entity.index);
    return true;
  }
  endings_.push_back({entity, pool.type(), false});
  pool.publish_destroy(entity);
  const Ending ended = endings_.back();
  endings_.pop_back();
  pool.erase_index(entity.index);
  if (ended.destroy_afterwards) destroy(entity);
  return true;
}

void RegistryBase::clear_pool(StorageBase& pool) {
  if (pool.grouped_ && !pool.on_destroy().empty()) {
    // What signals do changes the places of those who are still to come.
    std::vector<Entity> members;
    members.reserve(pool.size());
    for (const std::uint32_t index : pool.indices()) members.push_back(entity_at(index));
    for (const Entity entity : members) {
      if (alive(entity)) remove_from(pool, entity);
    }
    return;
  }
  // From the end, so that what signals add meanwhile stays, and what they remove is not missed.
  for (std::size_t at = pool.size(); at > 0;) {
    if (--at < pool.size()) remove_from(pool, pool.entity_at(at));
  }
}

void RegistryBase::clear_changes() {
  SHOAL_DEBUG_ASSERT(may_change("clear_changes"), "changes of pools in a parallel system");
  for (const auto& pool : pools_) pool->clear_changes();
}

void RegistryBase::shrink_to_fit() {
  SHOAL_DEBUG_ASSERT(may_change("shrink_to_fit"), "structure changes in a parallel system");
  for (const auto& pool : pools_) pool->shrink_to_fit();
}

std::size_t RegistryBase::memory_bytes() const {
  std::size_t bytes = entities_.memory_bytes();
  for (const auto& pool : pools_) bytes += pool->memory_bytes();
  return bytes;
}

void RegistryBase::refuse_second(const StorageBase& pool, Entity entity) {
  pool.refuse("emplace", entity, kRuleNew);
}

void RegistryBase::refuse_dying(const StorageBase& pool, Entity entity) {
  pool.refuse("emplace", entity, StorageBase::kRuleNotDying);
}

void RegistryBase::prepare_insert(StorageBase& pool, std::span<const Entity> entities,
                                  const void* values) const {
  for (const Entity entity : entities) {
    if (!alive(entity)) pool.refuse("insert", entity, StorageBase::kRuleAlive);
    if (pool.contains_index(entity.index)) pool.refuse("insert", entity, kRuleNew);
    if (!endings_.empty() && dying(entity)) pool.refuse("insert", entity, StorageBase::kRuleNotDying);
  }
  // Living entities differ by their indices. Rising ones, as they come from create(), need no copy.
  if (std::adjacent_find(entities.begin(), entities.end(), std::greater_equal<>()) != entities.end()) {
    std::vector<Entity> sorted(entities.begin(), entities.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) pool.refuse("insert", *twice, "the entity stands in the range twice");
  }
  const std::less<const void*> before;
  SHOAL_ASSERT(before(values, pool.run_.data()) || !before(values, pool.run_.data() + pool.run_.bytes()),
               "insert of values that lie in the pool, which moves as it grows; copy them first");
  pool.make_room(entities.size());
}

std::string RegistryBase::describe(Entity entity) const {
  if (entity.is_null()) return "the null entity";
  std::string text = fmt::format("entity {}:{} {}", entity.index, entity.generation,
                                 !alive(entity)  ? "dead (or never alive)"
                                 : dying(entity) ? "dying"
                                                 : "alive");
  if (!alive(entity)) return text;
  const char* separator = ": ";
  for (const auto& pool : pools_) {
    if (!entities_.has(entity.index, pool->type())) continue;
    text += fmt::format("{}{}", separator, pool->name());
    separator = ", ";
  }
  return text;
}

}  // namespace shoal
