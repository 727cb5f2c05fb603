// Notices what changed in the registry during a tick and writes it into the chunks, quantised. The one
// place where the game's world becomes the replicated one.
//
// 1. After `end_tick` every alive entity without the tag `Local` is bound to exactly one slot, with exactly
//    the replicated components that it has and their values as of now; nothing else is bound.
// 2. How a value was written does not matter: signalled writes are found by their dirty bits, writes
//    through a plain reference by comparing the runs that were handed out. A value whose quantised form is
//    the same is no change.
// 3. What came and went within one tick leaves no trace; what was removed and added again is a change of
//    value.
// 4. Cost follows what may have changed, not the size of the world.
#pragma once

#include <cstdint>
#include <vector>

#include "server/chunk_store.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/replication/component_table.hpp"

namespace shoal {

class ChangeTracker {
 public:
  /// REQUIRES: the registry is frozen and has every component of the table. All outlive the tracker.
  ChangeTracker(const ComponentTable& table, Registry& registry, ChunkStore& chunks);

  /// Takes over all changes since the last call, as version `now`, and clears the registry's change log and
  /// bits.
  void end_tick(Tick now);

  /// Where an entity is bound; null chunk and slot when it is not.
  struct Binding {
    Entity entity{};
    ChunkId chunk{};
    Slot slot = 0;
    bool is_bound() const { return !entity.is_null(); }
  };
  Binding binding(Entity entity) const;

 private:
  void follow_structure(Tick now);
  void follow_values();
  void reconcile(std::uint32_t index, Tick now);
  void bind(Entity entity);
  void release(Binding& binding, Tick now, DepartureReason reason, ChunkId target);
  void write_values(const Binding& binding, ComponentIndex component, const void* value);
  std::size_t slot_bits(Entity entity) const;

  const ComponentTable* table_;
  Registry* registry_;
  ChunkStore* chunks_;
  std::vector<StorageBase*> storages_;     // by component of the table
  std::vector<Binding> bindings_;          // by entity index
  std::vector<std::uint32_t> structural_;  // indices that the log names, each once
  std::vector<bool> is_structural_;
  std::vector<std::uint32_t> values_;  // of one component, quantised
};

}  // namespace shoal
