// The mirror: a registry that is rebuilt from blocks, chunk by chunk, with the server's entity ids. It
// knows no sockets; the client hands it the blocks of each frame.
//
// 1. A block is verified before it is applied: decoded against the baseline it names, hashed, compared.
//    What does not match is not shown, and its chunk is asked for until a newer block of it is verified.
// 2. A block is applied whole, then signals are raised, in this order: on_construct, on_update, on_destroy
//    of removed components, on_destroy of destroyed entities. When the first listener runs, every value of
//    the block is in place, and what the block ends is still whole. One exception: an entity whose index
//    the block gives to another one is destroyed, with signals, before the new one is made.
// 3. A chunk never goes back: a block older than what is shown goes into history only.
// 4. An entity shows from the chunk with the newest version that binds it. An id that was told dead stays
//    dead.
// 5. References read as null until their entity is in the mirror, and are mended then (on_update).
// 6. Memory is bounded by the registry's limit, kMaxMirrorChunks and kMaxMirrorVersions, whatever the
//    server sends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shared/ecs/registry.hpp"
#include "shared/replication/chunk_version.hpp"
#include "shared/replication/delta_codec.hpp"

namespace shoal {

inline constexpr std::size_t kMaxMirrorChunks = 1u << 16;
/// Versions of a chunk that a client keeps: all that a server may still name as a baseline.
inline constexpr std::size_t kMaxMirrorVersions = kHistoryTicks + kPinnedVersions + 8;

/// One block as it came in a frame.
struct ReceivedBlock {
  ChunkId chunk;
  Epoch epoch;
  std::optional<Tick> from;  // none: a full state
  Tick to;
  std::uint32_t hash;
  std::span<const std::byte> body;
};

enum class BlockOutcome {
  Applied,          // verified; shown unless something newer is
  BaselineMissing,  // names a baseline that is not here: the full state is asked for
  Malformed,        // does not decode: the full state is asked for
  Mismatch,         // decodes to something else than the server has: the full state is asked for
  Outdated,         // of an epoch that is over: nothing to do
  Refused,          // beyond a limit of this client: the session cannot go on, raise the limit
};
/// True when the datagram may be acknowledged as far as this block is concerned.
constexpr bool may_be_acknowledged(BlockOutcome outcome) {
  return outcome == BlockOutcome::Applied;
}

struct MirrorCounters {
  std::uint64_t blocks_verified = 0;
  std::uint64_t full_states = 0;
  std::uint64_t late_blocks = 0;
  std::uint64_t repeated_blocks = 0;  // of versions that were verified before
  std::uint64_t mismatches = 0;
  std::uint64_t decode_errors = 0;
  std::uint64_t baseline_misses = 0;
  std::uint64_t refused_blocks = 0;     // beyond a limit of this client
  std::uint64_t outdated_blocks = 0;    // of an epoch that is over
  std::uint64_t resyncs_asked = 0;      // chunks that had to be asked for, each failure once
  std::uint64_t hidden_bindings = 0;    // an id that was told dead, or whose index a later one has
  std::uint64_t resynced_bindings = 0;  // ended without a reason
  std::uint64_t entity_updates = 0;     // entities of which a block changed at least one value
};

class Mirror {
 public:
  /// A chunk whose full state the server should send.
  struct WantedChunk {
    ChunkId chunk;
    Epoch epoch;
    Tick failed_at;  // the version that could not be verified
    std::vector<std::uint32_t>
        component_hashes;  // what it decoded to, by component; empty when it did not decode
  };

  /// `table` is the server's. `registry` is frozen and empty; of its components those are mirrored that the
  /// table names, too. Both outlive the mirror. Switches the registry's change log off.
  Mirror(const ComponentTable& table, Registry& registry);

  BlockOutcome apply(const ReceivedBlock& block);
  /// The chunk left the client's interest.
  void drop(ChunkId chunk, Epoch epoch);

  /// To be asked for with every packet until they are gone.
  std::span<const WantedChunk> wanted() const { return wanted_; }
  const MirrorCounters& counters() const { return counters_; }
  std::size_t chunk_count() const { return chunks_.size(); }
  std::size_t version_count() const;
  /// True when that version was verified and is kept: the server may name it as a baseline.
  bool has_version(ChunkId chunk, Tick tick) const;
  /// The state that is shown of a chunk, or null.
  const ChunkVersion* shown(ChunkId chunk) const;

 private:
  struct MirrorChunk {
    Epoch epoch{};
    bool dropped = false;
    std::vector<ChunkVersion> versions;  // oldest first
    std::optional<Tick> baseline;        // that the newest verified block named
    std::optional<ChunkVersion> shown;
  };
  // Who is known by an index.
  struct Record {
    Entity entity{};  // alive in the registry, or null
    ChunkId chunk{};  // which shows it
    Slot slot = 0;
    Tick shown_at{};
    bool awaits_chunk = false;          // it moved to `chunk`, which has not bound it yet
    std::uint32_t dead_generation = 0;  // this one and all before are dead
  };
  struct Change {
    Entity entity;
    ComponentIndex component;
  };

  BlockOutcome fail(MirrorChunk& chunk, const ReceivedBlock& block, BlockOutcome outcome,
                    const ChunkVersion* decoded = nullptr);
  void show(MirrorChunk& chunk, const ChunkVersion& next);
  void end_bindings(const ChunkVersion* shown, const ChunkVersion& next);
  void end_binding(const Departure& departure, ChunkId from);
  void settle_awaiting(const ChunkVersion& next);
  void make_binding(Slot slot, const ChunkVersion& next);
  void update_binding(Slot slot, const ChunkVersion& shown, const ChunkVersion& next);
  void write_component(Entity entity, ComponentIndex component, const ChunkVersion& version, Slot slot);
  void mend_references();
  void publish();
  void destroy_now(Record& record);
  Record& record_of(Entity entity);

  const ComponentTable* table_;
  Registry* registry_;
  ColumnPool pool_;                     // before the chunks: it outlives their columns
  std::vector<StorageBase*> storages_;  // by component; null when the registry does not know it
  std::vector<bool> has_references_;    // by component
  std::unordered_map<std::uint32_t, MirrorChunk> chunks_;
  std::vector<Record> records_;  // by entity index
  std::vector<Entity> awaiting_;
  std::unordered_map<std::uint64_t, Change> unresolved_;  // components with a reference that reads as null
  std::vector<WantedChunk> wanted_;
  MirrorCounters counters_;

  // Of the block at hand.
  std::vector<Departure> departures_;
  std::vector<Change> constructed_;
  std::vector<Change> updated_;
  std::vector<Change> removed_;
  std::vector<Entity> destroyed_;
  bool created_any_ = false;
  std::vector<std::uint32_t> values_;
  std::vector<std::byte> aggregate_;
};

}  // namespace shoal
