// Why a session was refused and why it ended, in words for both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shoal {

/// Why the server would not open a session. The values travel (protocol.fbs).
enum class RefuseReason : std::uint8_t {
  Unspecified = 0,
  WrongProtocolVersion,  // one of both sides is too old: update it
  SchemaMismatch,        // built from different components: the detail names them; build both from one schema
  ServerFull,            // try again later, or raise the server's session limit
  ShuttingDown,          // try again when the server is back
  Busy,                  // too many came and went, or the ticket's time is to come: try again in some seconds
  WrongPassword,         // or none was given
  TicketRequired,        // players need a ticket of the matchmaker
  TicketForged,          // damaged, or not signed by the server's matchmaker
  TicketExpired,         // or issued before the server started: ask for a new one
  TicketForeign,         // made for another server
  TicketUsed,            // by somebody else: each is good once
  Banned,                // the server's ban list has this address or player
  TooManySessions,       // from this address
  Draining,              // the server ends soon, and those who play finish: try again when it is back
};
inline constexpr std::size_t kRefuseReasons = 15;

/// Whether a server says so before it opens what a client sealed. The others come sealed, too.
constexpr bool may_come_in_clear(RefuseReason reason) {
  switch (reason) {
    case RefuseReason::Unspecified:  // one that a newer server has
    case RefuseReason::WrongProtocolVersion:
    case RefuseReason::ShuttingDown:
    case RefuseReason::Busy:
    case RefuseReason::Banned:
    case RefuseReason::Draining:
      return true;
    default:
      return false;
  }
}

/// Why a session ended. The first values travel (protocol.fbs); the others are only ever known locally.
enum class CloseReason : std::uint8_t {
  Unspecified = 0,
  ClientLeft,      // on purpose
  ServerShutDown,  // connect again when the server is back
  TimedOut,        // nothing arrived any more: check the network between both
  Kicked,          // by the server's game or its operator: the detail says why
  Replaced,        // the same client opened a newer session
  ProtocolError,   // what the peer sent made no sense: update both sides
  KeyUsedUp,       // after many packets: connect again, the resume ticket keeps the player
  ServerRestart,   // the server drained and ends: it is expected back, connect again
  NoAnswer,        // the server never answered: check address, port and firewall
  Refused,         // the server refused: see RefuseReason and detail
  WrongServerKey,  // whoever answers is not the server whose key was given
};
inline constexpr std::size_t kCloseReasons = 12;

std::string_view to_string(RefuseReason reason);
std::string_view to_string(CloseReason reason);
/// A sentence with what to do about it.
std::string_view explain(RefuseReason reason);
std::string_view explain(CloseReason reason);

/// What travelled, checked: a value that this build does not know is Unspecified.
RefuseReason refuse_reason_from_wire(std::uint8_t value);
CloseReason close_reason_from_wire(std::uint8_t value);
/// Why a client says that it ends its session. What only a server can know is Unspecified: a client does not say that it
/// was kicked, or that a restart is to blame and it is to be waited for.
CloseReason close_reason_from_client(std::uint8_t value);

}  // namespace shoal
