#include "server/client_view.hpp"

#include <algorithm>
#include <bit>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/net/transport_limits.hpp"

namespace shoal {
namespace {

/// Blocks that may turn out too large for the rest of a datagram before it is sent as it is.
constexpr int kMaxMisfits = 3;
/// A baseline of one's own is better than one that is so much older.
constexpr std::int32_t kMaxBaselineLagTicks = 16;
/// Dropped chunks in one datagram; the others go with the next.
constexpr std::size_t kMaxDropsPerDatagram = 32;

// A far chunk's tick of waiting counts a quarter of a near one's; yet it counts, so it comes to its turn.
std::uint64_t urgency(Tick waiting_since, Tick now, RateLevel level) {
  return (std::uint64_t{(now - waiting_since.value).value} + 1) << (kRateLevels - 1 - level.value);
}

// Chunks take turns, so that not all are due in one tick; a tick of a slow level is one of each faster level, too.
bool is_due(ChunkId chunk, RateLevel level, Tick now) {
  return ((now.value + chunk.number()) & (level.period_ticks() - 1)) == 0;
}

}  // namespace

static_assert(std::has_single_bit(kMaxInFlight), "the ring of sent datagrams is indexed by a mask");

ClientView::~ClientView() {
  for (const Subscription& subscription : subscriptions_) {
    unpin(subscription, subscription.baseline);
    unpin(subscription, subscription.next_baseline);
    unpin(subscription, subscription.pinned);
    chunks_->unfollow(subscription.index);
  }
}

void ClientView::unpin(const Subscription& subscription, std::optional<Tick> version) {
  if (version) (*chunks_)[subscription.index].unpin(*version);
}

// --- interest ----------------------------------------------------------------------------------------------

void ClientView::sync_with_interest(Tick now) {
  ++syncs_;
  for (const Interest::Watched& square : interest_.squares()) {
    for (const ChunkIndex index : chunks_->chunks_of(square.square)) subscribe(index, square, now);
  }
  for (std::size_t place = subscriptions_.size(); place-- > 0;) {
    if (subscriptions_[place].seen_at != syncs_) unsubscribe(place);
  }
}

void ClientView::subscribe(ChunkIndex index, const Interest::Watched& square, Tick now) {
  if (index.value >= known_.size()) known_.resize(chunks_->index_end());
  Known& known = known_[index.value];
  const ChunkId chunk = (*chunks_)[index].id();
  if (known.subscription != kNone) {
    Subscription& subscription = subscriptions_[known.subscription];
    SHOAL_DEBUG_ASSERT(subscription.chunk == chunk, "a chunk is not freed while it is followed");
    subscription.seen_at = syncs_;
    subscription.level = square.level;
    subscription.distance = square.distance;
    return;
  }
  if (known.chunk != chunk || known.epoch == Epoch{}) known = {chunk, Epoch{0}};
  ++known.epoch.value;
  if (known.epoch.value == 0) ++known.epoch.value;
  if (fault("reuse-epoch")) known.epoch = Epoch{1};
  known.subscription = static_cast<std::uint32_t>(subscriptions_.size());
  subscriptions_.push_back({.index = index,
                            .chunk = chunk,
                            .epoch = known.epoch,
                            .level = square.level,
                            .overdue_since = {},
                            .distance = square.distance,
                            .seen_at = syncs_,
                            .baseline = {},
                            .next_baseline = {},
                            .acknowledged = {},
                            .ever_acknowledged = {},
                            .sent = {},
                            .pinned = {},
                            .waiting_since = now,
                            .resynced_at = {}});
  chunks_->follow(index);
  ++missing_;
  ++counters_->chunks_entered;
}

void ClientView::unsubscribe(std::size_t place) {
  const Subscription& subscription = subscriptions_[place];
  unpin(subscription, subscription.baseline);
  unpin(subscription, subscription.next_baseline);
  unpin(subscription, subscription.pinned);
  if (!subscription.baseline) --missing_;
  // Of what the client never heard it needs no end. What it was told of this epoch stands for all before it: one word
  // for each chunk, however often it comes and goes before a client acknowledges anything.
  if (subscription.is_known && !fault("forget-drops")) {
    std::erase_if(drops_, [&](const Drop& drop) { return drop.chunk.chunk == subscription.chunk; });
    drops_.push_back({next_drop_++, {subscription.chunk, subscription.epoch}, false});
  }
  known_[subscription.index.value].subscription = kNone;
  const ChunkIndex index = subscription.index;
  if (place + 1 != subscriptions_.size()) {
    subscriptions_[place] = subscriptions_.back();
    known_[subscriptions_[place].index.value].subscription = static_cast<std::uint32_t>(place);
  }
  subscriptions_.pop_back();
  chunks_->unfollow(index);
}

ClientView::Subscription* ClientView::find(ChunkIndex index, ChunkId chunk, Epoch epoch) {
  if (index.value >= known_.size()) return nullptr;
  const Known& known = known_[index.value];
  if (known.subscription == kNone || known.chunk != chunk || known.epoch != epoch) return nullptr;
  return &subscriptions_[known.subscription];
}

bool ClientView::receives(ChunkId chunk) const {
  const ChunkIndex index = chunks_->index_of(chunk);
  return index.value < known_.size() && known_[index.value].chunk == chunk &&
         known_[index.value].subscription != kNone;
}

// --- what leaves -------------------------------------------------------------------------------------------

void ClientView::begin_tick(Tick now, const Viewer& viewer) {
  due_.clear();
  if (interest_.update(viewer, *chunks_)) {
    sync_with_interest(now);
    may_have_news_ = true;
  }
  if (commits_seen_ != chunks_->commits()) may_have_news_ = true;
  commits_seen_ = chunks_->commits();
  if (!may_have_news_) return;
  may_have_news_ = false;

  const std::span<const Tick> current = chunks_->current_ticks();
  for (std::uint32_t place = 0; place < subscriptions_.size(); ++place) {
    Subscription& subscription = subscriptions_[place];
    const Tick newest = current[subscription.index.value];
    if (subscription.sent == newest) {
      // Perhaps given up for lost and arrived after all: then nothing waits any more.
      subscription.is_waiting = false;
      subscription.is_overdue = false;
      continue;
    }
    may_have_news_ = true;
    if (!std::exchange(subscription.is_waiting, true)) subscription.waiting_since = now;
    const bool first_is_under_way = !subscription.baseline && subscription.sent;
    if (first_is_under_way) continue;
    if (!is_due(subscription.chunk, subscription.level, now) && !subscription.is_overdue &&
        subscription.baseline)
      continue;
    due_.push_back(place);
  }
  std::sort(due_.begin(), due_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Subscription& left = subscriptions_[a];
    const Subscription& right = subscriptions_[b];
    const auto left_urgency = urgency(left.waiting_since, now, left.level);
    const auto right_urgency = urgency(right.waiting_since, now, right.level);
    if (left_urgency != right_urgency) return left_urgency > right_urgency;
    if (left.distance != right.distance) return left.distance < right.distance;
    return left.chunk < right.chunk;
  });
}

