#include "shared/net/message_sender.hpp"

#include <algorithm>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr std::uint32_t kDatagramUnits = kMaxDatagramBytes / kMessageUnitBytes;
constexpr std::uint32_t kFirstFlightLimit = 10 * kDatagramUnits;
constexpr std::uint32_t kLeastFlightLimit = 4 * kDatagramUnits;
/// A message is not cut for the sake of a smaller rest of a packet than this.
constexpr std::size_t kLeastSplitBytes = 4 * kMessageUnitBytes;

/// How many of `units` from `first` on fit into `room`; 0 when cutting there is not worth it.
std::uint32_t fitting_units(std::uint32_t total, std::uint32_t first, std::uint32_t units, std::size_t room,
                            bool may_split) {
  if (fragment_bytes(total, first, units) <= room) return units;
  if (!may_split && room < kLeastSplitBytes) return 0;
  return std::min(units, static_cast<std::uint32_t>(room / kMessageUnitBytes));
}

}  // namespace

MessageSender::MessageSender(const MessageLimits& peer, const MessageQueueLimits& queues, std::uint32_t first)
    : peer_(peer), queues_(queues), flight_limit_(kFirstFlightLimit) {
  for (const MessageChannel name : {MessageChannel::Ordered, MessageChannel::Unordered}) {
    const MessageChannelLimits& limits = peer_.of(name);
    SHOAL_ASSERT(limits.window_bytes >= message_cost(limits.max_message_bytes),
                 "a window must hold the largest message");
    of(name).first = first;
    of(name).committed = first;
    of(name).limit = first + limits.window_bytes;
  }
}

Result<std::uint32_t, QueueError> MessageSender::queue(MessageChannel name,
                                                       std::span<const std::byte> message) {
  Channel& channel = of(name);
  const bool fits_peer = message.size() <= peer_.of(name).max_message_bytes || fault("net-queue-any-message");
  if (message.size() > kMaxMessageBytes || !fits_peer) return Failure{QueueError::TooLarge};
  const std::uint32_t cost = message_cost(message.size());
  if (cost > queues_.of(name)) return Failure{QueueError::TooLarge};
  if (channel.queued_bytes + cost > queues_.of(name)) return Failure{QueueError::QueueFull};

  Message queued;
  // Null means acknowledged, so that even an empty message has an address.
  queued.bytes = std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(message.size(), 1));
  std::copy(message.begin(), message.end(), queued.bytes.get());
  queued.total = static_cast<std::uint32_t>(message.size());
  queued.units = message_units(message.size());
  channel.messages.push_back(std::move(queued));
  channel.queued_bytes += cost;
  channel.was_long |= channel.messages.size() > kMessageWindow;
  return channel.first + static_cast<std::uint32_t>(channel.messages.size()) - 1;
}

// ------------------------------------------------------------------------------------------------- choice

bool MessageSender::may_begin(const Channel& channel) const {
  if (channel.begun >= channel.messages.size() || channel.begun >= kMessageWindow) return false;
  const std::uint32_t cost = message_cost(channel.messages[channel.begun].total);
  const auto room = static_cast<std::int32_t>(channel.limit - channel.committed);
  return fault("net-ignore-window") || (room >= 0 && cost <= static_cast<std::uint32_t>(room));
}

bool MessageSender::has_work(const Channel& channel) const {
  return channel.lost_units > 0 || !channel.open.empty() || may_begin(channel);
}

bool MessageSender::has_something_to_send() const {
  return units_in_flight_ < flight_limit_ && sent_.size() < kMaxSentFragments &&
         (has_work(channels_[0]) || has_work(channels_[1]));
}

void MessageSender::begin_messages(MessageChannel name) {
  Channel& channel = of(name);
  // Ordered messages have nothing to gain from one that overtakes: they go one after the other.
  const std::size_t most_open = name == MessageChannel::Ordered ? 1 : kMessageWindow;
  while (channel.open.size() < most_open && may_begin(channel)) {
    channel.committed += message_cost(channel.messages[channel.begun].total);
    // Behind all the others that are open: each of them has a fragment before it, but not more.
    channel.open.insert(channel.open.begin() + static_cast<std::ptrdiff_t>(channel.turn),
                        channel.first + channel.begun);
    if (channel.open.size() > 1) ++channel.turn;
    ++channel.begun;
  }
}

