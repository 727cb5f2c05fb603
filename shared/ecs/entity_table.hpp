// The entity table: who is alive, in which generation, with which components. 4 bytes per index for the
// generation and 8 per 64 component types for the mask, no more: the queue of free indices lives in the masks
// of the dead.
//
// Thread rule: const functions from several threads; changes from one thread while nobody reads.
// Invariants:
// 1. A freed index is reused first in, first out; an index is new only when none is free.
// 2. The generation of an index rises with each death and never wraps: after Entity::kMaxGeneration the index
//    is retired. Only `create_exact` sets a generation from outside.
// 3. No index reaches `max_entities`; the call that would pass it changes nothing.
// 4. The mask of a living entity has exactly the bits of the pools that hold it (kept by the pools).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shared/ecs/component_type.hpp"
#include "shared/ecs/entity.hpp"

namespace shoal {

/// Everything that decides which entities come next: what images and copies of worlds carry over.
struct EntityTableState {
  std::vector<std::uint32_t>
      generations;  // by index: of the living its own, of the free the next, of the retired 0
  std::vector<std::uint32_t> free_queue;  // every free index, oldest first
};

class EntityTable {
 public:
  /// REQUIRES: 0 < max_entities < 2^31.
  explicit EntityTable(std::uint32_t max_entities);

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
  std::optional<Entity> try_create();
  /// Creates exactly this entity, of any generation: mirrors and saved worlds say which. False, and nothing
  /// changed, when the index is alive or not below the limit, or the generation is not a possible one.
  /// Constant time, apart from making the indices up to this one.
  bool create_exact(Entity entity);
  /// Ends a life; the handle is stale at once. REQUIRES: alive, mask empty.
  void release(Entity entity);

  std::size_t alive_count() const { return alive_count_; }
  std::size_t retired_count() const { return retired_count_; }
  std::uint32_t max_entities() const { return max_entities_; }
  /// Indices that were ever in use are below this.
  std::uint32_t index_end() const { return static_cast<std::uint32_t>(generations_.size()); }

  std::uint32_t mask_words() const { return mask_words_; }
  /// REQUIRES: index of a living entity.
  const std::uint64_t* mask(std::uint32_t index) const {
    return masks_.data() + std::size_t{index} * mask_words_;
  }
  std::uint64_t* mask(std::uint32_t index) { return masks_.data() + std::size_t{index} * mask_words_; }
  bool has(std::uint32_t index, ComponentType type) const {
    return (mask(index)[type.value >> 6] >> (type.value & 63)) & 1;
  }
  void set(std::uint32_t index, ComponentType type) {
    mask(index)[type.value >> 6] |= std::uint64_t{1} << (type.value & 63);
  }
  void reset(std::uint32_t index, ComponentType type) {
    mask(index)[type.value >> 6] &= ~(std::uint64_t{1} << (type.value & 63));
  }

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

  void append_index();
  void enqueue(std::uint32_t index);
  void unlink(std::uint32_t index);
  std::uint64_t& links(std::uint32_t index) { return masks_[std::size_t{index} * mask_words_]; }

  std::uint32_t max_entities_;
  std::uint32_t mask_words_ = 1;
  // Alive: the generation. Free: kFree | the next generation. Retired: kFree alone.
  std::vector<std::uint32_t> generations_;
  // Alive: the mask. Free: the first word links the queue, previous index << 32 | next index.
  std::vector<std::uint64_t> masks_;
  std::uint32_t oldest_free_ = kNone;
  std::uint32_t newest_free_ = kNone;
  std::size_t alive_count_ = 0;
  std::size_t retired_count_ = 0;
};

}  // namespace shoal
