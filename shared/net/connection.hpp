// One end of an open session, the same for server and client: it numbers, seals and logs what leaves, opens and
// checks what arrives, and keeps acknowledgements and round-trip time. It does not know what payloads mean, and it
// owns no port: its transport moves the bytes.
//
// 1. A packet that fails any check changes nothing here; the replay window moves only for what was authenticated.
// 2. Each packet written with `reported` ends in exactly one Outcome, unless the session ends first.
// Threads: that of its transport. Memory is fixed.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schema/protocol_generated.h"
#include "shared/base/result.hpp"
#include "shared/net/endpoint.hpp"
#include "shared/net/packet_header.hpp"
#include "shared/net/receive_log.hpp"
#include "shared/net/rtt_estimate.hpp"
#include "shared/net/send_log.hpp"
#include "shared/net/transport_counters.hpp"

namespace shoal {

enum class SendError : std::uint8_t {
  NoSession,        // it ended, or has not begun: send nothing
  TooLarge,         // would not fit a datagram: ask payload_room() before building
  TooManyInFlight,  // the peer acknowledges nothing: wait, it recovers or times out
};

enum class PacketVerdict : std::uint8_t {
  Acknowledge,  // all of it was taken in
  Ignore,       // not acknowledged: the sender will see it as lost
};

struct OutgoingDatagram {
  std::array<std::byte, kMaxDatagramBytes> bytes;
  std::size_t size = 0;

  std::span<const std::byte> span() const { return {bytes.data(), size}; }
};

/// The counter for a datagram that could not be opened.
constexpr BadDatagram bad_datagram(HeaderError error) {
  switch (error) {
    case HeaderError::TooShort:
      return BadDatagram::TooShort;
    case HeaderError::TooLong:
      return BadDatagram::TooLong;
    case HeaderError::UnknownType:
      return BadDatagram::UnknownType;
    case HeaderError::BadTag:
      return BadDatagram::BadTag;
  }
  return BadDatagram::Malformed;
}

/// A table that was proved to lie inside the bytes, or null. Offsets only: enumerators and counts are the
/// caller's to check.
template <class Table>
const Table* verified(std::span<const std::byte> body) {
  flatbuffers::Verifier::Options options;
  options.max_depth = 8;
  options.max_tables = 512;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(body.data());
  flatbuffers::Verifier verifier(bytes, body.size(), options);
  return verifier.VerifyBuffer<Table>(nullptr) ? flatbuffers::GetRoot<Table>(bytes) : nullptr;
}

/// `detail`: kMaxDetailBytes of it travel.
flatbuffers::Offset<protocol::Close> create_close(flatbuffers::FlatBufferBuilder& builder, CloseReason reason,
                                                  std::string_view detail);

/// One key for each direction, as this end sees them.
struct ConnectionKeys {
  SealingKey send;
  SealingKey receive;
};

/// Words that prove a new path: who gets a challenge sends it back from where it arrived.
struct PathWords {
  std::optional<std::uint64_t> challenge;
  std::optional<std::uint64_t> response;
};

/// Of the datagram that carries one of them.
inline constexpr std::size_t kPathWordsBytes = kPacketHeaderBytes + 32 + kPacketTagBytes;

class Connection {
 public:
  Connection(ConnectionId id, const Endpoint& peer, Time now, const ConnectionKeys& keys)
      : id_(id), peer_(peer), keys_(keys), last_heard_(now), last_sent_(now) {}

  /// Bytes that a FlatBufferBuilder may hold after its payload is built, so that write() finds room for it.
  std::size_t payload_room(Time now) const;

  /// Wraps the payload in a packet with acknowledgements. `payload` is null for none. Acknowledgements that
  /// do not fit are left out, oldest first.
  Result<Sequence, SendError> write(flatbuffers::FlatBufferBuilder& builder, protocol::Payload type,
                                    flatbuffers::Offset<void> payload, bool reported, Time now,
                                    OutgoingDatagram& datagram);
  /// A packet without payload and acknowledgements, as small as one can be.
  Result<Sequence, SendError> write_path_words(flatbuffers::FlatBufferBuilder& builder,
                                               const PathWords& words, Time now, OutgoingDatagram& datagram);

  /// Opens a datagram of this session, whose header was read. No error: it is the peer's, and new.
  std::optional<BadDatagram> open(std::span<const std::byte> datagram, BodyBuffer& buffer,
                                  Opened& opened) const;
  /// Checks an opened datagram of this session and applies its acknowledgements; no error: `packet` is what
  /// it holds. What they end is appended to `outcomes`.
  std::optional<BadDatagram> read(const Opened& opened, Time now, std::vector<SendLog::Outcome>& outcomes,
                                  const protocol::Packet*& packet);
  /// The packet was taken in: acknowledge it from now on.
  void acknowledge(Sequence sequence, Time now) { receive_log_.acknowledge(sequence, now); }
  void detect_losses(Time now, std::vector<SendLog::Outcome>& outcomes) {
    send_log_.detect_losses(now, rtt_, outcomes);
  }

  /// From now on the peer is there. REQUIRES: the path was proved.
  /// Round trips of the old way say nothing of the new one.
  void move_to(const Endpoint& peer) {
    peer_ = peer;
    rtt_ = RttEstimate();
  }
  /// Whether the packet was the newest one when it arrived, so that no earlier one moves the session back.
  bool is_newest(Sequence sequence) const { return receive_log_.newest() <= sequence; }

  ConnectionId id() const { return id_; }
  const Endpoint& peer() const { return peer_; }
  const ConnectionKeys& keys() const { return keys_; }
  Time last_heard() const { return last_heard_; }
  Time last_sent() const { return last_sent_; }
  Sequence next_sequence() const { return send_log_.next(); }
  const RttEstimate& rtt() const { return rtt_; }
  const SendLog& send_log() const { return send_log_; }

 private:
  Sequence put(flatbuffers::FlatBufferBuilder& builder, bool reported, Time now, OutgoingDatagram& datagram);

  ConnectionId id_;
  Endpoint peer_;
  ConnectionKeys keys_;
  Time last_heard_;
  Time last_sent_;
  RttEstimate rtt_;
  ReceiveLog receive_log_;
  SendLog send_log_;
};

}  // namespace shoal
