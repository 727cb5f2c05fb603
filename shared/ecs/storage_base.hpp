// The pool of one component type, without its type: sparse set, values in one contiguous run, change bits,
// signals. Everything that does not need the C++ type is here and compiled once; `Storage<T>` is the typed
// shell.
//
// Thread rule: const functions from several threads; changes from one thread while nobody reads.
// Invariants:
// 1. Value number p belongs to the entity whose index is indices()[p]; a tag has no values.
// 2. Every addition and removal, silent ones too, keeps the entity's mask, the change log and the change bits
// right.
// 3. Removal moves the last value into the hole. References into a pool hold until the next addition or
// removal in it, and until it is sorted, shrunk or given room. Of a type with stable addresses
// (kStableAddress) the run holds pointers, the values lie in a slab, and references hold until the value ends.
// 4. Whatever moves a value, the run of a pool or its list of indices raises the entity table's structure version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/assert.hpp"
#include "shared/ecs/change_bits.hpp"
#include "shared/ecs/change_log.hpp"
#include "shared/ecs/component_type.hpp"
#include "shared/ecs/entity_table.hpp"
#include "shared/ecs/memory_run.hpp"
#include "shared/ecs/running_system.hpp"
#include "shared/ecs/signal.hpp"
#include "shared/ecs/sparse_set.hpp"
#include "shared/ecs/value_slab.hpp"

namespace shoal {

namespace detail {
struct PieceAccess;
}

/// How values of a type are moved, swapped and destroyed. Without functions: as bytes, and not at all.
struct ValueOperations {
  std::uint32_t bytes = 0;  // 0: a tag
  std::uint32_t alignment = 1;
  bool stable_addresses = false;
  /// Moves `count` values to raw memory and ends the sources.
  void (*relocate)(void* target, void* source, std::size_t count) = nullptr;
  void (*swap)(void* a, void* b) = nullptr;
  void (*destroy)(void* values, std::size_t count) = nullptr;
  /// Makes `count` values in raw memory. Null where `copyable` is false, and where memcpy does it.
  void (*copy)(void* target, const void* source, std::size_t count) = nullptr;
  bool copyable = true;
};

class OwningGroup;

/// What a pool needs of the registry that owns it.
struct StorageContext {
  Registry* registry;
  EntityTable* entities;
  ChangeLog* log;
};

class StorageBase {
 public:
  static constexpr std::uint32_t kAbsent = SparseSet::kAbsent;

  virtual ~StorageBase();
  StorageBase(const StorageBase&) = delete;
  StorageBase& operator=(const StorageBase&) = delete;

  ComponentType type() const { return type_; }
  std::string_view name() const { return name_; }
  /// fnv1a32 of the full name.
  std::uint32_t wire_id() const { return wire_id_; }
  /// 0 for a tag.
  std::size_t value_bytes() const { return operations_.bytes; }
  std::size_t alignment_bytes() const { return operations_.alignment; }
  /// True if values may be copied as bytes, which the type-erased functions for values demand.
  bool copyable_as_bytes() const { return operations_.relocate == nullptr; }

  std::size_t size() const { return set_.size(); }
  bool empty() const { return set_.size() == 0; }
  /// The entities' indices in the order of the values.
  std::span<const std::uint32_t> indices() const { return set_.packed(); }
  bool contains(Entity entity) const {
    return context_.entities->alive(entity) && set_.contains(entity.index);
  }
  bool contains_index(std::uint32_t index) const { return set_.contains(index); }
  /// kAbsent if it is not in. Two loads; the handle's generation is not looked at.
  std::uint32_t position(std::uint32_t index) const { return set_.position(index); }
  /// REQUIRES: position < size().
  Entity entity_at(std::size_t position) const { return context_.entities->at(set_.packed()[position]); }
  /// Null if it is not in, and for a tag.
  const void* find(std::uint32_t index) const {
    const std::uint32_t at = set_.position(index);
    return at == kAbsent || operations_.bytes == 0 ? nullptr : value_at(at);
  }
  /// Null for a tag. REQUIRES: position < size().
  const void* value_at(std::size_t position) const {
    return operations_.bytes == 0 ? nullptr : const_cast<StorageBase*>(this)->value_place(position);
  }
  bool has_stable_addresses() const { return operations_.stable_addresses; }

  // What changed since clear_changes. Additions, replace, patch and mark_dirty set a bit per value; a mutable
  // reference, view or span marks the run of 64 values that it hands out.
  bool any_changes() const { return changes_.any(); }
  /// f(index, const void* value) for each value that may have changed, once. The pool must not change
  /// meanwhile.
  template <class F>
  void for_each_possibly_changed(F f) const {
    changes_.for_each(size(), [&](std::uint32_t at) { f(set_.packed()[at], value_at(at)); });
  }
  /// The same for those that somebody announced: added, replaced, patched, marked.
  template <class F>
  void for_each_dirty(F f) const {
    changes_.for_each_dirty([&](std::uint32_t at) { f(set_.packed()[at], value_at(at)); });
  }
  /// O(size / 512 + what changed); constant when nothing did.
  void clear_changes() { changes_.clear(); }
  /// REQUIRES: contains(entity).
  void mark_dirty(Entity entity);
  bool is_dirty(Entity entity) const;

