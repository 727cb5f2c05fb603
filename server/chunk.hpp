// A chunk on the server: the version that is current, those that came before as long as someone may need
// them, and the log of who left. The change tracker writes it once per tick; sessions read it.
//
// 1. Versions are kept while current, while younger than kHistoryTicks, or while pinned as some session's
//    baseline; of the old pinned ones at most kPinnedVersions, the oldest go first, and none behind which more
//    departed than a block can tell.
// 2. The departure log reaches back to the oldest version, so its length is bounded, too.
// 3. A block (from, to) is encoded once and kept until the chunk changes; that none fits is found out once, too.
// 4. A chunk at rest costs nothing per tick: it is trimmed by its store only while it has old versions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/limits.hpp"
#include "shared/base/tick.hpp"
#include "shared/replication/chunk_version.hpp"
#include "shared/replication/delta_codec.hpp"

namespace shoal {

/// A body that leads from a baseline, or from nothing, to the current version.
struct EncodedBlock {
  std::optional<Tick> from;
  std::uint32_t hash = 0;  // of the version it leads to
  std::size_t size = 0;
  /// Chunks into which the body says that something moved, each once. Kept with it: the departure log may have
  /// forgotten them while the body is still of use.
  std::vector<ChunkId> moved_to;
  std::array<std::byte, kMaxBlockBytes> bytes;

  std::span<const std::byte> body() const { return std::span<const std::byte>(bytes).first(size); }
};

class Chunk {
 public:
  Chunk(const ComponentTable& table, ColumnPool& pool, ChunkId id);

  ChunkId id() const { return id_; }
  /// False until the first commit: there is nothing to send yet.
  bool has_version() const { return !versions_.empty(); }
  const ChunkVersion& current() const { return versions_.back()->state; }
  /// The state of that version, or null when it is not kept any more.
  const ChunkVersion* find(Tick tick) const;
  std::span<const Departure> departures() const { return departures_; }

  /// True when the full state still fits a datagram with `bits` more …
  bool fits(std::size_t bits) const { return worst_bits_ + bits <= kMaxBlockBytes * 8; }
  /// … and a slot is free, too.
  bool has_room(std::size_t bits) const { return fits(bits) && ~pending_->bound() != 0; }
  /// True when all that the other one holds would fit in here, too.
  bool has_room_for(const Chunk& other) const {
    return fits(other.worst_bits_ - worst_full_state_bits(*table_)) &&
           bound_count() + other.bound_count() <= kChunkSlots;
  }
  std::size_t bound_count() const;

  // --- written by the change tracker, between one commit and the next ---

  /// The state that the next commit will publish.
  const ChunkVersion& pending() const { return *pending_; }
  /// REQUIRES: has_room. Returns the slot.
  Slot bind(Entity entity);
  void unbind(Slot slot, Tick now, DepartureReason reason, ChunkId target = {});
  void add_component(ComponentIndex component, Slot slot);
  void remove_component(ComponentIndex component, Slot slot);
  /// Writes the integers of all columns of a component that the slot has. Returns whether any differs.
  bool set_values(ComponentIndex component, Slot slot, std::span<const std::uint32_t> values);
  /// True when something was written since the last commit.
  bool is_dirty() const { return dirty_; }
  /// The next commit publishes a version though nothing differs.
  void renew() { dirty_ = true; }
  /// Makes the pending state version `now`. REQUIRES: later than the current version.
  void commit(Tick now);

  // --- read by sessions ---

  /// The block from that baseline to the current version; encoded now, or before by someone with the same
  /// baseline. Falls back to the full state where the delta does not fit: look at `from`. Null when the baseline is
  /// not kept any more; never without one. What is encoded now is counted, its parts in `shares`.
  const EncodedBlock* encode(std::optional<Tick> from, std::uint64_t& blocks_encoded,
                             EncodedShares* shares = nullptr);

  /// A client has this version now. Counted, for who asks which baseline most clients could share.
  void count_acknowledgement(Tick tick);
  /// How many clients said so of that version; 0 when it is not kept.
  std::uint32_t acknowledgements(Tick tick) const;

  /// Keeps a version as somebody's baseline. False when it is not there any more.
  bool pin(Tick tick);
  void unpin(Tick tick);

  /// Drops what nobody may need any more. Returns whether anything old is left to drop later.
  bool trim(Tick now);
  std::size_t version_count() const { return versions_.size(); }

 private:
  struct Version {
    ChunkVersion state;
    std::uint32_t hash;
    std::uint32_t pins;
    std::uint32_t acknowledgements;
  };

  std::size_t slot_bits(Slot slot) const;
  Version* find_version(Tick tick) const;
  std::unique_ptr<Version> take_version();

  const ComponentTable* table_;
  ChunkId id_;
  std::unique_ptr<ChunkVersion> pending_;
  bool dirty_ = true;  // existing is itself state: the empty chunk is a version too
  std::size_t worst_bits_;
  std::vector<std::unique_ptr<Version>> versions_;  // oldest first
  std::vector<std::unique_ptr<Version>> spare_;     // to be used again, with their memory
  std::vector<Departure> departures_;               // oldest first
  std::vector<std::unique_ptr<EncodedBlock>> encoded_;
  std::size_t encoded_count_ = 0;    // of `encoded_` that are about the current version
  std::vector<Tick> without_delta_;  // baselines from which no block to the current version fits
};

}  // namespace shoal
