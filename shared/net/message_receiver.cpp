#include "shared/net/message_receiver.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr std::array<std::string_view, kMessagesErrors> kErrorNames{
    "too many fragments", "wrong bodies",  "empty fragment", "message too large", "outside the message",
    "outside the window", "contradiction", "window overrun", "wrong limit"};
constexpr std::array<MessageChannel, kMessageChannels> kChannels{MessageChannel::Ordered,
                                                                 MessageChannel::Unordered};

}  // namespace

std::string_view to_string(MessagesError error) {
  return kErrorNames[static_cast<std::size_t>(error)];
}

MessageReceiver::MessageReceiver(const MessageLimits& own, std::uint32_t first) : own_(own) {
  for (const MessageChannel name : kChannels) {
    const MessageChannelLimits& limits = own_.of(name);
    SHOAL_ASSERT(limits.max_message_bytes <= kMaxMessageBytes, "no message is larger than kMaxMessageBytes");
    SHOAL_ASSERT(limits.window_bytes >= message_cost(limits.max_message_bytes),
                 "a window must hold the largest message");
    of(name).first = first;
    of(name).fetched = first;
    of(name).told = of(name).known = first + limits.window_bytes;
  }
}

// Messages: ordered, unordered, bodies. Every number is checked here, before the body that it speaks of is looked at.
std::optional<MessagesError> MessageReceiver::take(const protocol::Messages& messages) {
  const std::array lists{messages.ordered(), messages.unordered()};
  const std::size_t count =
      (lists[0] == nullptr ? 0 : lists[0]->size()) + (lists[1] == nullptr ? 0 : lists[1]->size());
  if (count > kMaxFragments) return MessagesError::TooManyFragments;
  std::span<const std::byte> bodies;
  if (messages.bodies() != nullptr) {
    bodies = std::as_bytes(std::span(messages.bodies()->data(), messages.bodies()->size()));
  }
  for (const MessageChannel name : kChannels) {
    const auto* list = lists[static_cast<std::size_t>(name)];
    if (list == nullptr) continue;
    for (const protocol::FragmentEntry* entry : *list) {
      if (entry->units() == 0) return MessagesError::EmptyFragment;
      if (entry->total() > own_.of(name).max_message_bytes && !fault("net-take-any-message"))
        return MessagesError::TooLarge;
      if (std::uint32_t{entry->first_unit()} + entry->units() > message_units(entry->total())) {
        return MessagesError::OutsideMessage;
      }
      const std::size_t bytes = fragment_bytes(entry->total(), entry->first_unit(), entry->units());
      if (bytes > bodies.size()) return MessagesError::WrongBodies;
      if (const auto error = take_fragment(name, *entry, bodies.first(bytes))) return error;
      bodies = bodies.subspan(bytes);
    }
  }
  return bodies.empty() ? std::nullopt : std::optional(MessagesError::WrongBodies);
}

std::optional<MessagesError> MessageReceiver::take_fragment(MessageChannel name,
                                                            const protocol::FragmentEntry& entry,
                                                            std::span<const std::byte> bytes) {
  Channel& channel = of(name);
  const std::uint32_t ahead = entry.message() - channel.first;
  const bool is_over = ahead >= 0x80000000u;  // before the oldest that is open
  if (!is_over && ahead >= kMessageWindow) return MessagesError::OutsideWindow;
  if (is_over || (ahead < channel.messages.size() && channel.messages[ahead].state == State::Gone)) {
    // Its packet was taken for lost, and the message came by another.
    if (fault("net-deliver-twice") && entry.units() == message_units(entry.total())) {
      Message again{nullptr, entry.total(), State::Absent, UnitSet(entry.units())};
      (void)put(again, entry, bytes);
      channel.held += message_cost(entry.total());
      hand_on(name, again);
    }
    return std::nullopt;
  }
  if (ahead >= channel.messages.size()) channel.messages.resize(ahead + 1);
  Message& message = channel.messages[ahead];
  if (message.state == State::Absent) {
    const std::uint32_t cost = message_cost(entry.total());
    if (cost > own_.of(name).window_bytes - channel.held && !fault("net-take-any-message"))
      return MessagesError::Overrun;
    channel.held += cost;
    message.total = entry.total();
    message.received = UnitSet(message_units(entry.total()));
    message.state = State::Partial;
  }
  if (const auto error = put(message, entry, bytes)) return error;
  if (message.state == State::Partial && message.received.size() == message_units(message.total)) {
    message.state = State::Complete;
    message.received = UnitSet();
    if (name == MessageChannel::Unordered) hand_on(name, message);
    advance(name);
  }
  return std::nullopt;
}