std::optional<OutgoingFragment> MessageSender::lost_fragment(MessageChannel name, std::size_t room,
                                                             bool may_split) {
  Channel& channel = of(name);
  for (std::uint32_t i = 0; i < channel.begun; ++i) {
    Message& message = channel.messages[i];
    if (message.lost.size() == 0) continue;
    const UnitSet::Run run = message.lost.first_run(kMaxDatagramBytes / kMessageUnitBytes);
    const std::uint32_t units = fitting_units(message.total, run.first, run.count, room, may_split);
    if (units == 0) return std::nullopt;
    for (std::uint32_t unit = run.first; unit < run.first + units; ++unit) message.lost.erase(unit);
    channel.lost_units -= units;
    resent_units_ += units;
    return OutgoingFragment{name,
                            channel.first + i,
                            message.total,
                            static_cast<std::uint16_t>(run.first),
                            static_cast<std::uint16_t>(units),
                            {message.bytes.get() + run.first * kMessageUnitBytes,
                             fragment_bytes(message.total, run.first, units)}};
  }
  return std::nullopt;
}

std::optional<OutgoingFragment> MessageSender::next_fragment(MessageChannel name, std::size_t room,
                                                             bool may_split) {
  Channel& channel = of(name);
  if (channel.lost_units > 0) return lost_fragment(name, room, may_split);
  begin_messages(name);
  if (channel.open.empty()) return std::nullopt;
  const std::uint32_t number = channel.open[channel.turn];
  Message& message = channel.messages[number - channel.first];
  const std::uint32_t first = message.sent_units;
  const std::uint32_t units = fitting_units(message.total, first, message.units - first, room, may_split);
  if (units == 0) return std::nullopt;
  message.sent_units += units;
  if (message.sent_units == message.units) {
    channel.open.erase(channel.open.begin() + static_cast<std::ptrdiff_t>(channel.turn));
  } else {
    ++channel.turn;
  }
  if (channel.turn >= channel.open.size()) channel.turn = 0;
  return OutgoingFragment{
      name,
      number,
      message.total,
      static_cast<std::uint16_t>(first),
      static_cast<std::uint16_t>(units),
      {message.bytes.get() + first * kMessageUnitBytes, fragment_bytes(message.total, first, units)}};
}

MessageChannel MessageSender::turn_of(const std::array<bool, kMessageChannels>& can_go) const {
  if (!can_go[1]) return MessageChannel::Ordered;
  if (!can_go[0]) return MessageChannel::Unordered;
  return channels_[1].served < channels_[0].served ? MessageChannel::Unordered : MessageChannel::Ordered;
}

std::size_t MessageSender::choose(std::size_t room, std::size_t entry_bytes, Sequence sequence,
                                  std::span<OutgoingFragment> chosen) {
  if (units_in_flight_ >= flight_limit_) return 0;
  SHOAL_ASSERT(sequence > newest_, "sequences rise");
  std::array<bool, kMessageChannels> can_go{};
  for (std::size_t i = 0; i < kMessageChannels; ++i) {
    can_go[i] = has_work(channels_[i]);
    // Silence saves up no claim to what the other one had meanwhile.
    if (can_go[i] && channels_[i].was_idle) {
      channels_[i].served = std::max(channels_[i].served, channels_[1 - i].served);
    }
    channels_[i].was_idle = !can_go[i];
  }
  std::size_t count = 0;
  while (count < chosen.size() && room > entry_bytes && sent_.size() < kMaxSentFragments &&
         (can_go[0] || can_go[1])) {
    const MessageChannel name = turn_of(can_go);
    const auto fragment = next_fragment(name, room - entry_bytes, count == 0);
    if (!fragment) {
      can_go[static_cast<std::size_t>(name)] = false;
      continue;
    }
    const std::size_t bytes = entry_bytes + fragment->bytes.size();
    room -= bytes;
    of(name).served += bytes;
    units_in_flight_ += fragment->units;
    sent_.push_back({sequence, fragment->message, fragment->first_unit, fragment->units, name, true});
    chosen[count++] = *fragment;
  }
  if (count > 0) newest_ = sequence;
  return count;
}