// A block that tells of a move to a chunk that the client does not receive says so in the same datagram; the client
// would wait for that chunk for ever.
void ClientView::collect_absent(const EncodedBlock& block) {
  for (const ChunkId target : block.moved_to) {
    if (receives(target)) {
      // The client waits for it from now on, so it must hear when it waits in vain.
      subscriptions_[known_[chunks_->index_of(target).value].subscription].is_known = true;
      continue;
    }
    if (std::find(absent_.begin(), absent_.end(), target) == absent_.end()) absent_.push_back(target);
  }
}

Choice ClientView::choose(const DatagramRoom& room) {
  chosen_.clear();
  chosen_drops_.clear();
  absent_.clear();
  std::size_t used = 0;
  chosen_first_drop_ = chosen_end_drop_ = 0;
  for (const Drop& drop : drops_) {
    // What is told is a run of serial numbers: one of another datagram in between would end with this one.
    if (drop.is_in_flight && !chosen_drops_.empty() && !fault("mix-drops")) break;
    if (drop.is_in_flight) continue;
    if (chosen_drops_.size() == kMaxDropsPerDatagram || used + room.per_dropped > room.bytes / 2) break;
    if (chosen_drops_.empty()) chosen_first_drop_ = drop.serial;
    chosen_end_drop_ = drop.serial + 1;
    chosen_drops_.push_back(drop.chunk);
    used += room.per_dropped;
  }
  int misfits = 0;
  for (std::uint32_t& place : due_) {
    if (place == kNone) continue;
    if (used + room.per_block >= room.bytes) break;
    Subscription& subscription = subscriptions_[place];
    Chunk& chunk = (*chunks_)[subscription.index];
    if (fault("starve-far-chunks") && subscription.level > RateLevel{0}) continue;
    if (!subscription.baseline && !full_states_->may_send_state()) continue;
    move_on(subscription, chunk.current().tick());
    SHOAL_ASSERT(subscription.baseline != chunk.current().tick(), "what the client has is not due");
    const EncodedBlock* encoded =
        chunk.encode(subscription.baseline, counters_->blocks_encoded, chunks_->shares());
    if (!encoded) {
      ++counters_->baseline_misses;
      // As after a resync: what was sent leads nowhere any more, and must not be waited for.
      unpin(subscription, std::exchange(subscription.next_baseline, std::nullopt));
      subscription.baseline.reset();
      subscription.acknowledged.reset();
      subscription.sent.reset();
      ++missing_;
      if (!full_states_->may_send_state()) continue;
      encoded = chunk.encode(std::nullopt, counters_->blocks_encoded, chunks_->shares());
    }
    const EncodedBlock& block = *encoded;
    const std::size_t absent_before = absent_.size();
    if (!fault("skip-absent")) collect_absent(block);
    const std::size_t cost = room.per_block + block.size + (absent_.size() - absent_before) * room.per_absent;
    if (used + cost > room.bytes) {
      absent_.resize(absent_before);
      // A smaller one may still fit; yet each try costs an encoding, and there may be thousands.
      if (++misfits == kMaxMisfits) break;
      continue;
    }
    used += cost;
    if (!block.from) full_states_->spend_state(block.size);
    chosen_.push_back({subscription.index, subscription.chunk, subscription.epoch, block.from,
                       chunk.current().tick(), block.hash, block.body()});
    place = kNone;
  }
  return {chosen_, chosen_drops_, absent_};
}