std::optional<MessagesError> MessageReceiver::put(Message& message, const protocol::FragmentEntry& entry,
                                                  std::span<const std::byte> bytes) const {
  if (message.total != entry.total()) return MessagesError::Contradiction;
  if (message.bytes == nullptr) {
    message.bytes = std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(message.total, 1));
  }
  for (std::uint32_t i = 0; i < entry.units(); ++i) {
    const std::uint32_t unit = std::uint32_t{entry.first_unit()} + i;
    const auto from = bytes.subspan(i * kMessageUnitBytes, fragment_bytes(message.total, unit, 1));
    std::byte* const to = message.bytes.get() + unit * kMessageUnitBytes;
    if (message.state == State::Complete || message.received.has(unit)) {
      if (!std::equal(from.begin(), from.end(), to)) return MessagesError::Contradiction;
      continue;
    }
    std::copy(from.begin(), from.end(), to);
    message.received.insert(unit);
  }
  return std::nullopt;
}

void MessageReceiver::hand_on(MessageChannel name, Message& message) {
  ready_.push_back({name, std::move(message.bytes), message.total});
  message.state = State::Gone;
}

/// Lets go of what is over at the front; ordered messages are handed on here.
void MessageReceiver::advance(MessageChannel name) {
  Channel& channel = of(name);
  while (!channel.messages.empty()) {
    Message& front = channel.messages.front();
    if (front.state == State::Complete) hand_on(name, front);
    if (front.state != State::Gone) return;
    channel.messages.pop_front();
    ++channel.first;
  }
}

std::optional<ReceivedMessage> MessageReceiver::next() {
  if (ready_.empty()) return std::nullopt;
  ReceivedMessage message = std::move(ready_.front());
  ready_.pop_front();
  Channel& channel = of(message.channel);
  channel.held -= message_cost(message.size);
  channel.fetched += message_cost(message.size);
  return message;
}

// ------------------------------------------------------------------------------------------- flow control

std::uint32_t MessageReceiver::limit(MessageChannel name) const {
  return of(name).fetched + own_.of(name).window_bytes;
}

bool MessageReceiver::must_tell_limit() const {
  return std::any_of(kChannels.begin(), kChannels.end(), [this](MessageChannel name) {
    // As long as no more than this is untold, the largest message still finds room once the others are fetched.
    const MessageChannelLimits& limits = own_.of(name);
    const std::uint32_t spare = limits.window_bytes - message_cost(limits.max_message_bytes);
    return limit(name) - of(name).told > std::min(spare, limits.window_bytes / 4);
  });
}

std::optional<std::uint32_t> MessageReceiver::limit_to_tell(MessageChannel name) const {
  const std::uint32_t now = limit(name);
  return now == of(name).known ? std::nullopt : std::optional(now);
}

void MessageReceiver::told(Sequence sequence) {
  told_in_ = sequence;
  for (const MessageChannel name : kChannels) of(name).told = limit(name);
}

void MessageReceiver::settle(Sequence sequence, bool acknowledged) {
  // Each packet tells all that is new, so only the newest one counts.
  if (sequence != told_in_) return;
  for (Channel& channel : channels_) {
    if (acknowledged) {
      channel.known = channel.told;
    } else {
      channel.told = channel.known;
    }
  }
}

std::size_t MessageReceiver::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Channel& channel : channels_) {
    for (const Message& message : channel.messages) {
      bytes +=
          sizeof(Message) + message.received.memory_bytes() + (message.bytes == nullptr ? 0 : message.total);
    }
  }
  for (const ReceivedMessage& message : ready_) bytes += sizeof(ReceivedMessage) + message.size;
  return bytes;
}

}  // namespace shoal
