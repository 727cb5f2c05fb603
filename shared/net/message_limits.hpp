// The numbers of the message channels that both sides must agree on, and the bounds of their memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shared/base/limits.hpp"

namespace shoal {

/// What becomes of a message. What is only ever interesting in its newest version is state: it belongs into
/// components, and travels in frames.
enum class MessageChannel : std::uint8_t {
  Ordered,    // arrives once, in the order in which it was queued: waits for those before it
  Unordered,  // arrives once, as soon as it is complete
};
inline constexpr std::size_t kMessageChannels = 2;

/// The largest message that any channel takes.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{1} << 20;
/// Fragments begin at multiples of this, so that one bit for each unit says what is there.
inline constexpr std::size_t kMessageUnitBytes = 64;
/// Messages of a channel that are under way at once, counted from the oldest that is not complete.
inline constexpr std::uint32_t kMessageWindow = 256;
/// What a message costs beside its bytes, in windows and queues: more than the memory around it, so that empty ones
/// are bounded, too.
inline constexpr std::uint32_t kMessageCostBytes = 96;
/// Entries of both channels in one packet.
inline constexpr std::size_t kMaxFragments = 64;

/// Units of a message; an empty one has a unit without bytes.
constexpr std::uint32_t message_units(std::size_t bytes) {
  return bytes == 0 ? 1 : static_cast<std::uint32_t>((bytes - 1) / kMessageUnitBytes + 1);
}
constexpr std::uint32_t message_cost(std::size_t bytes) {
  return static_cast<std::uint32_t>(bytes) + kMessageCostBytes;
}
/// Bytes of `units` units from `first` on. REQUIRES: they lie inside the message.
constexpr std::size_t fragment_bytes(std::size_t total, std::size_t first, std::size_t units) {
  const std::size_t begin = first * kMessageUnitBytes;
  const std::size_t end = begin + units * kMessageUnitBytes;
  return (end < total ? end : total) - begin;
}

/// What one end takes on a channel. REQUIRES: window_bytes ≥ message_cost(max_message_bytes), so that the largest
/// message always passes in the end; the nearer both are, the more often the window is told.
struct MessageChannelLimits {
  std::uint32_t max_message_bytes = 0;
  std::uint32_t window_bytes = 0;  // cost of the messages that it holds at once: begun, or not fetched yet
};

struct MessageLimits {
  MessageChannelLimits ordered;
  MessageChannelLimits unordered;

  constexpr const MessageChannelLimits& of(MessageChannel channel) const {
    return channel == MessageChannel::Ordered ? ordered : unordered;
  }
};

/// What a server takes from each of its clients, who are many and not trusted: 256 KiB in all.
inline constexpr MessageLimits kServerMessageLimits{{64u << 10, 128u << 10}, {64u << 10, 128u << 10}};
/// What a client takes from its server.
inline constexpr MessageLimits kClientMessageLimits{{1u << 20, (1u << 20) + (64u << 10)},
                                                    {256u << 10, 384u << 10}};

/// Cost of the messages that wait to be sent or acknowledged on a channel; queue() refuses what exceeds it.
struct MessageQueueLimits {
  std::uint32_t ordered_bytes = message_cost(kMaxMessageBytes);
  std::uint32_t unordered_bytes = message_cost(256u << 10);

  constexpr std::uint32_t of(MessageChannel channel) const {
    return channel == MessageChannel::Ordered ? ordered_bytes : unordered_bytes;
  }
};

static_assert(message_units(kMaxMessageBytes) <= 0xFFFF, "units are counted in 16 bits on the wire");
static_assert((kMessageWindow & (kMessageWindow - 1)) == 0);

}  // namespace shoal
