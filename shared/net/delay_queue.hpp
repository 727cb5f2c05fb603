// Datagrams that wait for their time of delivery. Ordered by time, then by arrival in the queue; at most as
// many as the constructor allows. Buffers are reused: the steady state allocates nothing. Threads: one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/time.hpp"
#include "shared/net/datagram_port.hpp"

namespace shoal {

class DelayQueue {
 public:
  explicit DelayQueue(std::size_t max_datagrams) : max_datagrams_(max_datagrams) {}

  /// A place in the queue, with the bytes copied in, for the caller to alter; null when the queue is full.
  /// REQUIRES: bytes.size() ≤ Datagram::kCapacity. The datagram is good until the next call.
  Datagram* push(Time deliver_at, const Endpoint& peer, std::span<const std::byte> bytes) {
    if (waiting_.size() >= max_datagrams_) return nullptr;
    if (free_buffers_.empty()) {
      buffers_.push_back(std::make_unique<Datagram>());
      free_buffers_.push_back(static_cast<std::uint32_t>(buffers_.size() - 1));
    }
    const std::uint32_t buffer = free_buffers_.back();
    free_buffers_.pop_back();
    Datagram& datagram = *buffers_[buffer];
    datagram.peer = peer;
    datagram.size = static_cast<std::uint16_t>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), datagram.bytes.begin());
    waiting_.push_back({deliver_at, next_order_++, buffer});
    std::push_heap(waiting_.begin(), waiting_.end(), later);
    return &datagram;
  }

  /// The first datagram whose time has come; null when there is none. It is good until the next call.
  const Datagram* pop_due(Time now) {
    if (waiting_.empty() || waiting_.front().deliver_at > now) return nullptr;
    std::pop_heap(waiting_.begin(), waiting_.end(), later);
    const std::uint32_t buffer = waiting_.back().buffer;
    waiting_.pop_back();
    free_buffers_.push_back(buffer);
    return buffers_[buffer].get();
  }

  /// Forgets all that waits.
  void clear() {
    for (const Waiting& waiting : waiting_) free_buffers_.push_back(waiting.buffer);
    waiting_.clear();
  }
  std::optional<Time> next_due() const {
    if (waiting_.empty()) return std::nullopt;
    return waiting_.front().deliver_at;
  }
  std::size_t size() const { return waiting_.size(); }

 private:
  struct Waiting {
    Time deliver_at;
    std::uint64_t order;
    std::uint32_t buffer;
  };
  static bool later(const Waiting& a, const Waiting& b) {
    return a.deliver_at != b.deliver_at ? a.deliver_at > b.deliver_at : a.order > b.order;
  }

  std::size_t max_datagrams_;
  std::uint64_t next_order_ = 0;
  std::vector<Waiting> waiting_;  // a heap, the earliest in front
  std::vector<std::unique_ptr<Datagram>> buffers_;
  std::vector<std::uint32_t> free_buffers_;
};

/// Copies what a port hands out; the bytes beyond `size` stay as they are.
inline void copy_datagram(const Datagram& source, Datagram& target) {
  target.peer = source.peer;
  target.size = source.size;
  std::memcpy(target.bytes.data(), source.bytes.data(), source.size);
}

}  // namespace shoal
