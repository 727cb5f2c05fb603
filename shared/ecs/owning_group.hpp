// Owning groups: pools that keep the entities which have all of their components at their front, in one order. A loop
// over a group looks nothing up and tests nothing: it is a loop over arrays. The price is paid when components come
// and go: an entity that joins or leaves is swapped, in each owned pool. `OwningGroup` is the untyped half, told by the
// pools; `Group` in group.hpp is what a user sees.
//
// Thread rule: const functions from several threads; changes from one thread while nobody reads.
// Invariants:
// 1. An entity is in the group exactly if it has every owned and every observed component and no excluded one.
// 2. The first size() places of each owned pool hold the group, in the same order.
// 3. A pool is owned by one group at most. (Observed and excluded it may be by any number.)
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/ecs/storage_base.hpp"

namespace shoal {

class OwningGroup {
 public:
  struct Pools {
    std::vector<StorageBase*> owned;     // at least one
    std::vector<StorageBase*> observed;  // their component is needed, their order stays
    std::vector<StorageBase*> excluded;
    friend bool operator==(const Pools&, const Pools&) = default;
  };

  /// REQUIRES: the pools are empty; no type stands twice; none of the owned ones has an owner.
  OwningGroup(const EntityTable& entities, Pools pools);
  OwningGroup(const OwningGroup&) = delete;
  OwningGroup& operator=(const OwningGroup&) = delete;

  const Pools& pools() const { return pools_; }
  std::uint32_t size() const { return size_; }
  bool owns(const StorageBase& pool) const;
  bool contains_index(std::uint32_t index) const { return pools_.owned.front()->position(index) < size_; }
  /// "demo.Position, demo.Velocity with demo.Health without demo.Frozen".
  std::string name() const;
  /// Entities that left so far, and sorts, for the iteration rule.
  std::uint32_t leavers() const { return leavers_; }
  /// True if nobody but this one left since then, and nothing was sorted.
  bool only_left(std::uint32_t index, std::uint32_t since) const {
    return leavers_ == since || (last_leaver_ == index && leavers_in_a_row_ >= leavers_ - since);
  }
  /// The entity at order[p] moves to p, in each owned pool. REQUIRES: each position below size() once.
  void reorder(std::span<const std::uint32_t> order);

  /// Finds its members anew, after the pools were filled or copied without a word. In the order of the first owned
  /// pool; nothing moves if they stand right. O(size of that pool).
  void rebuild();

 private:
  friend class StorageBase;

  // The pools tell: this entity has gained or lost one of the components; is about to lose this one.
  void after_change(std::uint32_t index);
  void before_removal(const StorageBase& pool, std::uint32_t index);

  bool belongs(std::uint32_t index) const;
  void leave(std::uint32_t index);
  void note_leaver(std::uint32_t index);
  void swap_with(std::uint32_t index, std::uint32_t place);

  const EntityTable* entities_;
  Pools pools_;
  std::uint32_t size_ = 0;
  std::uint32_t leavers_ = 0;
  std::uint32_t last_leaver_ = StorageBase::kAbsent;
  std::uint32_t leavers_in_a_row_ = 0;
};

}  // namespace shoal
