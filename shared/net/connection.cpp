#include "shared/net/connection.hpp"

#include <algorithm>
#include <limits>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/net/handshake.hpp"

namespace shoal {
namespace {

// Root offset, vtable, Packet's own fields, the length of the ranges and the worst alignment between them; a
// test builds the worst case.
constexpr std::size_t kEnvelopeBytes = 76;
static_assert(sizeof(protocol::AckRange) == 4);

std::uint32_t to_microseconds(Duration duration) {
  const auto count = std::chrono::duration_cast<microseconds>(duration).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(count, 0, std::numeric_limits<std::uint32_t>::max()));
}

/// False when the ranges leave the numbers that exist, are out of order, or are too many.
bool ranges_of(const protocol::Packet& packet, std::array<SequenceRange, kMaxAckRanges>& ranges,
               std::size_t& count) {
  count = 0;
  const auto* acks = packet.acks();
  if (acks == nullptr || acks->size() == 0) return packet.ack_newest() == 0;
  if (acks->size() > ranges.size()) return false;
  std::uint64_t newest = packet.ack_newest();
  for (const protocol::AckRange* range : *acks) {
    if (count > 0) {
      // `newest` is the oldest of the range before.
      if (range->gap() == 0 || newest <= std::uint64_t{range->gap()} + 1) return false;
      newest -= std::uint64_t{range->gap()} + 1;
    } else if (range->gap() != 0) {
      return false;
    }
    if (range->count() == 0 || newest < range->count()) return false;
    const std::uint64_t oldest = newest - range->count() + 1;
    ranges[count++] = {Sequence{oldest}, Sequence{newest}};
    newest = oldest;
  }
  return true;
}

}  // namespace

flatbuffers::Offset<protocol::Close> create_close(flatbuffers::FlatBufferBuilder& builder, CloseReason reason,
                                                  std::string_view detail) {
  const auto text =
      detail.empty() ? 0 : builder.CreateString(detail.data(), std::min(detail.size(), kMaxDetailBytes));
  return protocol::CreateClose(builder, static_cast<protocol::CloseReason>(reason), text);
}

std::size_t Connection::payload_room(Time now) const {
  std::array<SequenceRange, kMaxAckRanges> ranges;
  const std::size_t count = receive_log_.ranges(now, ranges);
  return kMaxPacketBodyBytes - kEnvelopeBytes - count * sizeof(protocol::AckRange);
}

Result<Sequence, SendError> Connection::write(flatbuffers::FlatBufferBuilder& builder, protocol::Payload type,
                                              flatbuffers::Offset<void> payload, bool reported, Time now,
                                              OutgoingDatagram& datagram) {
  if (send_log_.is_full()) return Failure{SendError::TooManyInFlight};
  if (builder.GetSize() + kEnvelopeBytes > kMaxPacketBodyBytes) return Failure{SendError::TooLarge};
  const std::size_t room_for_ranges =
      (kMaxPacketBodyBytes - builder.GetSize() - kEnvelopeBytes) / sizeof(protocol::AckRange);

  std::array<SequenceRange, kMaxAckRanges> ranges;
  const std::size_t count = std::min(receive_log_.ranges(now, ranges), room_for_ranges);
  std::array<protocol::AckRange, kMaxAckRanges> wire_ranges;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t gap = i == 0 ? 0 : ranges[i - 1].oldest.value - ranges[i].newest.value - 1;
    const std::uint64_t run = ranges[i].newest.value - ranges[i].oldest.value + 1;
    wire_ranges[i] = {static_cast<std::uint16_t>(gap), static_cast<std::uint16_t>(run)};
  }
  const auto acks = count == 0 ? 0 : builder.CreateVectorOfStructs(wire_ranges.data(), count);
  const std::uint64_t newest = count == 0 ? 0 : ranges[0].newest.value;
  builder.Finish(protocol::CreatePacket(builder, newest, acks, to_microseconds(receive_log_.ack_delay(now)),
                                        type, payload));
  SHOAL_ASSERT(builder.GetSize() <= kMaxPacketBodyBytes, "kEnvelopeBytes is too small");
  last_sent_ = now;
  return put(builder, reported, now, datagram);
}

