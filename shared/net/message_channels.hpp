// The reliable channels of one end of a session: both directions, and the table that carries them. Its transport
// owns one for each session, so what was under way ends with the session, and calls, for each session:
//
//   a packet's outcome     settle(sequence, acknowledged); true: the packet was of messages, nobody else cares
//   a Messages payload     take(); an error ends the session, else the packet is acknowledged; then next() until
//                          there is none
//   room in the budget,    while has_something_to_send(): build() into a packet, which leaves as `sequence`
//   and in the send log
//
// The limits of both sides are known before the first message: kServerMessageLimits and kClientMessageLimits.
// Threads: one. Memory: see MessageSender and MessageReceiver.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstddef>
#include <optional>
#include <span>

#include "schema/protocol_generated.h"
#include "shared/net/message_receiver.hpp"
#include "shared/net/message_sender.hpp"

namespace shoal {

class MessageChannels {
 public:
  /// `own`: what this side takes; `peer`: what the other one does. `first`: 0 but in tests.
  MessageChannels(const MessageLimits& own, const MessageLimits& peer, const MessageQueueLimits& queues = {},
                  std::uint32_t first = 0)
      : sender_(peer, queues, first), receiver_(own, first) {}

  /// Copies the message. See QueueError.
  Result<std::uint32_t, QueueError> queue(MessageChannel channel, std::span<const std::byte> message) {
    return sender_.queue(channel, message);
  }
  bool has_something_to_send() const {
    return receiver_.must_tell_limit() || sender_.has_something_to_send();
  }
  /// The next payload, no more than `room_bytes` in an empty builder; null when there is nothing or too little
  /// room. REQUIRES: the packet that carries it leaves, as `sequence`: ask first whether the send log is full.
  flatbuffers::Offset<protocol::Messages> build(flatbuffers::FlatBufferBuilder& builder,
                                                std::size_t room_bytes, Sequence sequence);

  /// Everything in a verified table, or the error for which the session ends.
  std::optional<MessagesError> take(const protocol::Messages& messages);
  std::optional<ReceivedMessage> next() { return receiver_.next(); }

  /// What became of a packet; each once. True when build() made it.
  bool settle(Sequence sequence, bool acknowledged) {
    receiver_.settle(sequence, acknowledged);
    return sender_.settle(sequence, acknowledged);
  }

  const MessageSender& sender() const { return sender_; }
  const MessageReceiver& receiver() const { return receiver_; }

 private:
  MessageSender sender_;
  MessageReceiver receiver_;
};

}  // namespace shoal
