#include "shared/ecs/storage_base.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "shared/base/fault.hpp"
#include "shared/base/hash.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/owning_group.hpp"
#include "shared/ecs/running_system.hpp"

namespace shoal {

namespace {

// As memcpy of a few bytes, without the call: two copies that overlap, as wide as they may be.
template <class Word>
void copy_ends(std::byte* target, const std::byte* source, std::size_t bytes) {
  Word first, last;
  std::memcpy(&first, source, sizeof(Word));
  std::memcpy(&last, source + bytes - sizeof(Word), sizeof(Word));
  std::memcpy(target, &first, sizeof(Word));
  std::memcpy(target + bytes - sizeof(Word), &last, sizeof(Word));
}
struct TwoWords {
  std::uint64_t low, high;
};
void copy_value(std::byte* target, const std::byte* source, std::size_t bytes) {
  if (bytes >= 4 && bytes <= 8) {
    copy_ends<std::uint32_t>(target, source, bytes);
  } else if (bytes > 8 && bytes <= 16) {
    copy_ends<std::uint64_t>(target, source, bytes);
  } else if (bytes > 16 && bytes <= 32) {
    copy_ends<TwoWords>(target, source, bytes);
  } else {
    std::memcpy(target, source, bytes);
  }
}

}  // namespace

StorageBase::StorageBase(StorageContext context, ComponentType type, std::string_view name,
                         ValueOperations operations)
    : run_(operations.alignment),
      context_(context),
      stride_(operations.stable_addresses ? sizeof(void*) : operations.bytes),
      mask_bit_(type),
      plain_(operations.destroy == nullptr && !operations.stable_addresses),
      type_(type),
      operations_(operations),
      wire_id_(fnv1a32(name)),
      name_(name),
      spare_(operations.alignment) {
  if (operations.stable_addresses) slab_.emplace(operations.bytes, operations.alignment);
}

StorageBase::~StorageBase() {
  if (operations_.destroy == nullptr) return;
  if (slab_) {
    for (std::size_t at = 0; at < size(); ++at) operations_.destroy(value_place(at), 1);
  } else {
    operations_.destroy(run_.data(), size());
  }
  if (has_spare_) operations_.destroy(spare_.data(), 1);
}

void StorageBase::move_places(std::byte* target, std::byte* source, std::size_t count) const {
  if (count == 0) return;
  if (!moves_as_bytes()) {
    operations_.relocate(target, source, count);
  } else if (count == 1) {
    copy_value(target, source, stride_);
  } else {
    std::memcpy(target, source, count * stride_);
  }
}

void StorageBase::move_value(std::byte* target, std::byte* source) const {
  if (operations_.relocate != nullptr) {
    operations_.relocate(target, source, 1);
  } else {
    copy_value(target, source, operations_.bytes);
  }
}

void StorageBase::grow(std::size_t least) {
  set_capacity(MemoryRun::grown(run_.bytes(), std::max(least, std::size_t{16}) * stride_) / stride_);
}

void StorageBase::set_capacity(std::size_t capacity) {
  if (moves_as_bytes()) {
    run_.resize(capacity * stride_, size() * stride_);
  } else {
    MemoryRun run(operations_.alignment);
    run.resize(capacity * stride_, 0);
    move_places(run.data(), run_.data(), size());
    run_ = std::move(run);
  }
  capacity_ = run_.bytes() / stride_;
}

void StorageBase::reserve(std::size_t values) {
  SHOAL_DEBUG_ASSERT(may_change("reserve"), "structure changes in a parallel system");
  set_.reserve(values);
  if (stride_ != 0 && values > capacity_) set_capacity(values);
  context_.entities->note_structure_change();
}

void StorageBase::make_room(std::size_t added) {
  const std::size_t needed = size() + added;
  if (stride_ != 0 && needed > capacity_) grow(needed);
  if (needed > set_.capacity()) set_.reserve(std::max(needed, set_.capacity() + set_.capacity() / 8));
  context_.entities->note_structure_change();
}

void StorageBase::shrink_to_fit() {
  SHOAL_DEBUG_ASSERT(may_change("shrink_to_fit"), "structure changes in a parallel system");
  if (stride_ != 0 && capacity_ != size()) set_capacity(size());
  set_.shrink_to_fit();
  changes_.shrink_to_fit(size());
  context_.entities->note_structure_change();
}

std::byte* StorageBase::take_stable_place(std::byte* place) {
  return *reinterpret_cast<std::byte**>(place) = slab_->take();
}

void StorageBase::commit_range(std::span<const Entity> entities) {
  SHOAL_DEBUG_ASSERT(may_change("insert"), "structure changes in a parallel system");
  const std::size_t first = size();
  for (const Entity entity : entities) set_.insert(entity.index);
  note_additions(first);
}

void StorageBase::note_additions(std::size_t first) {
  const std::span<const std::uint32_t> added = indices().subspan(first);
  changes_.append_range(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(added.size()));
  const bool logged = context_.log->enabled();
  for (const std::uint32_t index : added) {
    context_.entities->set(index, mask_bit_);
    if (logged) context_.log->add(LogKind::Added, context_.entities->at(index), type_);
  }
  note_structure_change(kAbsent);
}

void StorageBase::end_value(std::byte* place) {
  if (on_construct_.dispatching() || on_update_.dispatching()) [[unlikely]] {
    keep_as_spare(place);
  } else if (operations_.destroy != nullptr) {
    operations_.destroy(place, 1);
  }
  if (slab_) slab_->give_back(place);
}

// In both of its callers: removal is what every destroy does once per component.
[[gnu::always_inline]] inline void StorageBase::erase_value(std::uint32_t index) {
  // The list of indices first: then the place is known, and this many are left.
  const std::uint32_t position = set_.erase(index);
  const auto last = static_cast<std::uint32_t>(size());
  if (stride_ != 0) {
    std::byte* hole = run_.data() + std::size_t{position} * stride_;
    std::byte* last_place = run_.data() + std::size_t{last} * stride_;
    if (plain_ && !on_construct_.dispatching() && !on_update_.dispatching()) [[likely]] {
      if (position != last) copy_value(hole, last_place, stride_);
    } else {
      end_value(value_place(position));
      if (position != last) move_places(hole, last_place, 1);
    }
  }
  if (!fault("lose-dirty-on-swap")) changes_.erase_at(position, last);
  if (context_.log->enabled() && !fault("log-forgets-removals"))
    context_.log->add(LogKind::Removed, context_.entities->at(index), type_);
  note_structure_change(index);
}

void StorageBase::take_from_groups(std::uint32_t index) {
  for (OwningGroup* group : groups_) group->before_removal(*this, index);
}

void StorageBase::erase_index(std::uint32_t index) {
  if (grouped_) [[unlikely]]
    take_from_groups(index);
  erase_value(index);
  context_.entities->reset(index, mask_bit_);
  if (grouped_) [[unlikely]]
    tell_groups(index);
}

void StorageBase::erase_of_dying(std::uint32_t index) {
  if (grouped_) [[unlikely]]
    take_from_groups(index);
  erase_value(index);
}

void StorageBase::tell_groups(std::uint32_t index) {
  for (OwningGroup* group : groups_) group->after_change(index);
}

void StorageBase::swap_positions(std::uint32_t a, std::uint32_t b) {
  if (a == b) return;
  if (stride_ != 0) {
    std::byte* first = run_.data() + std::size_t{a} * stride_;
    std::byte* second = run_.data() + std::size_t{b} * stride_;
    if (moves_as_bytes()) {
      std::swap_ranges(first, first + stride_, second);
    } else {
      operations_.swap(first, second);
    }
  }
  set_.swap_positions(a, b);
  changes_.swap_positions(a, b);
  note_structure_change(kAbsent);
}

void StorageBase::keep_as_spare(std::byte* place) {
  if (!has_spare_) {
    spare_.resize(operations_.bytes, 0);
    has_spare_ = true;
  } else if (operations_.destroy != nullptr) {
    operations_.destroy(spare_.data(), 1);
  }
  move_value(spare_.data(), place);
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
  SHOAL_DEBUG_ASSERT(may_change("sort"), "structure changes in a parallel system");
  // A listener runs in the middle of an operation that counts on the places of the values, clear() for one.
  if (on_construct_.dispatching() || on_update_.dispatching() || on_destroy_.dispatching()) [[unlikely]] {
    assertion_failed("registry rule",
                     fmt::format("sort of {}: a signal of this pool runs; sort it afterwards", name_).c_str(),
                     __FILE__, __LINE__);
  }
  for (const OwningGroup* group : groups_) {
    if (!group->owns(*this)) continue;
    assertion_failed("registry rule",
                     fmt::format("sort of {}: the group {} keeps its order", name_, group->name()).c_str(),
                     __FILE__, __LINE__);
  }
  if (run_.bytes() != 0) {
    // A second run, not cycles of moves: each value is written once and the writes go straight ahead.
    MemoryRun run(operations_.alignment);
    run.resize(run_.bytes(), 0);
    for (std::size_t at = 0; at < order.size(); ++at)
      move_places(run.data() + at * stride_, run_.data() + order[at] * std::size_t{stride_}, 1);
    run_ = std::move(run);
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
  if (context_.registry->dying(entity)) refuse("emplace_silently", entity, kRuleNotDying);
  if (!copyable_as_bytes()) refuse("emplace_silently", entity, "the type must be trivially copyable");
  if (std::byte* target = prepare_append(); target != nullptr) std::memcpy(target, value, operations_.bytes);
  commit_append(entity);
}

void StorageBase::replace_silently(Entity entity, const void* value) {
  const std::uint32_t at = required_position("replace_silently", entity);
  if (!copyable_as_bytes()) refuse("replace_silently", entity, "the type must be trivially copyable");
  if (operations_.bytes != 0) std::memcpy(value_place(at), value, operations_.bytes);
  changes_.mark_dirty(at);
}

void StorageBase::adopt(std::span<const std::uint32_t> indices, const std::byte* values) {
  SHOAL_ASSERT(empty() && copyable_as_bytes(),
               "adopt takes bytes into an empty pool of a type that they are");
  reserve(indices.size());
  if (slab_) {
    for (std::size_t at = 0; at < indices.size(); ++at)
      std::memcpy(new_place(at), values + at * operations_.bytes, operations_.bytes);
  } else if (stride_ != 0 && !indices.empty()) {
    std::memcpy(run_.data(), values, indices.size() * stride_);
  }
  set_.insert(indices);
  note_additions(0);
}

void StorageBase::adopt(std::span<const std::uint32_t> indices,
                        const std::function<void(std::byte* place, std::size_t at)>& construct) {
  SHOAL_ASSERT(empty() && stride_ != 0, "adopt takes values into an empty pool");
  reserve(indices.size());
  for (std::size_t at = 0; at < indices.size(); ++at) construct(new_place(at), at);
  set_.insert(indices);
  note_additions(0);
}

void StorageBase::end_values() {
  if (slab_) {
    for (std::size_t at = 0; at < size(); ++at) {
      std::byte* const place = value_place(at);
      if (operations_.destroy != nullptr) operations_.destroy(place, 1);
      slab_->give_back(place);
    }
  } else if (operations_.destroy != nullptr) {
    operations_.destroy(run_.data(), size());
  }
}

void StorageBase::copy_values(const StorageBase& other) {
  const std::size_t count = other.size();
  if (stride_ == 0 || count == 0) return;
  if (count > capacity_) {
    run_.resize(count * stride_, 0);
    capacity_ = run_.bytes() / stride_;
  }
  const auto copy = [&](std::byte* target, const void* source, std::size_t values) {
    if (operations_.copy != nullptr) {
      operations_.copy(target, source, values);
    } else {
      std::memcpy(target, source, values * operations_.bytes);
    }
  };
  if (slab_) {
    for (std::size_t at = 0; at < count; ++at) copy(new_place(at), other.value_at(at), 1);
  } else {
    copy(run_.data(), other.run_.data(), count);
  }
}

void StorageBase::copy_from(const StorageBase& other) {
  SHOAL_ASSERT(copyable() && operations_.bytes == other.operations_.bytes &&
                   operations_.copy == other.operations_.copy,
               "a pool copies one of the same type that has a copy constructor");
  end_values();
  copy_values(other);
  set_.copy_from(other.set_);
  changes_.clear();
  changes_.append_range(0, static_cast<std::uint32_t>(size()));
  note_structure_change(kAbsent);
}

void StorageBase::publish_construct(Entity entity) {
  if (contains(entity)) publish_construct_known(entity);
}
void StorageBase::publish_update(Entity entity) {
  if (contains(entity)) publish_update_known(entity);
}
void StorageBase::defer_or_publish_update(Entity entity) {
  const detail::RunningSystem& running = *detail::running_system;
  if (running.registry == context_.registry) {
    running.commands->updated(*this, entity);
  } else {
    on_update_.publish_while(*context_.registry, entity, [&] { return contains(entity); });
  }
}

bool StorageBase::may_change(const char* operation) const {
  return detail::may_change(*context_.registry, operation, name_);
}

void StorageBase::publish_destroy(Entity entity) {
  on_destroy_.publish_while(*context_.registry, entity, [] { return true; });
}

std::size_t StorageBase::memory_bytes() const {
  return run_.bytes() + (slab_ ? slab_->memory_bytes() : 0) + set_.memory_bytes() + changes_.memory_bytes();
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