bool ClientView::has_due() const {
  return std::any_of(due_.begin(), due_.end(), [](std::uint32_t place) { return place != kNone; }) ||
         std::any_of(drops_.begin(), drops_.end(), [](const Drop& drop) { return !drop.is_in_flight; });
}

std::uint32_t ClientView::take_block(const SentBlock& block) {
  if (free_block_ == kNone) {
    sent_blocks_.push_back(block);
    return static_cast<std::uint32_t>(sent_blocks_.size() - 1);
  }
  const std::uint32_t index = free_block_;
  free_block_ = sent_blocks_[index].next;
  sent_blocks_[index] = block;
  return index;
}

void ClientView::sent(Sequence sequence, Tick now) {
  if (ring_.empty()) ring_.resize(kMaxInFlight);
  SentDatagram& datagram = ring_[sequence.value & (kMaxInFlight - 1)];
  SHOAL_ASSERT(datagram.sequence == Sequence{},
               "the transport tells each datagram's fate before its number returns");
  datagram.sequence = sequence;
  datagram.first_drop = chosen_first_drop_;
  datagram.end_drop = chosen_end_drop_;
  ++in_flight_count_;
  for (Drop& drop : drops_) {
    if (drop.serial >= chosen_first_drop_ && drop.serial < chosen_end_drop_) drop.is_in_flight = true;
  }
  for (const ChosenBlock& block : chosen_) {
    Subscription& subscription = *find(block.index, block.chunk, block.epoch);
    const Tick waiting_since = std::exchange(subscription.waiting_since, now);
    subscription.is_waiting = false;
    subscription.is_overdue = false;
    subscription.is_known = true;
    subscription.sent = block.to;
    if (!subscription.pinned && (*chunks_)[block.index].pin(block.to)) subscription.pinned = block.to;
    const RateLevel slowest{kRateLevels - 1};
    const bool is_common = is_due(subscription.chunk, slowest, now) || fault("any-baseline");
    datagram.first_block = take_block({block.index, block.chunk, block.epoch, !block.from, is_common,
                                       block.to, waiting_since, datagram.first_block});
    ++counters_->blocks_sent;
    if (!block.from) {
      ++counters_->full_states;
      if (subscription.baseline) ++counters_->undeltable;
    }
  }
  chosen_.clear();
  chosen_drops_.clear();
  chosen_first_drop_ = chosen_end_drop_ = 0;
}

