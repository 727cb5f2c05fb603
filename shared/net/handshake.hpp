// The datagrams of the handshake, writer and reader side by side. Stateless: what both sides remember between
// them lies in the transports.
//
//   client                                server
//     │ Hello (1200 bytes) ────────────────► │  keeps nothing
//     │ ◄──────────────────────── Challenge  │  cookie
//     │ Response (cookie, schema) ─────────► │  opens the session
//     │ ◄───────────────────────────── Accept│  connection id
//     │ ◄─────────────────────────── (Refuse)│  reason and detail, in place of any answer
//
// Every datagram carries the client's nonce in its header; the client drops what carries another one.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/time.hpp"
#include "shared/net/connection.hpp"
#include "shared/net/cookie.hpp"
#include "shared/net/reasons.hpp"
#include "shared/net/schema_versions.hpp"

namespace shoal {

struct HelloBody {
  std::uint32_t protocol_version = 0;
  HandshakeKey client_key{};
};
struct ChallengeBody {
  HandshakeCookie cookie;
  std::uint64_t schema_hash = 0;
};
struct ResponseBody {
  std::uint32_t protocol_version = 0;
  HandshakeKey client_key{};
  HandshakeCookie cookie;
  std::uint64_t schema_hash = 0;
  SchemaVersions components;               // sorted; none when the hashes agree; see read_response_components
  bool components_cut = false;             // only the first ones fit
  std::span<const std::byte> credentials;  // in the body that was read
};
struct AcceptBody {
  ConnectionId connection;
  Duration time_out{};
  std::uint32_t tick_rate_hz = 0;
};
struct RefuseBody {
  RefuseReason reason = RefuseReason::Unspecified;
  std::string detail;
};

/// Longest detail of a refusal or a close; longer ones are cut.
inline constexpr std::size_t kMaxDetailBytes = 800;
/// Largest credentials that a Response carries.
inline constexpr std::size_t kMaxCredentialBytes = 256;

class HandshakeWriter {
 public:
  void hello(std::uint64_t nonce, const HelloBody& body, OutgoingDatagram& datagram);
  void challenge(std::uint64_t nonce, const ChallengeBody& body, OutgoingDatagram& datagram);
  void response(std::uint64_t nonce, const ResponseBody& body, OutgoingDatagram& datagram);
  void accept(std::uint64_t nonce, const AcceptBody& body, OutgoingDatagram& datagram);
  void refuse(std::uint64_t nonce, const RefuseBody& body, OutgoingDatagram& datagram);

 private:
  void finish(DatagramType type, std::uint64_t nonce, OutgoingDatagram& datagram);

  flatbuffers::FlatBufferBuilder builder_{2048};
};

/// None: the body is malformed.
std::optional<HelloBody> read_hello(std::span<const std::byte> body);
std::optional<ChallengeBody> read_challenge(std::span<const std::byte> body);
/// Without the components: nothing is allocated for a peer whose cookie is not checked yet.
std::optional<ResponseBody> read_response(std::span<const std::byte> body);
/// REQUIRES: read_response() took the same body.
SchemaVersions read_response_components(std::span<const std::byte> body);
std::optional<AcceptBody> read_accept(std::span<const std::byte> body);
std::optional<RefuseBody> read_refuse(std::span<const std::byte> body);

/// Text from the wire, fit for a log line or a screen: at most kMaxDetailBytes, control characters replaced.
std::string printable(std::string_view text);

}  // namespace shoal