void MessageSender::note_packet(Sequence sequence) {
  SHOAL_ASSERT(sequence > newest_, "sequences rise");
  newest_ = sequence;
  sent_.push_back({sequence, 0, 0, 0, MessageChannel::Ordered, true});
}

// ------------------------------------------------------------------------------------------------ outcome

bool MessageSender::settle(Sequence sequence, bool acknowledged) {
  auto at = std::lower_bound(sent_.begin(), sent_.end(), sequence,
                             [](const SentFragment& sent, Sequence s) { return sent.sequence < s; });
  if (at == sent_.end() || at->sequence != sequence || !at->is_open) return false;
  std::uint32_t units = 0;
  for (; at != sent_.end() && at->sequence == sequence; ++at) {
    if (at->units > 0) settle_fragment(*at, acknowledged);
    units += at->units;
    at->is_open = false;
  }
  units_in_flight_ -= units;
  if (units > 0) adapt(units, sequence, acknowledged);
  while (!sent_.empty() && !sent_.front().is_open) sent_.pop_front();
  return true;
}

void MessageSender::settle_fragment(const SentFragment& sent, bool acknowledged) {
  Channel& channel = of(sent.channel);
  // A message stays until each of its units is acknowledged, and one under way is not: so it is there.
  Message& message = channel.messages[sent.message - channel.first];
  if (!acknowledged) {
    if (fault("net-forget-lost-fragments")) return;
    if (message.lost.size() == 0) message.lost = UnitSet(message.units);
    for (std::uint32_t i = 0; i < sent.units; ++i) message.lost.insert(sent.first_unit + i);
    channel.lost_units += sent.units;
    return;
  }
  message.acknowledged_units += sent.units;
  if (message.acknowledged_units < message.units) return;
  message.bytes.reset();
  message.lost = UnitSet();
  channel.queued_bytes -= message_cost(message.total);
  while (!channel.messages.empty() && channel.messages.front().bytes == nullptr) {
    channel.messages.pop_front();
    ++channel.first;
    --channel.begun;
  }
  if (channel.messages.empty() && std::exchange(channel.was_long, false)) {
    channel.messages = std::deque<Message>();
  }
}

void MessageSender::adapt(std::uint32_t units, Sequence sequence, bool acknowledged) {
  if (!acknowledged) {
    is_starting_ = false;
    if (sequence <= halved_at_) return;
    flight_limit_ = std::max(flight_limit_ / 2, kLeastFlightLimit);
    halved_at_ = newest_;
    growth_ = 0;
    return;
  }
  if (is_starting_) {
    flight_limit_ += units;
  } else if ((growth_ += units) >= flight_limit_) {
    growth_ = 0;
    flight_limit_ += kDatagramUnits;
  }
  flight_limit_ = std::min(flight_limit_, kMaxUnitsInFlight);
}

bool MessageSender::take_limit(MessageChannel name, std::uint32_t limit) {
  Channel& channel = of(name);
  // The peer has fetched no more than what began, so it cannot take more than its whole window beyond that.
  if (static_cast<std::int32_t>(limit - channel.committed) >
      static_cast<std::int32_t>(peer_.of(name).window_bytes)) {
    return false;
  }
  if (static_cast<std::int32_t>(limit - channel.limit) > 0) channel.limit = limit;
  return true;
}

std::size_t MessageSender::memory_bytes() const {
  std::size_t bytes = sent_.size() * sizeof(SentFragment);
  for (const Channel& channel : channels_) {
    bytes += channel.open.capacity() * sizeof(std::uint32_t);
    for (const Message& message : channel.messages) {
      bytes += sizeof(Message) + (message.bytes == nullptr ? 0 : message.total) + message.lost.memory_bytes();
    }
  }
  return bytes;
}

}  // namespace shoal
