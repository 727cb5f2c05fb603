// The books of what the honest put on the wire, kept at the network's tap. No number seals two texts under one key: that
// would give both away. What is wrong is a failure, which the checker `wire` tells.
//
// A key is known by what stands in clear. Of a session it has a direction and the connection id, which the server draws
// anew for every session, after a restart too: its packets are numbered, and each number is used once, also by the Close
// copies of the end and by the answers for a session that has ended. Of a handshake the key is made from the nonce and
// the rest that stands in clear: what is repeated there is the datagram that was stored, byte by byte. Every Accept has
// an ephemeral key of its own.
//
// Numbers rise by sending, so the newest stands for all before it. Memory: kMostKeys of each kind, the oldest go.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "shared/net/packet_header.hpp"

namespace shoal::simulation {

enum class Direction : std::uint8_t { ToServer, ToClient };

class Wire {
 public:
  static constexpr std::size_t kMostKeys = 4096;

  /// An honest sender sent this.
  void note(Direction direction, std::span<const std::byte> datagram);

  /// Bytes of the session's packets so far, each counted once; none: no packet, or it is forgotten.
  std::optional<std::uint64_t> sent_bytes(Direction direction, ConnectionId connection) const;
  std::uint64_t packets() const { return packets_; }
  const std::string& failure() const { return failure_; }

 private:
  struct Session {
    Sequence newest;
    std::uint64_t bytes = 0;
  };
  using SessionKey = std::pair<Direction, std::uint64_t>;

  void note_packet(Direction direction, const PacketHeader& header, std::size_t size);
  void note_handshake(const PacketHeader& header, std::size_t clear_bytes,
                      std::span<const std::byte> datagram);
  /// Remembers the value that belongs to the key; the one that did before.
  std::optional<std::string> remember(std::string key, std::string value);
  void fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }

  std::map<SessionKey, Session> sessions_;
  std::deque<SessionKey> sessions_in_order_;
  // Of the handshake: what was sealed, by what stands for key and number.
  std::unordered_map<std::string, std::string> sealed_;
  std::deque<std::string> sealed_in_order_;
  std::uint64_t packets_ = 0;
  std::string failure_;
};

}  // namespace shoal::simulation