  // For mirrors, which apply a whole block and publish afterwards. `value` points to value_bytes() bytes (not
  // looked at for a tag). REQUIRES: alive, neither in nor dying (emplace) or in (replace), copyable_as_bytes().
  void emplace_silently(Entity entity, const void* value);
  void replace_silently(Entity entity, const void* value);

  // For images and copies of whole worlds. No signals; all values count as new (change bits). The caller keeps
  // the table of entities right, and the groups (RegistryBase::rebuild_groups).
  /// False if the type has no copy constructor.
  bool copyable() const { return operations_.copyable; }
  /// All values, one behind the other in the order of indices(); null for a tag, and for values with stable
  /// addresses, which are not.
  const std::byte* value_run() const { return stride_ == 0 || slab_ ? nullptr : run_.data(); }
  /// Takes these entities, in this order, into their masks and the change log as well, with value number i for entity
  /// number i. REQUIRES: the pool is empty; the indices are of living entities, each once; copyable_as_bytes();
  /// `values` is not looked at for a tag.
  void adopt(std::span<const std::uint32_t> indices, const std::byte* values);
  /// The same for any type: construct(place, i) makes value number i in raw memory, and does not throw.
  void adopt(std::span<const std::uint32_t> indices,
             const std::function<void(std::byte* place, std::size_t at)>& construct);
  /// Becomes a copy of `other`; what it held ends. Masks and the change log are left alone. REQUIRES: the same C++
  /// type, copyable().
  void copy_from(const StorageBase& other);
  // The removal of a component goes through Registry::remove, which fires on_destroy with the entity whole.

  /// Calls the listeners one after the other as long as the entity still has the component.
  void publish_construct(Entity entity);
  void publish_update(Entity entity);
  /// REQUIRES: the caller keeps the entity whole (Registry does).
  void publish_destroy(Entity entity);

  Signal& on_construct() { return on_construct_; }
  Signal& on_update() { return on_update_; }
  Signal& on_destroy() { return on_destroy_; }

  /// Entities that the other pool has too come first, in its order; the rest follows in the order that it
  /// had. Two pools with one order are walked side by side without jumps. Changes follow their values; nothing
  /// is announced. O(size of both). REQUIRES: a pool of the same registry; as sort() of Storage.
  void sort_as(const StorageBase& other);

  /// Room for so many values in all: until then no addition moves the others.
  void reserve(std::size_t values);
  /// Values (of a tag: entities) that fit without growth.
  std::size_t capacity() const { return stride_ == 0 ? set_.capacity() : capacity_; }
  /// Gives back the memory that the present values do not need. O(size + pages of indices); each value moves
  /// once.
  void shrink_to_fit();
  /// Of values, indices and marks, used or not.
  std::size_t memory_bytes() const;

  // Additions, removals and sorts so far, for the iteration rule. Counted where SHOAL_DEBUG_ASSERT is on.
  std::uint32_t structure_version() const { return structure_version_; }
  /// True if each addition and removal since that version concerned this index.
  bool only_changed(std::uint32_t index, std::uint32_t since_version) const {
    const std::uint32_t changes = structure_version_ - since_version;
    return changes == 0 || (last_changed_index_ == index && changes_in_a_row_ >= changes);
  }

 protected:
  friend class Registry;
  friend class RegistryBase;
  friend struct detail::PieceAccess;

  StorageBase(StorageContext context, ComponentType type, std::string_view name, ValueOperations operations);

  // As publish_construct and publish_update. REQUIRES: contains(entity).
  void publish_construct_known(Entity entity) {
    on_construct_.publish_while(*context_.registry, entity, [&] { return contains(entity); });
  }
  void publish_update_known(Entity entity) {
    if (detail::running_system != nullptr) [[unlikely]] {
      defer_or_publish_update(entity);
      return;
    }
    on_update_.publish_while(*context_.registry, entity, [&] { return contains(entity); });
  }

