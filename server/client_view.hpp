// What one client has of each chunk in its interest, and what it gets next: subscriptions, baselines by
// acknowledgement, versions in flight, the choice of blocks for each datagram. It knows neither sockets nor
// FlatBuffers; the server writes the frames.
//
// 1. A baseline is a version that the client acknowledged, hence decoded and found to match. It only goes
//    forward, and is pinned in its chunk as long as it is one. Of a chunk that a crowd receives clients move on together,
//    so that many have the same baseline and blocks are shared: to a version that was sent in a tick in which all were
//    sent theirs, when most have it. Who cannot keep up with that moves on alone, as all do where there is no crowd.
// 2. A version in flight is not sent again until it is known to be lost, and what it leads from is not sent
//    from nothing meanwhile: joining costs each chunk once. One version in flight is pinned, so that its
//    acknowledgement is worth something however long the way is.
// 3. A chunk's changes are due in the ticks of its rate level, the same for all clients. Of the due ones those
//    with the highest urgency leave first: age times a weight of the level. Age grows until a version is sent,
//    and a loss brings back the age that the lost one had, so none waits for ever.
// 4. A chunk that leaves the interest is told as dropped until that is acknowledged; when it comes back it has a
//    new epoch and starts from nothing.
// 5. Memory is bounded by the chunks and the datagrams in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "server/chunk_store.hpp"
#include "server/explanation.hpp"
#include "server/interest.hpp"
#include "shared/base/tick.hpp"
#include "shared/net/ids.hpp"
#include "shared/net/send_budget.hpp"
#include "shared/replication/ids.hpp"

namespace shoal {

/// Counted over all clients of a server.
struct ReplicationCounters {
  std::uint64_t blocks_encoded = 0;
  std::uint64_t blocks_sent = 0;
  std::uint64_t full_states = 0;
  std::uint64_t chunks_entered = 0;    // into interests: a full state is expected for each
  std::uint64_t baseline_misses = 0;   // a baseline was not kept any more: a full state went out instead
  std::uint64_t undeltable = 0;        // from this baseline no block fits: a full state went out instead
  std::uint64_t lost_full_states = 0;  // sent again, since the first one was lost
  std::uint64_t resyncs = 0;           // full states that clients asked for
  std::uint64_t bad_resyncs = 0;       // asked for chunks or epochs that do not exist
};

/// One block of a datagram that is being put together.
struct ChosenBlock {
  ChunkIndex index;
  ChunkId chunk;
  Epoch epoch;
  std::optional<Tick> from;
  Tick to;
  std::uint32_t hash;
  std::span<const std::byte> body;  // valid until the chunk changes
};

struct DroppedChunk {
  ChunkId chunk;
  Epoch epoch;
};

/// What a datagram has room for, in bytes.
struct DatagramRoom {
  std::size_t bytes = 0;
  std::size_t per_block = 0;    // beside the body
  std::size_t per_dropped = 0;  // chunk that left
  std::size_t per_absent = 0;   // chunk that is named and not received
};

/// The contents of one datagram, valid until the next call.
struct Choice {
  std::span<const ChosenBlock> blocks;
  std::span<const DroppedChunk> dropped;
  std::span<const ChunkId> absent;
  bool empty() const { return blocks.empty() && dropped.empty(); }
};

class ClientView {
 public:
  /// The references outlive the view. `full_states` is the budget of all clients together for full states.
  ClientView(ChunkStore& chunks, const InterestConfig& interest, ReplicationCounters& counters,
             SendBudget& full_states)
      : chunks_(&chunks),
        counters_(&counters),
        full_states_(&full_states),
        crowd_(interest.crowd),
        interest_(interest) {}
  ~ClientView();
  ClientView(const ClientView&) = delete;
  ClientView& operator=(const ClientView&) = delete;

  /// Follows the viewer, and looks for chunks that have something new for the client.
  void begin_tick(Tick now, const Viewer& viewer);
  /// Chooses what the next datagram holds. Empty when nothing is due or fits. What does not leave is chosen again
  /// with the next tick.
  Choice choose(const DatagramRoom& room);
  /// Whether something that is due was not chosen yet. Between begin_tick() and end_tick().
  bool has_due() const;
  /// The datagram of the last choice left under this sequence.
  void sent(Sequence sequence, Tick now);
  /// To be called when no more datagrams leave in this tick: what is due still goes on ageing.
  void end_tick(Tick now);

  // The fate of each datagram is told once.
  void on_acknowledged(Sequence sequence);
  void on_lost(Sequence sequence);

  /// The client asks for the full state of a chunk. Answered at most once per kResyncTicks and chunk.
  /// Returns whether it will be answered.
  bool on_resync(ChunkId chunk, Epoch epoch, Tick now);