Result<Sequence, SendError> Connection::write_path_words(flatbuffers::FlatBufferBuilder& builder,
                                                         const PathWords& words, Time now,
                                                         OutgoingDatagram& datagram) {
  if (send_log_.is_full()) return Failure{SendError::TooManyInFlight};
  protocol::PacketBuilder packet(builder);
  if (words.challenge) packet.add_path_challenge(*words.challenge);
  if (words.response) packet.add_path_response(*words.response);
  builder.Finish(packet.Finish());
  // They go to an address that may be anybody's: for the peer they are no sign of life.
  return put(builder, false, now, datagram);
}

Sequence Connection::put(flatbuffers::FlatBufferBuilder& builder, bool reported, Time now,
                         OutgoingDatagram& datagram) {
  const Sequence sequence = send_log_.next();
  const auto body = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  const bool is_reused = sequence.value % 32 == 0 && fault("net-reuse-sequence");
  const Sequence number = is_reused ? Sequence{sequence.value - 1} : sequence;
  datagram.size = seal(keys_.send, {DatagramType::Packet, id_.value, number}, {}, body, datagram.bytes);
  send_log_.push(now, reported);
  return sequence;
}

std::optional<BadDatagram> Connection::open(std::span<const std::byte> datagram, BodyBuffer& buffer,
                                            Opened& opened) const {
  if (const auto error = read_header(datagram, opened.header)) return bad_datagram(*error);
  // First what costs nothing. A number that only claims to be new is found out by the key.
  switch (receive_log_.classify(opened.header.sequence)) {
    case ReceiveLog::Arrival::New:
      break;
    case ReceiveLog::Arrival::Duplicate:
      return BadDatagram::Duplicate;
    case ReceiveLog::Arrival::TooOld:
      return BadDatagram::TooOld;
    case ReceiveLog::Arrival::TooFarAhead:
      return BadDatagram::TooFarAhead;
  }
  if (const auto error = shoal::open(keys_.receive, datagram, 0, buffer, opened)) {
    if (fault("net-window-before-tag"))
      const_cast<ReceiveLog&>(receive_log_).note(opened.header.sequence, last_heard_);
    return bad_datagram(*error);
  }
  return std::nullopt;
}

std::optional<BadDatagram> Connection::read(const Opened& opened, Time now,
                                            std::vector<SendLog::Outcome>& outcomes,
                                            const protocol::Packet*& packet) {
  packet = verified<protocol::Packet>(opened.body);
  if (packet == nullptr) return BadDatagram::Malformed;
  if (packet->payload_type() > protocol::Payload::MAX) return BadDatagram::UnexpectedPayload;
  if ((packet->payload_type() == protocol::Payload::NONE) != (packet->payload() == nullptr)) {
    return BadDatagram::Malformed;
  }
  std::array<SequenceRange, kMaxAckRanges> ranges;
  std::size_t count = 0;
  if (!ranges_of(*packet, ranges, count)) return BadDatagram::BadAcknowledgement;
  const std::span<const SequenceRange> acknowledged(ranges.data(), count);
  if (!send_log_.covers(acknowledged)) return BadDatagram::BadAcknowledgement;

  // What is older than the newest may have been held back on the way, for as long as somebody likes: it is read, and no sign
  // that the other side lives.
  if (opened.header.sequence > receive_log_.newest() || fault("net-held-back-is-life")) last_heard_ = now;
  receive_log_.note(opened.header.sequence, now);
  send_log_.acknowledge(acknowledged, microseconds{packet->ack_delay_us()}, now, rtt_, outcomes);
  send_log_.detect_losses(now, rtt_, outcomes);
  return std::nullopt;
}

}  // namespace shoal