void ClientView::end_tick(Tick now) {
  for (const std::uint32_t place : due_) {
    if (place == kNone) continue;
    Subscription& subscription = subscriptions_[place];
    if (!std::exchange(subscription.is_overdue, true)) subscription.overdue_since = now;
  }
  due_.clear();
}

// --- what became of it -------------------------------------------------------------------------------------

template <class F>
std::optional<ClientView::SentDatagram> ClientView::settle(Sequence sequence, F f) {
  if (ring_.empty()) return std::nullopt;
  SentDatagram& datagram = ring_[sequence.value & (kMaxInFlight - 1)];
  if (datagram.sequence != sequence || sequence == Sequence{}) return std::nullopt;
  const SentDatagram settled = datagram;
  while (datagram.first_block != kNone) {
    const std::uint32_t index = datagram.first_block;
    f(sent_blocks_[index]);
    datagram.first_block = sent_blocks_[index].next;
    sent_blocks_[index].next = free_block_;
    free_block_ = index;
  }
  datagram = {};
  --in_flight_count_;
  return settled;
}

void ClientView::on_acknowledged(Sequence sequence) {
  const auto datagram = settle(sequence, [&](const SentBlock& block) {
    Subscription* subscription = find(block.index, block.chunk, block.epoch);
    if (!subscription) return;
    Chunk& chunk = (*chunks_)[block.index];
    const auto unpin_in_flight = [&] {
      if (!subscription->pinned || *subscription->pinned > block.to) return;
      chunk.unpin(*subscription->pinned);
      subscription->pinned.reset();
    };
    // Equal is not older: after a resync the same version counts again.
    const bool is_older = subscription->ever_acknowledged && block.to < *subscription->ever_acknowledged;
    if (is_older || subscription->baseline == block.to) return unpin_in_flight();
    subscription->acknowledged = subscription->ever_acknowledged = block.to;
    // It may have been given up for lost: do not send again what has arrived.
    if (!subscription->sent || *subscription->sent < block.to) subscription->sent = block.to;
    may_have_news_ = true;

    if (block.is_common) chunk.count_acknowledgement(block.to);
    // At rest all come to have the same one anyway, and the chunk keeps no older version for their sake.
    const bool moves_alone = !subscription->baseline || chunk.current().tick() == block.to ||
                             chunks_->followers(block.index) < crowd_;
    const bool is_wanted = block.is_common || moves_alone ||
                           ticks_between(*subscription->baseline, block.to) > kMaxBaselineLagTicks;
    if (!is_wanted) return;
    // The client need not keep what is older than that, and we may not have kept it: nothing can lead from it.
    const bool may_be_forgotten =
        ticks_between(block.to, *subscription->sent) >= static_cast<std::int32_t>(kMirrorVersions);
    if (may_be_forgotten || !chunk.pin(block.to)) {
      unpin_in_flight();
      if (subscription->baseline) return;
      // Without any baseline it is as if it were lost.
      if (subscription->sent == block.to) subscription->sent.reset();
      subscription->acknowledged.reset();
      return;
    }
    unpin_in_flight();
    unpin(*subscription, std::exchange(subscription->next_baseline, std::nullopt));
    if (!moves_alone) {
      subscription->next_baseline = block.to;
      return;
    }
    if (!subscription->baseline) --missing_;
    unpin(*subscription, subscription->baseline);
    subscription->baseline = block.to;
  });
  if (!datagram || datagram->first_drop == datagram->end_drop) return;
  std::erase_if(drops_, [&](const Drop& drop) {
    return drop.serial >= datagram->first_drop && drop.serial < datagram->end_drop;
  });
}

void ClientView::on_lost(Sequence sequence) {
  const auto datagram = settle(sequence, [&](const SentBlock& block) {
    if (fault("forget-lost-blocks")) return;
    Subscription* subscription = find(block.index, block.chunk, block.epoch);
    if (!subscription) return;
    if (subscription->pinned == block.to) {
      (*chunks_)[block.index].unpin(block.to);
      subscription->pinned.reset();
    }
    if (subscription->sent != block.to || subscription->acknowledged == block.to) return;
    subscription->sent = subscription->acknowledged;
    if (block.is_full) ++counters_->lost_full_states;
    // It has waited since then, and goes on as if it had never left.
    subscription->is_waiting = true;
    subscription->waiting_since = std::min(subscription->waiting_since, block.waiting_since);
    may_have_news_ = true;
  });
  if (!datagram || datagram->first_drop == datagram->end_drop) return;
  for (Drop& drop : drops_) {
    if (drop.serial >= datagram->first_drop && drop.serial < datagram->end_drop) drop.is_in_flight = false;
  }
}

