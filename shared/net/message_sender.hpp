// Messages on their way to one peer: queued, cut into fragments, sent again where they were lost, and forgotten
// when every fragment was acknowledged. It writes no bytes: MessageChannels puts what it chose into a packet.
//
// 1. Each fragment is under way once at most: it leaves again only after its packet was lost.
// 2. A message begins only when the peer's window has room for all of it, so each one that began can end.
// 3. No more than kMaxUnitsInFlight units are under way; fewer while packets are lost: half after each loss, a
//    datagram more for each round trip without one.
// 4. Memory: about 2 KiB beside this object while idle; at most the queue limits, 48 KiB of notes about packets,
//    and one bit for each unit of messages that lost something. One allocation for each message.
// Threads: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/net/ids.hpp"
#include "shared/net/message_limits.hpp"
#include "shared/net/unit_set.hpp"

namespace shoal {

enum class QueueError : std::uint8_t {
  TooLarge,   // would never fit: above what the peer takes, or above the queue itself
  QueueFull,  // the peer takes too little at the moment: try again when something was acknowledged
  NoSession,  // it ended, or has not begun (said by the transport)
};

/// A piece of a message for the next packet. The bytes are good until the sender is told anything.
struct OutgoingFragment {
  MessageChannel channel = MessageChannel::Ordered;
  std::uint32_t message = 0;
  std::uint32_t total = 0;
  std::uint16_t first_unit = 0;
  std::uint16_t units = 0;
  std::span<const std::byte> bytes;
};

class MessageSender {
 public:
  /// `peer`: what the other side takes. `first`: where numbers and costs begin; 0 but in tests.
  explicit MessageSender(const MessageLimits& peer, const MessageQueueLimits& queues = {},
                         std::uint32_t first = 0);

  /// Copies the message; the result is its number in the channel.
  Result<std::uint32_t, QueueError> queue(MessageChannel channel, std::span<const std::byte> message);

  /// Whether choose() would find something, given a whole datagram.
  bool has_something_to_send() const;
  /// Chooses what goes into packet `sequence`: as many fragments as fit into `room` bytes, `entry_bytes` of them
  /// for each beside its own, lost ones first; both channels get the same number of bytes when both have some.
  /// Returns how many. REQUIRES: sequences rise, and a packet for which something was chosen leaves.
  std::size_t choose(std::size_t room, std::size_t entry_bytes, Sequence sequence,
                     std::span<OutgoingFragment> chosen);
  /// Notes that a packet without fragments is of interest, so that settle() knows it.
  void note_packet(Sequence sequence);

  /// What became of a packet. False: it is none of this sender's; nothing changed. REQUIRES: once for each.
  bool settle(Sequence sequence, bool acknowledged);
  /// The peer's newest limit, wrap-safe; an older one changes nothing. False: no peer could say that.
  [[nodiscard]] bool take_limit(MessageChannel channel, std::uint32_t limit);

  /// Cost of the channel's messages that were queued and are not acknowledged.
  std::size_t queued_bytes(MessageChannel channel) const { return of(channel).queued_bytes; }
  /// Everything that was queued is acknowledged.
  bool is_empty() const { return channels_[0].messages.empty() && channels_[1].messages.empty(); }
  /// Heap that this holds now, roughly.
  std::size_t memory_bytes() const;
  std::uint64_t resent_units() const { return resent_units_; }

  static constexpr std::uint32_t kMaxUnitsInFlight = (128u << 10) / kMessageUnitBytes;
  static constexpr std::size_t kMaxSentFragments = 2048;

 private:
  struct Message {
    std::unique_ptr<std::byte[]> bytes;  // null when all of it was acknowledged
    std::uint32_t total = 0;
    std::uint32_t units = 0;
    std::uint32_t sent_units = 0;  // the first so many left at least once
    std::uint32_t acknowledged_units = 0;
    UnitSet lost;
  };
  struct Channel {
    std::deque<Message> messages;  // from the oldest that is not acknowledged
    std::uint32_t first = 0;       // number of the front
    std::uint32_t begun = 0;       // so many from the front have left, in part at least
    std::uint32_t committed = 0;   // cost of all that ever began
    std::uint32_t limit = 0;
    std::size_t queued_bytes = 0;
    std::uint32_t lost_units = 0;
    std::vector<std::uint32_t> open;  // begun, and not all of it has left; in turns
    std::size_t turn = 0;
    std::uint64_t served = 0;  // bytes, for fairness between the channels
    bool was_idle = true;
    bool was_long = false;  // the queue's own memory is worth giving back
  };
  struct SentFragment {
    Sequence sequence;
    std::uint32_t message;
    std::uint16_t first_unit;
    std::uint16_t units;  // 0: a packet without fragments
    MessageChannel channel;
    bool is_open;
  };

  Channel& of(MessageChannel channel) { return channels_[static_cast<std::size_t>(channel)]; }
  const Channel& of(MessageChannel channel) const { return channels_[static_cast<std::size_t>(channel)]; }
  bool may_begin(const Channel& channel) const;
  bool has_work(const Channel& channel) const;
  void begin_messages(MessageChannel name);
  std::optional<OutgoingFragment> next_fragment(MessageChannel name, std::size_t room, bool may_split);
  std::optional<OutgoingFragment> lost_fragment(MessageChannel name, std::size_t room, bool may_split);
  MessageChannel turn_of(const std::array<bool, kMessageChannels>& can_go) const;
  void settle_fragment(const SentFragment& sent, bool acknowledged);
  void adapt(std::uint32_t units, Sequence sequence, bool acknowledged);

  MessageLimits peer_;
  MessageQueueLimits queues_;
  std::array<Channel, kMessageChannels> channels_;
  std::deque<SentFragment> sent_;  // by sequence; what was settled behind an open one still stands here
  std::uint32_t units_in_flight_ = 0;
  std::uint32_t flight_limit_;  // units
  std::uint32_t growth_ = 0;    // acknowledged since flight_limit_ rose
  bool is_starting_ = true;     // nothing was lost yet: the limit doubles each round trip
  Sequence newest_;             // sent
  Sequence halved_at_;          // the losses up to here belong to one cause
  std::uint64_t resent_units_ = 0;
};

}  // namespace shoal
