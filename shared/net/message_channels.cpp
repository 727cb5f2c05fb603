#include "shared/net/message_channels.hpp"

#include <array>

namespace shoal {
namespace {

// The table with all its fields, its vtable, the lengths of three vectors, and the worst alignment between them; a
// test builds each size.
constexpr std::size_t kMessagesOverheadBytes = 64;
static_assert(sizeof(protocol::FragmentEntry) == 12);

using Entries = flatbuffers::Offset<flatbuffers::Vector<const protocol::FragmentEntry*>>;

}  // namespace

flatbuffers::Offset<protocol::Messages> MessageChannels::build(flatbuffers::FlatBufferBuilder& builder,
                                                               std::size_t room_bytes, Sequence sequence) {
  if (room_bytes < kMessagesOverheadBytes) return {};
  std::array<OutgoingFragment, kMaxFragments> chosen;
  const std::size_t count =
      sender_.choose(room_bytes - kMessagesOverheadBytes, sizeof(protocol::FragmentEntry), sequence, chosen);
  if (count == 0) {
    if (!receiver_.must_tell_limit()) return {};
    sender_.note_packet(sequence);
  }

  std::array<std::array<protocol::FragmentEntry, kMaxFragments>, kMessageChannels> entries;
  std::array<std::size_t, kMessageChannels> counts{};
  std::size_t body_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const OutgoingFragment& fragment = chosen[i];
    const auto channel = static_cast<std::size_t>(fragment.channel);
    entries[channel][counts[channel]++] = {fragment.message, fragment.total, fragment.first_unit,
                                           fragment.units};
    body_bytes += fragment.bytes.size();
  }
  flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> bodies;
  if (body_bytes > 0) {
    std::uint8_t* to = nullptr;
    bodies = builder.CreateUninitializedVector(body_bytes, &to);
    for (const MessageChannel name : {MessageChannel::Ordered, MessageChannel::Unordered}) {
      for (std::size_t i = 0; i < count; ++i) {
        if (chosen[i].channel != name) continue;
        for (const std::byte value : chosen[i].bytes) *to++ = std::to_integer<std::uint8_t>(value);
      }
    }
  }
  const auto list = [&](std::size_t channel) {
    return counts[channel] == 0 ? Entries{}
                                : builder.CreateVectorOfStructs(entries[channel].data(), counts[channel]);
  };
  const Entries ordered = list(0);
  const Entries unordered = list(1);
  const auto optional = [](std::optional<std::uint32_t> limit) {
    return limit ? flatbuffers::Optional<std::uint32_t>(*limit) : flatbuffers::nullopt;
  };
  const auto ordered_limit = optional(receiver_.limit_to_tell(MessageChannel::Ordered));
  const auto unordered_limit = optional(receiver_.limit_to_tell(MessageChannel::Unordered));
  receiver_.told(sequence);
  return protocol::CreateMessages(builder, ordered, unordered, bodies, ordered_limit, unordered_limit);
}

std::optional<MessagesError> MessageChannels::take(const protocol::Messages& messages) {
  if (messages.ordered_limit() && !sender_.take_limit(MessageChannel::Ordered, *messages.ordered_limit())) {
    return MessagesError::WrongLimit;
  }
  if (messages.unordered_limit() &&
      !sender_.take_limit(MessageChannel::Unordered, *messages.unordered_limit())) {
    return MessagesError::WrongLimit;
  }
  return receiver_.take(messages);
}

}  // namespace shoal