// Three quarters of those who receive the chunk are most: the others lost a datagram, or have just come.
void ClientView::move_on(Subscription& subscription, Tick current) {
  if (!subscription.next_baseline) return;
  const Chunk& chunk = (*chunks_)[subscription.index];
  const std::uint32_t most = chunks_->followers(subscription.index) * 3 / 4;
  const bool most_have_it = chunk.acknowledgements(*subscription.next_baseline) >= most;
  const bool is_left_behind = ticks_between(*subscription.baseline, current) > kMaxBaselineLagTicks;
  if (!most_have_it && !is_left_behind && !fault("any-baseline")) return;
  unpin(subscription, subscription.baseline);
  subscription.baseline = std::exchange(subscription.next_baseline, std::nullopt);
}

bool ClientView::on_resync(ChunkId chunk, Epoch epoch, Tick now) {
  const ChunkIndex index = chunks_->index_of(chunk);
  Subscription* subscription = find(index, chunk, epoch);
  if (!subscription) {
    // Of an epoch that is over it was asked in good faith.
    const bool was_there = index.value < known_.size() && known_[index.value].chunk == chunk;
    if (!was_there || epoch == Epoch{}) ++counters_->bad_resyncs;
    return false;
  }
  if (subscription->resynced_at && (now - subscription->resynced_at->value).value < kResyncTicks)
    return false;
  if (fault("ignore-resync")) return false;
  subscription->resynced_at = now;
  unpin(*subscription, subscription->baseline);
  unpin(*subscription, subscription->next_baseline);
  unpin(*subscription, subscription->pinned);
  if (subscription->baseline) ++missing_;
  subscription->baseline.reset();
  subscription->next_baseline.reset();
  subscription->acknowledged.reset();
  subscription->pinned.reset();
  subscription->sent.reset();
  may_have_news_ = true;
  ++counters_->resyncs;
  return true;
}

// --- what there is -----------------------------------------------------------------------------------------

bool ClientView::has_everything() const {
  const std::span<const Tick> current = chunks_->current_ticks();
  return drops_.empty() &&
         std::all_of(subscriptions_.begin(), subscriptions_.end(), [&](const auto& subscription) {
           return subscription.acknowledged == current[subscription.index.value];
         });
}

ChunkExplanation ClientView::explain(ChunkId chunk, Tick now) const {
  ChunkExplanation result;
  const ChunkIndex index = chunks_->index_of(chunk);
  if (!receives(chunk)) return result;
  const Subscription& subscription = subscriptions_[known_[index.value].subscription];
  result.is_subscribed = true;
  result.epoch = subscription.epoch;
  result.level = subscription.level;
  result.distance = subscription.distance;
  if ((*chunks_)[index].has_version()) result.current = (*chunks_)[index].current().tick();
  result.sent = subscription.sent;
  result.acknowledged = subscription.acknowledged;
  result.baseline = subscription.baseline;
  result.is_in_flight = subscription.sent && subscription.acknowledged != subscription.sent;
  result.is_waiting = subscription.sent != result.current;
  if (!result.is_waiting) {
    result.sent_at = subscription.waiting_since;
    return result;
  }
  const Tick since = subscription.is_waiting ? subscription.waiting_since : now;
  result.age_ticks = (now - since.value).value;
  result.urgency = urgency(since, now, subscription.level);
  result.is_overdue = subscription.is_overdue;
  const std::uint32_t period = subscription.level.period_ticks();
  for (std::uint32_t ahead = 1; ahead <= period && !result.next_due; ++ahead) {
    if (is_due(chunk, subscription.level, now + ahead)) result.next_due = now + ahead;
  }
  return result;
}

std::uint32_t ClientView::longest_wait(Tick now) const {
  std::uint32_t longest = 0;
  for (const Subscription& subscription : subscriptions_) {
    if (subscription.is_overdue) longest = std::max(longest, (now - subscription.overdue_since.value).value);
  }
  return longest;
}

}  // namespace shoal
