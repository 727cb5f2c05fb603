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
    {"busy", "too many sessions came and went: try again in some seconds"},
}};

constexpr std::array<Words, kCloseReasons> kCloseWords{{
    {"unspecified", "the session ended without a reason that this build knows"},
    {"client left", "the client left"},
    {"server shut down", "the server shut down: connect again when it is back"},
    {"timed out", "nothing arrived any more: check the network between both sides"},
    {"kicked", "the server ended the session"},
    {"replaced", "the same client opened a newer session"},
    {"protocol error", "what the other side sent made no sense: update both sides"},
    {"no answer", "the server never answered: check address, port and firewall, and that it runs"},
    {"refused", "the server refused the session"},
}};

static_assert(static_cast<std::size_t>(protocol::RefuseReason::MAX) + 1 == kRefuseReasons);
static_assert(static_cast<std::size_t>(protocol::CloseReason::MAX) + 1 <= kCloseReasons);
static_assert(static_cast<int>(protocol::RefuseReason::Busy) == static_cast<int>(RefuseReason::Busy));
static_assert(static_cast<int>(protocol::RefuseReason::SchemaMismatch) ==
              static_cast<int>(RefuseReason::SchemaMismatch));
static_assert(static_cast<int>(protocol::CloseReason::Kicked) == static_cast<int>(CloseReason::Kicked));
static_assert(static_cast<int>(protocol::CloseReason::ProtocolError) ==
              static_cast<int>(CloseReason::ProtocolError));

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

}  // namespace shoal
