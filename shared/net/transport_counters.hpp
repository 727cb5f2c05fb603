// What a transport counts. Nothing of it is an error of this process; all of it is for operators and tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/net/reasons.hpp"

namespace shoal {

/// Why a datagram was dropped. Each one is counted once, and changes nothing else.
enum class BadDatagram : std::uint8_t {
  TooShort,             // cut, or not ours
  TooLong,              // not ours
  UnknownType,          // not ours, or a newer protocol
  BadTag,               // damaged on the way, or forged
  Malformed,            // the FlatBuffer does not verify, or a count, index or enumerator is out of range
  UnknownConnection,    // of a session that ended, or never was
  WrongAddress,         // at a client: not from the server's address
  Duplicate,            // arrived before
  TooOld,               // too late to tell from a duplicate
  TooFarAhead,          // sequence that no loss explains
  BadAcknowledgement,   // acknowledges what was never sent
  UnexpectedPayload,    // a payload that this side does not take
  UnexpectedHandshake,  // a handshake datagram that this side does not take (now)
  UnpaddedHello,        // shorter than kMaxDatagramBytes: could make us send more than we got
  ForgedCookie,         // not ours, or made for another address
  StaleCookie,          // too old; its client starts again
  ReplayedResponse,     // of a session that has ended meanwhile
  TooManyResponses,     // so many wait for the work with their keys: its client repeats it
  BadPlayerKey,         // a Response whose player did not prove the key
  BadServerKey,         // a Challenge with another key than the one that was given
};
inline constexpr std::size_t kBadDatagrams = 20;

std::string_view to_string(BadDatagram kind);

/// What a datagram was about. Each one that left or arrived is of one kind.
enum class TrafficKind : std::uint8_t {
  Handshake,   // whatever opens a session, or refuses one
  State,       // frames of the server, updates of clients
  Messages,    // of games, and their limits
  SignOfLife,  // a packet without payload
  Path,        // words that prove a new address
  Close,
  Bad,  // received only: see BadDatagram
};
inline constexpr std::size_t kTrafficKinds = 7;

std::string_view to_string(TrafficKind kind);

struct Traffic {
  std::uint64_t datagrams = 0;
  std::uint64_t bytes = 0;  // of UDP payload
  void add(std::size_t size) {
    ++datagrams;
    bytes += size;
  }
};

struct TransportCounters {
  std::uint64_t received_datagrams = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_datagrams = 0;  // offered to the port
  std::uint64_t sent_bytes = 0;
  std::uint64_t send_failures = 0;  // the port lost it at once
  std::uint64_t acknowledged = 0;   // of packets with a reported outcome
  std::uint64_t lost = 0;
  std::uint64_t joined = 0;
  std::uint64_t moved = 0;                  // sessions that went on from another address
  std::uint64_t public_key_operations = 0;  // of the server, for handshakes
  std::array<std::uint64_t, kBadDatagrams> bad{};
  std::array<std::uint64_t, kRefuseReasons> refused{};
  std::array<std::uint64_t, kCloseReasons> left{};
  // The same datagrams by what they are about. Only a server's transport tells them apart.
  std::array<Traffic, kTrafficKinds> sent_by_kind{};
  std::array<Traffic, kTrafficKinds> received_by_kind{};
  std::uint64_t resent_message_units = 0;  // of sessions that ended

  std::uint64_t bad_count(BadDatagram kind) const { return bad[static_cast<std::size_t>(kind)]; }
  std::uint64_t refused_count(RefuseReason reason) const { return refused[static_cast<std::size_t>(reason)]; }
  std::uint64_t left_count(CloseReason reason) const { return left[static_cast<std::size_t>(reason)]; }
  std::uint64_t bad_total() const {
    std::uint64_t total = 0;
    for (const std::uint64_t count : bad) total += count;
    return total;
  }
  std::uint64_t refused_total() const {
    std::uint64_t total = 0;
    for (const std::uint64_t count : refused) total += count;
    return total;
  }

  void count(BadDatagram kind) { ++bad[static_cast<std::size_t>(kind)]; }
};

}  // namespace shoal
