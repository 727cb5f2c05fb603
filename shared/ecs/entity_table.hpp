// The entity table: who is alive, in which generation, with which components. 4 bytes per index for the
// generation and 8 per 64 component types for the mask, no more: the queue of free indices lives in the masks
// of the dead.
//
// Thread rule: const functions from several threads; changes from one thread while nobody reads.
// Invariants:
// 1. A freed index is reused first in, first out; an index is new only when none is free.
// 2. The generation of an index rises with each death and never wraps: after Entity::kMaxGeneration the index
//    is retired. Only `create_exact` sets a generation from outside.
// 3. A reserved index is never queued. No index reaches `max_entities`; the call that would pass it changes nothing.
// 4. The mask of a living entity has exactly the bits of the pools that hold it (kept by the pools).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shared/ecs/component_type.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/ecs/memory_run.hpp"

namespace shoal {

/// Everything that decides which entities come next: what images and copies of worlds carry over.
struct EntityTableState {
  std::vector<std::uint32_t>
      generations;  // by index: of the living its own, of the free the next, of the retired 0
  std::vector<std::uint32_t> free_queue;     // every free index that is not reserved, oldest first
  std::vector<std::uint32_t> reserved_free;  // free ones that are, rising
  std::uint32_t reserved = 0;                // indices below this are created by create_exact alone
};

class EntityTable {
 public:
  /// Indices below `reserved` are created by create_exact alone. REQUIRES: 0 < max_entities < 2^31, reserved below it.
  explicit EntityTable(std::uint32_t max_entities, std::uint32_t reserved = 0);

  /// Words of 64 component types per mask. REQUIRES: no entity was created yet.
  void set_mask_words(std::uint32_t words);

  bool alive(Entity entity) const {
    // A free index stores its next generation with kFree set; a forged handle may carry that bit too.
    return entity.index < generations_.size() && generations_[entity.index] == entity.generation &&
           entity.generation < kFree;
  }
  /// The living entity of an index, or null. Any number may be asked for.
  Entity at(std::uint32_t index) const {
    if (index >= generations_.size() || generations_[index] >= kFree) return kNullEntity;
    return {index, generations_[index]};
  }

  /// None when the limit is reached. Constant time, amortised.
  std::optional<Entity> try_create() {
    if (oldest_free_ != kNone || index_end() >= max_entities_) [[unlikely]]
      return try_reuse();
    const std::uint32_t index = index_end();
    generations_.push_back(1);
    for (std::uint32_t word = 0; word < mask_words_; ++word) masks_.push_back(0);
    ++alive_count_;
    return Entity{index, 1};
  }
  /// The same as try_create for each. REQUIRES: room().
  void create(std::span<Entity> entities);
  /// How many more try_create will give.
  std::size_t room() const { return queued_count_ + (max_entities_ - index_end()); }
  /// Creates exactly this entity, of any generation: mirrors and saved worlds say which. False, and nothing
  /// changed, when the index is alive or not below the limit, or the generation is not a possible one.
  /// Constant time, apart from making the indices up to this one.
  bool create_exact(Entity entity);
  /// Ends a life; the handle is stale at once. REQUIRES: alive, mask empty.
  void release(Entity entity);

  std::size_t alive_count() const { return alive_count_; }
  std::size_t retired_count() const { return retired_count_; }
  std::uint32_t max_entities() const { return max_entities_; }
  std::uint32_t reserved() const { return reserved_; }
  /// Indices that were ever in use are below this.
  std::uint32_t index_end() const { return static_cast<std::uint32_t>(generations_.size()); }

  std::uint32_t mask_words() const { return mask_words_; }
  /// REQUIRES: index of a living entity.
  const std::uint64_t* mask(std::uint32_t index) const {
    return masks_.data() + std::size_t{index} * mask_words_;
  }
  std::uint64_t* mask(std::uint32_t index) { return masks_.data() + std::size_t{index} * mask_words_; }
  /// Where a component type stands in each mask.
  struct MaskBit {
    explicit MaskBit(ComponentType type)
        : word(type.value >> 6u), bit(std::uint64_t{1} << (type.value & 63)) {}
    std::uint32_t word;
    std::uint64_t bit;
  };
  bool has(std::uint32_t index, ComponentType type) const {
    const MaskBit in_mask(type);
    return (mask(index)[in_mask.word] & in_mask.bit) != 0;
  }
  void set(std::uint32_t index, const MaskBit& in_mask) { mask(index)[in_mask.word] |= in_mask.bit; }
  void reset(std::uint32_t index, const MaskBit& in_mask) { mask(index)[in_mask.word] &= ~in_mask.bit; }

  void clear_mask(std::uint32_t index) {
    std::uint64_t* words = mask(index);
    words[0] = 0;
    for (std::uint32_t word = 1; word < mask_words_; ++word) words[word] = 0;
  }

  /// Rises whenever a component is added or removed, or a value moves: positions and references into pools that
  /// were found at one version are good as long as it is the same.
  std::uint32_t structure_version() const { return structure_version_; }
  void note_structure_change() { ++structure_version_; }

  void reserve(std::size_t entities);
  std::size_t memory_bytes() const;

  EntityTableState state() const;
  /// Becomes that state: what lives has no components yet. Handles of the time before mean nothing now. REQUIRES:
  /// nobody is alive; `state` is one that state() can give, of at most max_entities indices (who reads one from
  /// outside checks it: shared/image).
  void restore(const EntityTableState& state);
  /// Becomes `other`, masks included. REQUIRES: its indices are at most max_entities, its masks as wide.
  void copy_from(const EntityTable& other);

 private:
  static constexpr std::uint32_t kFree = 0x80000000;
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::optional<Entity> try_reuse();
  void append_index();
  void enqueue(std::uint32_t index);
  void unlink(std::uint32_t index);
  std::uint64_t& links(std::uint32_t index) { return masks_[std::size_t{index} * mask_words_]; }

  std::uint32_t max_entities_;
  std::uint32_t reserved_;
  std::uint32_t mask_words_ = 1;
  // Alive: the generation. Free: kFree | the next generation. Retired: kFree alone.
  PlainList<std::uint32_t> generations_;
  // Alive: the mask. Free: the first word links the queue, previous index << 32 | next index.
  PlainList<std::uint64_t> masks_;
  std::uint32_t structure_version_ = 0;
  std::uint32_t oldest_free_ = kNone;
  std::uint32_t newest_free_ = kNone;
  std::size_t queued_count_ = 0;
  std::size_t alive_count_ = 0;
  std::size_t retired_count_ = 0;
};

}  // namespace shoal