  // An addition is prepared (memory), moved in by the typed shell, which does not throw, and committed.
  std::byte* prepare_append() {
    if (stride_ == 0) return nullptr;
    if (size() == capacity_) [[unlikely]]
      grow(size() + 1);
    return new_place(size());
  }
  void commit_append(Entity entity) {
    SHOAL_DEBUG_ASSERT(may_change("emplace"), "structure changes in a parallel system");
    const auto at = static_cast<std::uint32_t>(size());
    set_.insert(entity.index);
    changes_.append(at);
    context_.entities->set(entity.index, mask_bit_);
    context_.log->add(LogKind::Added, entity, type_);
    note_structure_change(entity.index);
    if (grouped_) [[unlikely]]
      tell_groups(entity.index);
  }
  /// Memory for so many more, at once. Grows by a factor, so that many small ranges do not copy the pool each.
  void make_room(std::size_t added);
  /// commit_append for each, of values that were constructed in the room that was made. REQUIRES: no groups,
  /// no stable addresses.
  void commit_range(std::span<const Entity> entities);
  /// The value at order[p] moves to p, with its entity and its marks. REQUIRES: each position once.
  void reorder(std::span<const std::uint32_t> order);
  /// Takes the component from its entity without signals. REQUIRES: it has one.
  void erase_index(std::uint32_t index);
  /// The same for an entity that loses everything, whose mask the caller clears. It joins no group on its way out.
  void erase_of_dying(std::uint32_t index);
  /// For groups, which keep their entities at the front.
  void swap_positions(std::uint32_t a, std::uint32_t b);
  /// A valid value that belongs to nobody: what is left to refer to when a listener removed the component
  /// that is being emplaced. Null before the first such removal.
  std::byte* spare() { return spare_.data(); }

  /// kAbsent: of all of them.
  void note_structure_change(std::uint32_t index) {
    context_.entities->note_structure_change();
#if SHOAL_DEBUG_ASSERTS
    ++structure_version_;
    changes_in_a_row_ = index == last_changed_index_ ? changes_in_a_row_ + 1 : 1;
    last_changed_index_ = index;
#else
    static_cast<void>(index);
#endif
  }
  /// Stops the program: which operation, which component, which entity, which rule.
  [[noreturn]] void refuse(const char* operation, Entity entity, const char* rule) const;
  std::uint32_t required_position(const char* operation, Entity entity) const {
    if (!context_.entities->alive(entity)) [[unlikely]]
      refuse(operation, entity, kRuleAlive);
    const std::uint32_t at = set_.position(entity.index);
    if (at == kAbsent) [[unlikely]]
      refuse(operation, entity, kRuleHas);
    return at;
  }
  static constexpr const char* kRuleAlive =
      "the entity must be alive; test with alive() or drop handles on on_destroy";
  static constexpr const char* kRuleNotDying =
      "the entity is dying, its on_destroy signals run; nothing can be added any more";
  static constexpr const char* kRuleHas =
      "the entity must have the component; test with all_of() or use try_get()";

  /// REQUIRES: not a tag.
  std::byte* value_place(std::size_t position) {
    std::byte* place = run_.data() + position * stride_;
    return slab_ ? *reinterpret_cast<std::byte**>(place) : place;
  }

  SparseSet set_;
  MemoryRun run_;  // the values, or pointers to them
  ChangeBits changes_;
  StorageContext context_;

 private:
  friend class OwningGroup;

  bool moves_as_bytes() const { return operations_.relocate == nullptr || operations_.stable_addresses; }
  /// Raw memory for value number `at`, which is not there yet. REQUIRES: below capacity(), not a tag.
  std::byte* new_place(std::size_t at) {
    std::byte* const place = run_.data() + at * stride_;
    return slab_ ? take_stable_place(place) : place;
  }
  /// What an addition leaves in marks, masks and log, for those of the list from `first` on.
  void note_additions(std::size_t first);
  void end_values();
  void copy_values(const StorageBase& other);
  void grow(std::size_t least);
  void set_capacity(std::size_t capacity);
  void move_places(std::byte* target, std::byte* source, std::size_t count) const;
  void move_value(std::byte* target, std::byte* source) const;
  // While systems run side by side signals wait for the end of the stage.
  void defer_or_publish_update(Entity entity);
  // For SHOAL_DEBUG_ASSERT, as RegistryBase::may_change.
  bool may_change(const char* operation) const;
  void take_from_groups(std::uint32_t index);
  void erase_value(std::uint32_t index);
  void end_value(std::byte* place);
  void keep_as_spare(std::byte* place);
  std::byte* take_stable_place(std::byte* place);
  void tell_groups(std::uint32_t index);

  std::size_t capacity_ = 0;
  std::uint32_t stride_;           // of the run; 0 for a tag
  std::optional<ValueSlab> slab_;  // of a type with stable addresses
  EntityTable::MaskBit mask_bit_;
  bool plain_ = false;                // values that are bytes in the run, and have no end
  bool grouped_ = false;              // groups_ is not empty
  std::vector<OwningGroup*> groups_;  // that this pool has a part in
  std::uint32_t structure_version_ = 0;
  std::uint32_t last_changed_index_ = kAbsent;
  std::uint32_t changes_in_a_row_ = 0;
  ComponentType type_;
  ValueOperations operations_;
  std::uint32_t wire_id_;
  std::string name_;
  Signal on_construct_;
  Signal on_update_;
  Signal on_destroy_;
  MemoryRun spare_;
  bool has_spare_ = false;
};

}  // namespace shoal
