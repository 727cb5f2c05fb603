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

}  // namespace

static_assert(std::has_single_bit(kMaxInFlight), "the ring of sent datagrams is indexed by a mask");

ClientView::~ClientView() {
  for (std::size_t i = 0; i < subscriptions_.size(); ++i) {
    if (subscriptions_[i].baseline) {
      (*chunks_)[ChunkId{static_cast<std::uint32_t>(i)}].unpin(*subscriptions_[i].baseline);
    }
  }
}

void ClientView::begin_tick(Tick now) {
  const std::span<const Tick> current = chunks_->current_ticks();
  while (subscriptions_.size() < current.size()) {
    subscriptions_.emplace_back();
    subscriptions_.back().waiting_since = now;
  }
  due_.clear();
  for (std::uint32_t i = 0; i < current.size(); ++i) {
    if (subscriptions_[i].sent != current[i]) due_.push_back(ChunkId{i});
  }
  std::sort(due_.begin(), due_.end(), [&](ChunkId a, ChunkId b) {
    const Tick waits_a = subscriptions_[a.value].waiting_since;
    const Tick waits_b = subscriptions_[b.value].waiting_since;
    return waits_a != waits_b ? waits_a < waits_b : a < b;
  });
}

std::span<const ChosenBlock> ClientView::choose(std::size_t room_bytes, std::size_t entry_bytes) {
  chosen_.clear();
  std::size_t used = 0;
  int misfits = 0;
  for (ChunkId& id : due_) {
    if (used + entry_bytes >= room_bytes) break;
    Chunk& chunk = (*chunks_)[id];
    Subscription& subscription = subscriptions_[id.value];
    if (subscription.baseline && !chunk.find(*subscription.baseline)) {
      ++counters_->baseline_misses;
      subscription.baseline.reset();
    }
    SHOAL_ASSERT(subscription.baseline != chunk.current().tick(), "what the client has is not due");
    const EncodedBlock& block = chunk.encode(subscription.baseline, counters_->blocks_encoded);
    if (used + entry_bytes + block.size > room_bytes) {
      // A smaller one may still fit; yet each try costs an encoding, and there may be thousands.
      if (++misfits == kMaxMisfits) break;
      continue;
    }
    used += entry_bytes + block.size;
    chosen_.push_back({id, subscription.epoch, block.from, chunk.current().tick(), block.hash, block.body()});
    id = ChunkId{UINT32_MAX};
  }
  std::erase(due_, ChunkId{UINT32_MAX});
  return chosen_;
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
  ++in_flight_count_;
  for (const ChosenBlock& block : chosen_) {
    Subscription& subscription = subscriptions_[block.chunk.value];
    subscription.sent = block.to;
    subscription.waiting_since = now;
    datagram.first_block = take_block({block.chunk, block.epoch, block.to, datagram.first_block});
    ++counters_->blocks_sent;
    if (!block.from) ++counters_->full_states;
  }
  chosen_.clear();
}

template <class F>
void ClientView::settle(Sequence sequence, F f) {
  if (ring_.empty()) return;
  SentDatagram& datagram = ring_[sequence.value & (kMaxInFlight - 1)];
  if (datagram.sequence != sequence || sequence == Sequence{}) return;
  while (datagram.first_block != kNone) {
    const std::uint32_t index = datagram.first_block;
    f(sent_blocks_[index]);
    datagram.first_block = sent_blocks_[index].next;
    sent_blocks_[index].next = free_block_;
    free_block_ = index;
  }
  datagram.sequence = {};
  --in_flight_count_;
}

void ClientView::on_acknowledged(Sequence sequence) {
  settle(sequence, [&](const SentBlock& block) {
    Subscription& subscription = subscriptions_[block.chunk.value];
    if (subscription.epoch != block.epoch) return;
    // Equal is not older: after a resync the same version counts again.
    const bool is_older = subscription.newest_baseline && block.to < *subscription.newest_baseline;
    Chunk& chunk = (*chunks_)[block.chunk];
    if (is_older || subscription.baseline == block.to || !chunk.pin(block.to)) return;
    if (subscription.baseline) chunk.unpin(*subscription.baseline);
    subscription.baseline = block.to;
    subscription.newest_baseline = block.to;
    // It may have been given up for lost: do not send again what has arrived.
    if (!subscription.sent || *subscription.sent < block.to) subscription.sent = block.to;
  });
}

void ClientView::on_lost(Sequence sequence) {
  settle(sequence, [&](const SentBlock& block) {
    if (fault("forget-lost-blocks")) return;
    Subscription& subscription = subscriptions_[block.chunk.value];
    if (subscription.epoch == block.epoch && subscription.sent == block.to)
      subscription.sent = subscription.baseline;
  });
}

bool ClientView::on_resync(ChunkId chunk, Epoch epoch, Tick now) {
  if (chunk.value >= subscriptions_.size() || subscriptions_[chunk.value].epoch != epoch) {
    ++counters_->bad_resyncs;
    return false;
  }
  Subscription& subscription = subscriptions_[chunk.value];
  if (subscription.resynced_at && (now - subscription.resynced_at->value).value < kResyncTicks) return false;
  if (fault("ignore-resync")) return false;
  subscription.resynced_at = now;
  if (subscription.baseline) (*chunks_)[chunk].unpin(*subscription.baseline);
  subscription.baseline.reset();
  subscription.sent.reset();
  ++counters_->resyncs;
  return true;
}

bool ClientView::has_everything() const {
  const std::span<const Tick> current = chunks_->current_ticks();
  if (subscriptions_.size() < current.size()) return false;
  for (std::size_t i = 0; i < current.size(); ++i) {
    if (subscriptions_[i].baseline != current[i]) return false;
  }
  return true;
}

}  // namespace shoal
