// Messages as they come from one peer: put together from fragments in any order, handed out once each.
//
// 1. Ordered messages are handed out in the order of their numbers, unordered ones when they are complete; each
//    once, however often its fragments come.
// 2. Nothing from the wire is believed: what no sender of ours writes is an error, and the session should end.
// 3. The cost of what is held on a channel, fetched messages not counted, is at most its window: an honest peer
//    knows the window and keeps to it, any other is an error.
// 4. Memory: about 2 KiB beside this object while idle; at most the windows, one bit for each unit, and 16 KiB
//    for each channel. Two allocations for a message, one if it has no more than 4 KiB.
// Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "schema/protocol_generated.h"
#include "shared/net/ids.hpp"
#include "shared/net/message_limits.hpp"
#include "shared/net/unit_set.hpp"

namespace shoal {

/// What no honest peer sends. Each ends the session.
enum class MessagesError : std::uint8_t {
  TooManyFragments,  // above kMaxFragments
  WrongBodies,       // their bytes are not those of the fragments
  EmptyFragment,     // no unit
  TooLarge,          // above what this side takes
  OutsideMessage,    // a unit behind the message's end
  OutsideWindow,     // a number too far ahead
  Contradiction,     // another size or other bytes than before
  Overrun,           // more at once than the window that it was told
  WrongLimit,        // it claims to have fetched what was never sent
};
inline constexpr std::size_t kMessagesErrors = 9;
std::string_view to_string(MessagesError error);

struct ReceivedMessage {
  MessageChannel channel = MessageChannel::Ordered;
  std::unique_ptr<std::byte[]> bytes;  // aligned as operator new does, so that a FlatBuffer may begin here
  std::uint32_t size = 0;

  std::span<const std::byte> span() const { return {bytes.get(), size}; }
};

class MessageReceiver {
 public:
  /// `first`: where numbers and costs begin; 0 but in tests.
  explicit MessageReceiver(const MessageLimits& own, std::uint32_t first = 0);

  /// Takes all fragments of a verified table. After an error the receiver may have taken some: end the session.
  std::optional<MessagesError> take(const protocol::Messages& messages);
  /// The next message, once. What is fetched makes room in the window; fetch all after each packet, or leave
  /// some to slow the peer down.
  std::optional<ReceivedMessage> next();

  /// Cost of all messages that the peer may have begun, modulo 2^32: what Messages says of a channel.
  std::uint32_t limit(MessageChannel channel) const;
  /// Whether the peer must be told a new limit, in a packet of its own if there is no other: it may wait for it.
  bool must_tell_limit() const;
  /// The channel's limit, if it is not known to have arrived; for a packet that leaves now.
  std::optional<std::uint32_t> limit_to_tell(MessageChannel channel) const;
  /// Packet `sequence` tells what limit_to_tell() said.
  void told(Sequence sequence);
  void settle(Sequence sequence, bool acknowledged);

  /// Cost of what is held and not fetched.
  std::size_t held_bytes(MessageChannel channel) const { return of(channel).held; }
  std::size_t memory_bytes() const;

 private:
  enum class State : std::uint8_t { Absent, Partial, Complete, Gone };  // Gone: handed on
  struct Message {
    std::unique_ptr<std::byte[]> bytes;
    std::uint32_t total = 0;
    State state = State::Absent;
    UnitSet received;
  };
  struct Channel {
    std::deque<Message> messages;  // from the oldest that is not Gone
    std::uint32_t first = 0;       // number of the front
    std::uint32_t held = 0;
    std::uint32_t fetched = 0;  // cost, of all ever
    std::uint32_t told = 0;     // limit, in the newest packet that tells
    std::uint32_t known = 0;    // limit that the peer is known to know
  };

  Channel& of(MessageChannel channel) { return channels_[static_cast<std::size_t>(channel)]; }
  const Channel& of(MessageChannel channel) const { return channels_[static_cast<std::size_t>(channel)]; }
  std::optional<MessagesError> take_fragment(MessageChannel name, const protocol::FragmentEntry& entry,
                                             std::span<const std::byte> bytes);
  std::optional<MessagesError> put(Message& message, const protocol::FragmentEntry& entry,
                                   std::span<const std::byte> bytes) const;
  void hand_on(MessageChannel name, Message& message);
  void advance(MessageChannel name);

  MessageLimits own_;
  std::array<Channel, kMessageChannels> channels_;
  std::deque<ReceivedMessage> ready_;
  Sequence told_in_;
};

}  // namespace shoal
