#include "shared/ecs/storage_base.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <vector>

#include "shared/base/fault.hpp"
#include "shared/base/hash.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/running_system.hpp"

namespace shoal {

StorageBase::StorageBase(StorageContext context, ComponentType type, std::string_view name,
                         ValueOperations operations)
    : context_(context), type_(type), operations_(operations), wire_id_(fnv1a32(name)), name_(name) {}

StorageBase::~StorageBase() {
  if (operations_.destroy != nullptr) {
    operations_.destroy(values_, size());
    if (spare_ != nullptr) operations_.destroy(spare_, 1);
  }
  free_values(values_);
  free_values(spare_);
}

namespace {

// A cache line at least, so that spans start where vector instructions like it.
std::align_val_t run_alignment(const ValueOperations& operations) {
  return std::align_val_t{std::max<std::size_t>(operations.alignment, 64)};
}

}  // namespace

void StorageBase::free_values(std::byte* values) const {
  if (values != nullptr) ::operator delete(values, run_alignment(operations_));
}

std::byte* StorageBase::allocate(std::size_t values) const {
  return static_cast<std::byte*>(::operator new(values* operations_.bytes, run_alignment(operations_)));
}

void StorageBase::move_values(std::byte* target, std::byte* source, std::size_t count) const {
  if (count == 0) return;
  if (operations_.relocate != nullptr) {
    operations_.relocate(target, source, count);
  } else {
    std::memcpy(target, source, count * operations_.bytes);
  }
}

void StorageBase::grow(std::size_t least) {
  set_capacity(std::max({least, capacity_ + capacity_ / 2, std::size_t{16}}));
}

void StorageBase::set_capacity(std::size_t capacity) {
  std::byte* values = capacity == 0 ? nullptr : allocate(capacity);
  move_values(values, values_, size());
  free_values(values_);
  values_ = values;
  capacity_ = capacity;
}

void StorageBase::reserve(std::size_t values) {
  set_.reserve(values);
  if (operations_.bytes != 0 && values > capacity_) grow(values);
}

void StorageBase::make_room(std::size_t added) {
  const std::size_t needed = size() + added;
  if (operations_.bytes != 0 && needed > capacity_) grow(needed);
  if (needed > set_.capacity()) set_.reserve(std::max(needed, set_.capacity() + set_.capacity() / 2));
}

void StorageBase::shrink_to_fit() {
  if (operations_.bytes != 0 && capacity_ != size()) set_capacity(size());
  set_.shrink_to_fit();
  changes_.shrink_to_fit(size());
}

void StorageBase::commit_append(Entity entity) {
  SHOAL_DEBUG_ASSERT(detail::may_change(*context_.registry, "emplace", name_),
                     "structure changes in a parallel system");
  const auto at = static_cast<std::uint32_t>(size());
  set_.insert(entity.index);
  changes_.append(at);
  context_.entities->set(entity.index, type_);
  context_.log->add(LogKind::Added, entity, type_);
  note_structure_change(entity.index);
}

void StorageBase::erase_at(std::uint32_t position) {
  const std::uint32_t index = set_.packed()[position];
  const auto last = static_cast<std::uint32_t>(size() - 1);
  if (operations_.bytes != 0) {
    std::byte* hole = values_ + std::size_t{position} * operations_.bytes;
    std::byte* last_value = values_ + std::size_t{last} * operations_.bytes;
    if (on_construct_.dispatching() || on_update_.dispatching()) [[unlikely]] {
      keep_as_spare(hole);
    } else if (operations_.destroy != nullptr) {
      operations_.destroy(hole, 1);
    }
    if (position != last) move_values(hole, last_value, 1);
  }
  set_.erase_at(position);
  if (!fault("lose-dirty-on-swap")) changes_.erase_at(position, last);
  context_.entities->reset(index, type_);
  if (!fault("log-forgets-removals"))
    context_.log->add(LogKind::Removed, context_.entities->at(index), type_);
  note_structure_change(index);
}

void StorageBase::keep_as_spare(std::byte* value) {
  if (spare_ == nullptr) {
    spare_ = static_cast<std::byte*>(::operator new(operations_.bytes, run_alignment(operations_)));
  } else if (operations_.destroy != nullptr) {
    operations_.destroy(spare_, 1);
  }
  move_values(spare_, value, 1);
}

void StorageBase::sort_as(const StorageBase& other) {
  SHOAL_ASSERT(other.context_.registry == context_.registry, "sort_as a pool of another registry");
  std::vector<std::uint32_t> order;
  order.reserve(size());
  for (const std::uint32_t index : other.indices()) {
    if (const std::uint32_t at = set_.position(index); at != kAbsent) order.push_back(at);
  }
  for (std::uint32_t at = 0; at < size(); ++at) {
    if (!other.contains_index(set_.packed()[at])) order.push_back(at);
  }
  reorder(order);
}

void StorageBase::reorder(std::span<const std::uint32_t> order) {
  SHOAL_DEBUG_ASSERT(detail::may_change(*context_.registry, "sort", name_),
                     "structure changes in a parallel system");
  // A listener runs in the middle of an operation that counts on the places of the values, clear() for one.
  if (on_construct_.dispatching() || on_update_.dispatching() || on_destroy_.dispatching()) [[unlikely]] {
    assertion_failed("registry rule",
                     fmt::format("sort of {}: a signal of this pool runs; sort it afterwards", name_).c_str(),
                     __FILE__, __LINE__);
  }
  if (values_ != nullptr) {
    // A second run, not cycles of moves: each value is written once and the writes go straight ahead.
    std::byte* values = allocate(capacity_);
    for (std::size_t at = 0; at < order.size(); ++at) {
      move_values(values + at * operations_.bytes, values_ + order[at] * std::size_t{operations_.bytes}, 1);
    }
    free_values(values_);
    values_ = values;
  }
  set_.reorder(order);
  changes_.reorder(order);
  note_structure_change(kAbsent);
}

void StorageBase::mark_dirty(Entity entity) {
  changes_.mark_dirty(required_position("mark_dirty", entity));
}

bool StorageBase::is_dirty(Entity entity) const {
  return changes_.is_dirty(required_position("is_dirty", entity));
}

void StorageBase::emplace_silently(Entity entity, const void* value) {
  if (!context_.entities->alive(entity)) refuse("emplace_silently", entity, kRuleAlive);
  if (set_.contains(entity.index)) refuse("emplace_silently", entity, "the entity has the component already");
  if (!copyable_as_bytes()) refuse("emplace_silently", entity, "the type must be trivially copyable");
  if (std::byte* target = prepare_append(); target != nullptr) std::memcpy(target, value, operations_.bytes);
  commit_append(entity);
}

void StorageBase::replace_silently(Entity entity, const void* value) {
  const std::uint32_t at = required_position("replace_silently", entity);
  if (!copyable_as_bytes()) refuse("replace_silently", entity, "the type must be trivially copyable");
  if (operations_.bytes != 0)
    std::memcpy(values_ + std::size_t{at} * operations_.bytes, value, operations_.bytes);
  changes_.mark_dirty(at);
}

void StorageBase::publish_construct(Entity entity) {
  on_construct_.publish_while(*context_.registry, entity, [&] { return contains(entity); });
}
void StorageBase::publish_update(Entity entity) {
  // While systems run side by side signals wait for the end of the stage.
  if (const auto* running = detail::running_system;
      running != nullptr && running->registry == context_.registry) {
    running->commands->updated(*this, entity);
    return;
  }
  on_update_.publish_while(*context_.registry, entity, [&] { return contains(entity); });
}
void StorageBase::publish_destroy(Entity entity) {
  on_destroy_.publish_while(*context_.registry, entity, [] { return true; });
}

std::size_t StorageBase::memory_bytes() const {
  return capacity_ * operations_.bytes + set_.memory_bytes() + changes_.memory_bytes();
}

void StorageBase::refuse(const char* operation, Entity entity, const char* rule) const {
  const std::string message =
      fmt::format("{} of {} on entity {}:{} ({}): {}", operation, name_, entity.index, entity.generation,
                  entity.is_null()                   ? "null"
                  : context_.entities->alive(entity) ? "alive"
                                                     : "dead",
                  rule);
  assertion_failed("registry rule", message.c_str(), __FILE__, __LINE__);
}

}  // namespace shoal
