// A bounded ring of datagrams from one thread to one other (Lamport 1983). No locks; both sides work in
// place.
//
// Threads: begin_push/finish_push belong to the producer, front/pop to the consumer, empty() to anyone.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>

#include "shared/base/assert.hpp"
#include "shared/net/datagram_port.hpp"

namespace shoal {

class DatagramRing {
 public:
  /// Holds `capacity` datagrams, rounded up to a power of two.
  explicit DatagramRing(std::size_t capacity)
      : capacity_(std::bit_ceil(capacity)), slots_(std::make_unique_for_overwrite<Datagram[]>(capacity_)) {
    SHOAL_ASSERT(capacity >= 1, "a ring holds at least one datagram");
  }

  /// The place for the next datagram, or null when the ring is full.
  Datagram* begin_push() {
    const std::size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_.load(std::memory_order_acquire) == capacity_) return nullptr;
    return &slots_[tail & (capacity_ - 1)];
  }
  void finish_push() { tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  /// The oldest datagram, or null when there is none. It stays until pop().
  const Datagram* front() const {
    const std::size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_.load(std::memory_order_acquire)) return nullptr;
    return &slots_[head & (capacity_ - 1)];
  }
  void pop() { head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

  bool empty() const {
    return head_.load(std::memory_order_acquire) == tail_.load(std::memory_order_acquire);
  }
  std::size_t capacity() const { return capacity_; }

 private:
  std::size_t capacity_;
  std::unique_ptr<Datagram[]> slots_;
  // On lines of their own: each is written by one side and read by the other all the time.
  alignas(64) std::atomic<std::size_t> head_{0};
  alignas(64) std::atomic<std::size_t> tail_{0};
};

}  // namespace shoal
