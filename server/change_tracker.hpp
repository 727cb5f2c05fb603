// Notices what changed in the registry during a tick and writes it into the chunks, quantised. The one
// place where the game's world becomes the replicated one.
//
// 1. After `end_tick` every alive entity without the tag `Local` is bound to at most one slot per audience: of
//    everyone, when it has a component for everyone or no replicated component at all; of its team and of its
//    owner, when it has components for them and says whose it is (shared/ecs/affiliation.hpp). The slot carries
//    exactly the components of that audience that it has, with their values as of now; nothing else is bound.
// 2. The slot for everyone lies in the square where the entity stands, with hysteresis; what has no place is in
//    the "always" square.
// 3. How a value was written does not matter: signalled writes are found by their dirty bits, writes
//    through a plain reference by comparing the runs that were handed out. A value whose quantised form is
//    the same is no change.
// 4. What came and went within one tick leaves no trace; what was removed and added again is a change of
//    value.
// 5. Cost follows what may have changed, not the size of the world.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/chunk_store.hpp"
#include "server/square.hpp"
#include "shared/ecs/affiliation.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/replication/component_table.hpp"

namespace shoal {

class ChangeTracker {
 public:
  /// REQUIRES: the registry is frozen and has every component of the table, OnTeam and OwnedBy. All outlive the
  /// tracker.
  ChangeTracker(const ComponentTable& table, Registry& registry, ChunkStore& chunks,
                const InterestConfig& interest);

  /// Takes over all changes since the last call, as version `now`, and clears the registry's change log and
  /// bits.
  void end_tick(Tick now);

  /// Where an entity is bound for an audience.
  struct Binding {
    ChunkIndex chunk{};
    Slot slot = 0;
    bool is_bound() const { return chunk != ChunkIndex{}; }
  };
  Binding binding(Entity entity, Audience audience = Audience::Everyone) const;
  /// The square in which the entity's components for that audience belong; none if it has none to show. What it is,
  /// not where it is bound: computed from the registry. REQUIRES: alive.
  std::optional<SquareKey> square_of(Entity entity, Audience audience) const;
  /// Where the entity stands; none without the interest component.
  std::optional<Place> place_of(Entity entity) const;

 private:
  // What is bound of whoever lives, or lived until a moment ago, at an index.
  struct Record {
    Entity entity{};
    std::array<Binding, kAudiences> bindings{};
    Binding& operator[](Audience audience) { return bindings[static_cast<std::size_t>(audience)]; }
  };

  void follow_structure(Tick now);
  void follow_values();
  void follow_affiliation();
  void follow_places(std::uint32_t index, const std::uint32_t* values);
  void move_some_together(Tick now);
  void settle(std::uint32_t index);
  void reconcile(std::uint32_t index, Tick now);
  void reconcile(Record& record, Audience audience, Tick now);
  void follow_components(Record& record, Audience audience, Tick now);
  void move(Record& record, Audience audience, ChunkIndex target, Tick now);
  void bind(Record& record, Audience audience, ChunkIndex index);
  void release(Record& record, Audience audience, Tick now, DepartureReason reason, ChunkId target = {});
  void release_all(Record& record, Tick now, DepartureReason reason);
  void write_values(const Binding& binding, ComponentIndex component, const void* value);
  std::size_t slot_bits(Entity entity, Audience audience) const;
  bool has_any(Entity entity, Audience audience) const;

  const ComponentTable* table_;
  Registry* registry_;
  ChunkStore* chunks_;
  InterestConfig interest_;
  std::vector<StorageBase*> storages_;    // by component of the table
  std::vector<Record> records_;           // by entity index
  std::vector<std::uint32_t> unsettled_;  // indices whose bindings may be wrong, each once
  std::vector<bool> is_unsettled_;
  mutable std::vector<std::uint32_t> values_;  // of one component, quantised
};

}  // namespace shoal
