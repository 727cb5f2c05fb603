// What one client has of each chunk, and what it gets next: baselines by acknowledgement, versions in
// flight, the choice of blocks for each datagram. It knows neither sockets nor FlatBuffers; the server
// writes the frames.
//
// 1. A baseline is a version that the client acknowledged, hence decoded and found to match. It only goes
//    forward, and is pinned in its chunk as long as it is one.
// 2. A version in flight is not sent again until it is known to be lost.
// 3. Of the chunks that wait, the one that waited longest comes first: none waits for ever.
// 4. Memory is bounded by the chunks and the datagrams in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/chunk_store.hpp"
#include "shared/base/tick.hpp"
#include "shared/net/ids.hpp"
#include "shared/replication/ids.hpp"

namespace shoal {

/// Counted over all clients of a server.
struct ReplicationCounters {
  std::uint64_t blocks_encoded = 0;
  std::uint64_t blocks_sent = 0;
  std::uint64_t full_states = 0;
  std::uint64_t baseline_misses = 0;  // a baseline was not kept any more: a full state went out instead
  std::uint64_t resyncs = 0;          // full states that clients asked for
  std::uint64_t bad_resyncs = 0;      // asked for chunks or epochs that do not exist
};

/// One block of a datagram that is being put together.
struct ChosenBlock {
  ChunkId chunk;
  Epoch epoch;
  std::optional<Tick> from;
  Tick to;
  std::uint32_t hash;
  std::span<const std::byte> body;  // valid until the chunk changes
};

class ClientView {
 public:
  /// Both outlive the view.
  ClientView(ChunkStore& chunks, ReplicationCounters& counters) : chunks_(&chunks), counters_(&counters) {}
  ~ClientView();
  ClientView(const ClientView&) = delete;
  ClientView& operator=(const ClientView&) = delete;

  /// Looks for chunks that have something new for the client.
  void begin_tick(Tick now);
  /// Chooses blocks of together at most `room_bytes`, each counted with `entry_bytes` for its directory
  /// entry. Empty when nothing is due or fits. What does not leave is chosen again
  /// with the next tick.
  std::span<const ChosenBlock> choose(std::size_t room_bytes, std::size_t entry_bytes);
  /// The datagram of the last choice left under this sequence.
  void sent(Sequence sequence, Tick now);

  // The fate of each datagram is told once.
  void on_acknowledged(Sequence sequence);
  void on_lost(Sequence sequence);

  /// The client asks for the full state of a chunk. Answered at most once per kResyncTicks and chunk.
  /// Returns whether it will be answered.
  bool on_resync(ChunkId chunk, Epoch epoch, Tick now);

  /// True when the client acknowledged the current version of every chunk.
  bool has_everything() const;
  /// The version that the client is known to have.
  std::optional<Tick> baseline(ChunkId chunk) const {
    return chunk.value < subscriptions_.size() ? subscriptions_[chunk.value].baseline : std::nullopt;
  }
  /// Datagrams whose fate is not known yet.
  std::size_t in_flight() const { return in_flight_count_; }

 private:
  struct Subscription {
    Epoch epoch{1};
    std::optional<Tick> baseline;
    std::optional<Tick> newest_baseline;  // that there ever was: older acknowledgements come too late
    std::optional<Tick> sent;             // newest version that is in flight or arrived
    Tick waiting_since{};                 // when it last got something
    std::optional<Tick> resynced_at;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  struct SentBlock {
    ChunkId chunk;
    Epoch epoch;
    Tick to;
    std::uint32_t next;  // of the same datagram, or the next free one
  };
  struct SentDatagram {
    Sequence sequence{};
    std::uint32_t first_block = kNone;
  };

  /// Calls f(block) for each block of the datagram and forgets it. Nothing for one that is not in flight.
  template <class F>
  void settle(Sequence sequence, F f);
  std::uint32_t take_block(const SentBlock& block);

  ChunkStore* chunks_;
  ReplicationCounters* counters_;
  std::vector<Subscription> subscriptions_;  // by chunk id
  std::vector<ChunkId> due_;                 // not yet chosen, longest waiting first
  std::vector<ChosenBlock> chosen_;
  std::vector<SentDatagram> ring_;      // by sequence, a power of two long
  std::vector<SentBlock> sent_blocks_;  // of the datagrams in flight, and free ones
  std::uint32_t free_block_ = kNone;
  std::size_t in_flight_count_ = 0;
};

/// A second full state for the same chunk is not sent sooner than this, however often a client asks.
inline constexpr std::uint32_t kResyncTicks = 15;

}  // namespace shoal
