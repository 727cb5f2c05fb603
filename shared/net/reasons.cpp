#include "shared/net/reasons.hpp"

#include <array>

#include "schema/protocol_generated.h"

namespace shoal {
namespace {

struct Words {
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array<Words, kRefuseReasons> kRefuseWords{{
    {"unspecified", "the server refused without a reason that this build knows: update this side"},
    {"wrong protocol version", "both sides speak different protocol versions: update the older one"},
    {"schema mismatch", "both sides were built from different components: build them from one schema"},
    {"server full", "the server has no free session: try again later or raise its session limit"},
    {"shutting down", "the server is shutting down: connect again when it is back"},
    {"busy", "the server cannot take you at this moment: try again in some seconds"},
    {"wrong password", "the server wants another password"},
    {"ticket required", "the server lets in only who shows a ticket of its matchmaker"},
    {"ticket forged", "the ticket is damaged, or another matchmaker signed it"},
    {"ticket expired", "the ticket's time is over: ask the matchmaker for a new one"},
    {"ticket foreign", "the ticket was made for another server"},
    {"ticket used", "somebody came with this ticket before: ask the matchmaker for a new one"},
    {"banned", "the server's ban list names this address or player"},
    {"too many sessions", "too many sessions from one address: leave another one first"},
    {"draining", "the server ends soon and lets nobody in any more: connect again when it is back"},
}};

constexpr std::array<Words, kCloseReasons> kCloseWords{{
    {"unspecified", "the session ended without a reason that this build knows"},
    {"client left", "the client left"},
    {"server shut down", "the server shut down: connect again when it is back"},
    {"timed out", "nothing arrived any more: check the network between both sides"},
    {"kicked", "the server ended the session"},
    {"replaced", "the same client opened a newer session"},
    {"protocol error", "what the other side sent made no sense: update both sides"},
    {"key used up", "the session's key has sealed all that it may: connect again"},
    {"server restart", "the server ends and is expected back: connect again in a moment"},
    {"no answer", "the server never answered: check address, port and firewall, and that it runs"},
    {"refused", "the server refused the session"},
    {"wrong server key", "whoever answers has not the key that was given for this server: ask its operator"},
}};

static_assert(static_cast<std::size_t>(protocol::RefuseReason::MAX) + 1 == kRefuseReasons);
static_assert(static_cast<std::size_t>(protocol::CloseReason::MAX) + 1 <= kCloseReasons);
static_assert(static_cast<int>(protocol::RefuseReason::Busy) == static_cast<int>(RefuseReason::Busy));
static_assert(static_cast<int>(protocol::RefuseReason::TooManySessions) ==
              static_cast<int>(RefuseReason::TooManySessions));
static_assert(static_cast<int>(protocol::RefuseReason::Draining) == static_cast<int>(RefuseReason::Draining));
static_assert(static_cast<int>(protocol::RefuseReason::SchemaMismatch) ==
              static_cast<int>(RefuseReason::SchemaMismatch));
static_assert(static_cast<int>(protocol::CloseReason::Kicked) == static_cast<int>(CloseReason::Kicked));
static_assert(static_cast<int>(protocol::CloseReason::ProtocolError) ==
              static_cast<int>(CloseReason::ProtocolError));
static_assert(static_cast<int>(protocol::CloseReason::KeyUsedUp) == static_cast<int>(CloseReason::KeyUsedUp));
static_assert(static_cast<int>(protocol::CloseReason::ServerRestart) ==
              static_cast<int>(CloseReason::ServerRestart));

template <std::size_t N>
const Words& words(const std::array<Words, N>& table, std::size_t index) {
  return table[index < N ? index : 0];
}

}  // namespace

std::string_view to_string(RefuseReason reason) {
  return words(kRefuseWords, static_cast<std::size_t>(reason)).name;
}
std::string_view to_string(CloseReason reason) {
  return words(kCloseWords, static_cast<std::size_t>(reason)).name;
}
std::string_view explain(RefuseReason reason) {
  return words(kRefuseWords, static_cast<std::size_t>(reason)).sentence;
}
std::string_view explain(CloseReason reason) {
  return words(kCloseWords, static_cast<std::size_t>(reason)).sentence;
}

RefuseReason refuse_reason_from_wire(std::uint8_t value) {
  return value < kRefuseReasons ? static_cast<RefuseReason>(value) : RefuseReason::Unspecified;
}
CloseReason close_reason_from_wire(std::uint8_t value) {
  return value <= static_cast<std::uint8_t>(protocol::CloseReason::MAX) ? static_cast<CloseReason>(value)
                                                                        : CloseReason::Unspecified;
}
CloseReason close_reason_from_client(std::uint8_t value) {
  switch (const CloseReason reason = close_reason_from_wire(value)) {
    case CloseReason::ClientLeft:
    case CloseReason::TimedOut:
    case CloseReason::ProtocolError:
    case CloseReason::KeyUsedUp:
      return reason;
    default:
      return CloseReason::Unspecified;
  }
}

}  // namespace shoal
