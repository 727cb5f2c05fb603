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
// 4. An entity shows, per audience, from the chunk with the newest version that binds it, and exists while any
//    audience binds it. An id that was told dead stays dead.
// 5. References read as null until their entity is in the mirror, and are mended then (on_update).
// 6. A chunk that left the interest takes along what it shows; its late blocks are known by their epoch, and what
//    moves into it ends at once.
// 7. Memory is bounded by the registry's limit, kMaxMirrorChunks and kMaxMirrorVersions, whatever the
//    server sends.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "shared/ecs/registry.hpp"
#include "shared/replication/chunk_version.hpp"
#include "shared/replication/delta_codec.hpp"

namespace shoal {

inline constexpr std::size_t kMaxMirrorChunks = 1u << 16;
/// Chunks that left of which the epoch is remembered, against datagrams that are late.
inline constexpr std::size_t kMaxDroppedChunks = 4096;
/// Versions of a chunk that a client keeps: all that a server may still name as a baseline.
inline constexpr std::size_t kMaxMirrorVersions = kMirrorVersions + 1;

/// One block as it came in a frame.
struct ReceivedBlock {
  ChunkId chunk;
  Epoch epoch;
  std::optional<Tick> from;  // none: a full state
  Tick to;
  std::uint32_t hash;
  std::span<const std::byte> body;
  /// Of its frame: chunks that this client does not receive, though something may move there.
  std::span<const ChunkId> absent{};
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
  return outcome == BlockOutcome::Applied || outcome == BlockOutcome::Outdated;
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
  /// table names, too. Both outlive the mirror.
  Mirror(const ComponentTable& table, Registry& registry);

  BlockOutcome apply(const ReceivedBlock& block);
  /// The chunk left the client's interest.
  void drop(ChunkId chunk, Epoch epoch);

  /// To be asked for with every packet until they are gone.
  std::span<const WantedChunk> wanted() const { return wanted_; }
  const MirrorCounters& counters() const { return counters_; }
  /// Chunks that are received, whether shown already or not.
  std::size_t chunk_count() const { return chunks_.size() - dropped_count_; }
  /// Of those, the ones that are shown.
  std::size_t shown_count() const { return shown_count_; }
  /// Chunks that left and are remembered.
  std::size_t dropped_count() const { return dropped_count_; }
  std::size_t version_count() const;
  /// True when that version was verified and is kept: the server may name it as a baseline.
  bool has_version(ChunkId chunk, Tick tick) const;
  /// Whether what is known of the entity is of that version of its chunk, or of a later one: by the first audience that it
  /// shows. Also true of who is known to be dead and shows no more.
  bool is_as_new_as(Entity entity, Tick version) const;
  /// The state that is shown of a chunk, or null.
  const ChunkVersion* shown(ChunkId chunk) const;

 private:
  // Versions never change once they are verified: what is shown is one of the history, not a copy.
  using VersionPointer = std::shared_ptr<const ChunkVersion>;
  struct MirrorChunk {
    Epoch epoch{};
    bool dropped = false;
    std::vector<VersionPointer> versions;  // oldest first
    std::optional<Tick> baseline;          // that the newest verified block named
    VersionPointer shown;
    std::uint64_t shows = 0;  // slots of `shown` whose entities show from here
  };
  // Where the components of one audience of an entity come from.
  struct Source {
    enum class State : std::uint8_t {
      None,      // from nowhere: it has none
      Shown,     // from this slot
      Awaiting,  // it moved to `chunk`, which has not bound it yet: the last values stay
    };
    ChunkId chunk{};
    Slot slot = 0;
    Tick moved_at{};  // Awaiting: `chunk` has told when it is at this version
    State state = State::None;
  };
  // Who is known by an index.
  struct Record {
    Entity entity{};  // alive in the registry, or null
    std::array<Source, kAudiences> sources{};
    std::uint32_t dead_generation = 0;  // this one and all before are dead
    Source& operator[](Audience audience) { return sources[static_cast<std::size_t>(audience)]; }
  };
  struct Awaiting {
    Entity entity;
    Audience audience;
    friend bool operator==(const Awaiting&, const Awaiting&) = default;
  };
  // A component with references that read as null.
  struct Unresolved {
    Entity entity;
    ComponentIndex component;
    std::vector<std::uint32_t> targets;  // indices of whom it refers to
  };
  struct Change {
    Entity entity;
    ComponentIndex component;
  };

  BlockOutcome fail(MirrorChunk& chunk, const ReceivedBlock& block, BlockOutcome outcome,
                    const ChunkVersion* decoded = nullptr);
  void show(MirrorChunk& chunk, VersionPointer next_version);
  void end_bindings(MirrorChunk& chunk, std::uint64_t ended, const ChunkVersion& next);
  void end_binding(MirrorChunk& chunk, const Departure& departure, ChunkId from);
  void leave_source(Record& record, Audience audience);
  void end_source(Record& record, Audience audience);
  void settle_awaiting(const ChunkVersion& next);
  void make_binding(MirrorChunk& chunk, Slot slot, const ChunkVersion& next);
  void update_bindings(std::uint64_t slots, const ChunkVersion& shown, const ChunkVersion& next);
  void write_component(Entity entity, ComponentIndex component, const ChunkVersion& version, Slot slot);
  void set_unresolved(Entity entity, ComponentIndex component, std::span<const std::uint32_t> targets);
  void mend_references();
  void mend(const Change& change, std::size_t told);
  MirrorChunk* find_or_open(ChunkId chunk, Epoch epoch);
  void forget_oldest_drops();
  void publish();
  void destroy_now(Record& record);
  Record& record_of(Entity entity);

  const ComponentTable* table_;
  Registry* registry_;
  ColumnPool pool_;                     // before the chunks: it outlives their columns
  std::vector<StorageBase*> storages_;  // by component; null when the registry does not know it
  std::vector<bool> has_references_;    // by component
  std::unordered_map<std::uint32_t, MirrorChunk> chunks_;  // with those that left, for a while
  std::deque<ChunkId> drops_;                              // oldest first
  std::size_t dropped_count_ = 0;
  std::size_t shown_count_ = 0;
  std::vector<Record> records_;  // by entity index
  std::vector<Awaiting> awaiting_;
  std::unordered_map<std::uint64_t, Unresolved> unresolved_;  // by component and entity index
  std::unordered_map<std::uint32_t, std::unordered_set<std::uint64_t>> waiting_for_;  // keys, by target index
  std::vector<WantedChunk> wanted_;
  MirrorCounters counters_;

  // Of the block at hand.
  std::vector<Departure> departures_;
  std::vector<Change> constructed_;
  std::vector<Change> updated_;
  std::vector<Change> removed_;
  std::vector<Entity> destroyed_;
  std::vector<Entity> created_;
  std::span<const ChunkId> absent_;
  std::vector<std::uint32_t> targets_;
  std::vector<std::uint32_t> values_;
  std::vector<std::byte> aggregate_;
};

}  // namespace shoal
