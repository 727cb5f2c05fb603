// Inputs on their way from a client to the server: each packet repeats all that the server has not
// acknowledged, so that a lost packet costs no input and no round trip.
//
// 1. The receiver hands out each input once, in the order of ticks.
// 2. Both sides hold at most kMaxInputs; the oldest gives way, counted: what is older came too late anyhow.
// Threads: one each. No allocation after construction.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "schema/protocol_generated.h"
#include "shared/base/tick.hpp"

namespace shoal {

inline constexpr std::size_t kMaxInputs = 64;
/// Payload of one input; a packet of kMaxInputs full ones would not fit, the oldest then go first.
inline constexpr std::size_t kMaxInputBytes = 64;

struct InputView {
  Tick tick;
  std::span<const std::byte> payload;
};

namespace detail {

/// A ring of inputs, the oldest first.
class InputQueue {
 public:
  /// True when the oldest had to give way.
  bool push(Tick tick, std::span<const std::byte> payload);
  void pop_front() {
    first_ = (first_ + 1) % kMaxInputs;
    --count_;
  }
  InputView at(std::size_t position) const {
    const Stored& stored = stored_[(first_ + position) % kMaxInputs];
    return {stored.tick, {stored.payload.data(), stored.size}};
  }
  std::size_t size() const { return count_; }

 private:
  struct Stored {
    Tick tick;
    std::uint8_t size = 0;
    std::array<std::byte, kMaxInputBytes> payload;
  };
  std::array<Stored, kMaxInputs> stored_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace detail

class InputSender {
 public:
  using Inputs = flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<protocol::Input>>>;

  /// REQUIRES: payload.size() ≤ kMaxInputBytes; `tick` later than that of the input before.
  void push(Tick tick, std::span<const std::byte> payload);
  /// All up to `newest` arrived (Frame.input_ack). False: it names a tick that was never pushed, nothing
  /// changed.
  bool acknowledge(Tick newest);
  /// For ClientUpdate.inputs: the oldest first, as many as fit `room_bytes`. Null when there are none.
  Inputs build(flatbuffers::FlatBufferBuilder& builder, std::size_t room_bytes) const;

  std::size_t unacknowledged() const { return queue_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  detail::InputQueue queue_;
  std::optional<Tick> newest_;
  std::uint64_t dropped_ = 0;
};

class InputReceiver {
 public:
  /// Takes what is new of an update. False: the list is not as a sender writes it (too many, too long, ticks
  /// out of order); nothing is taken.
  bool accept(const protocol::ClientUpdate& update);
  /// The next input, once. The payload is good until the next accept().
  std::optional<InputView> next();
  /// The same without taking it.
  std::optional<InputView> peek() const;
  /// For Frame.input_ack; none before the first input.
  std::optional<Tick> newest() const { return newest_; }

  std::size_t waiting() const { return queue_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  detail::InputQueue queue_;
  std::optional<Tick> newest_;
  std::uint64_t dropped_ = 0;
};

}  // namespace shoal