  const Interest& interest() const { return interest_; }
  /// Whether the chunk is one of those that the client gets.
  bool receives(ChunkId chunk) const;
  /// Chunks that the client receives.
  std::size_t chunk_count() const { return subscriptions_.size(); }
  /// Of those, the ones of which it has acknowledged no version yet.
  std::size_t chunks_missing() const { return missing_; }
  /// True when the client acknowledged the current version of every chunk, and the end of every one that left.
  bool has_everything() const;
  /// For how many ticks the chunk that was passed over longest has been: due, and others left in its place.
  std::uint32_t longest_wait(Tick now) const;
  /// What the client has of a chunk, and what it waits for.
  ChunkExplanation explain(ChunkId chunk, Tick now) const;
  /// Datagrams whose fate is not known yet.
  std::size_t in_flight() const { return in_flight_count_; }
  std::size_t pending_drops() const { return drops_.size(); }
  /// More of them than a jump across the whole world explains: the client acknowledges nothing, and what it has not
  /// heard of would grow for ever.
  bool is_beyond_help() const { return drops_.size() > kMaxPendingDrops + chunks_->size(); }
  static constexpr std::size_t kMaxPendingDrops = 1024;
  /// f(ChunkIndex, ChunkId, Epoch, std::optional<Tick> baseline) for each chunk that the client receives.
  template <class F>
  void for_each_chunk(F f) const {
    for (const Subscription& subscription : subscriptions_)
      f(subscription.index, subscription.chunk, subscription.epoch, subscription.baseline);
  }

 private:
  struct Subscription {
    ChunkIndex index;
    ChunkId chunk;
    Epoch epoch;
    RateLevel level;
    bool is_waiting = false;  // a newer version than `sent` is there
    bool is_overdue = false;  // it was due, and did not leave, for the first time at
    Tick overdue_since{};
    bool is_known =
        false;  // some version left, or a move to it was told: the client shows or awaits the chunk
    float distance = 0;
    std::uint64_t seen_at = 0;  // sync in which the interest held it last
    std::optional<Tick> baseline;
    std::optional<Tick> next_baseline;      // acknowledged and pinned, for when most have it
    std::optional<Tick> acknowledged;       // newest version that the client has; none after a resync
    std::optional<Tick> ever_acknowledged;  // older acknowledgements come too late
    std::optional<Tick> sent;               // newest version that is in flight or arrived
    std::optional<Tick> pinned;             // of those in flight
    Tick waiting_since{};
    std::optional<Tick> resynced_at;
  };
  static constexpr std::uint32_t kNone = UINT32_MAX;
  // What is known of a chunk by its index, also after it left.
  struct Known {
    ChunkId chunk;
    Epoch epoch{};                       // of the last subscription; 0: none yet
    std::uint32_t subscription = kNone;  // its place, while there is one
  };
  struct SentBlock {
    ChunkIndex index;
    ChunkId chunk;
    Epoch epoch;
    bool is_full;
    bool is_common;  // left in a tick in which it was due to all clients
    Tick to;
    Tick waiting_since;
    std::uint32_t next;  // of the same datagram, or the next free one
  };
  struct SentDatagram {
    Sequence sequence{};
    std::uint32_t first_block = kNone;
    // Serial numbers of the drops that it carried, from and up to; none when equal.
    std::uint64_t first_drop = 0;
    std::uint64_t end_drop = 0;
  };
  struct Drop {
    std::uint64_t serial;
    DroppedChunk chunk;
    bool is_in_flight;
  };

  void sync_with_interest(Tick now);
  void subscribe(ChunkIndex index, const Interest::Watched& square, Tick now);
  void unsubscribe(std::size_t place);
  void unpin(const Subscription& subscription, std::optional<Tick> version);
  Subscription* find(ChunkIndex index, ChunkId chunk, Epoch epoch);
  void move_on(Subscription& subscription, Tick current);
  void collect_absent(const EncodedBlock& block);
  /// Calls f(block) for each block of the datagram and forgets it; returns the datagram as it was. Nothing for one
  /// that is not in flight.
  template <class F>
  std::optional<SentDatagram> settle(Sequence sequence, F f);
  std::uint32_t take_block(const SentBlock& block);

  ChunkStore* chunks_;
  ReplicationCounters* counters_;
  SendBudget* full_states_;
  std::uint32_t crowd_;
  Interest interest_;
  std::vector<Subscription> subscriptions_;
  std::vector<Known> known_;  // by chunk index
  std::size_t missing_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t commits_seen_ = UINT64_MAX;
  bool may_have_news_ = true;
  std::vector<std::uint32_t> due_;  // places in subscriptions_, most urgent first; kNone: chosen
  std::vector<Drop> drops_;         // oldest first
  std::uint64_t next_drop_ = 1;

  // Of the datagram at hand.
  std::vector<ChosenBlock> chosen_;
  std::vector<DroppedChunk> chosen_drops_;
  std::vector<ChunkId> absent_;
  std::uint64_t chosen_first_drop_ = 0;
  std::uint64_t chosen_end_drop_ = 0;

  std::vector<SentDatagram> ring_;      // by sequence, a power of two long
  std::vector<SentBlock> sent_blocks_;  // of the datagrams in flight, and free ones
  std::uint32_t free_block_ = kNone;
  std::size_t in_flight_count_ = 0;
};

/// A second full state for the same chunk is not sent sooner than this, however often a client asks.
inline constexpr std::uint32_t kResyncTicks = 15;

}  // namespace shoal
