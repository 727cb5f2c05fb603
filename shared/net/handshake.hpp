// The datagrams of the handshake, writer and reader side by side. Stateless: what both sides remember between
// them lies in the transports; which keys seal what, in handshake_keys.hpp.
//
//   client                                server
//     │ Hello (1200 bytes) ────────────────► │  keeps nothing
//     │ ◄──────────────────────── Challenge  │  cookie, long-lived key
//     │ Response (cookie, sealed claim) ───► │  opens the session
//     │ ◄───────────────────── Accept (sealed)│  ephemeral key, connection id, resume ticket
//     │ ◄──────────── (Refuse, Denial)       │  reason and detail in place of any answer; sealed if it can be
//
// Every datagram carries the client's nonce in its header; the client drops what carries another one.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/time.hpp"
#include "shared/net/connection.hpp"
#include "shared/net/cookie.hpp"
#include "shared/net/handshake_keys.hpp"
#include "shared/net/player_id.hpp"
#include "shared/net/reasons.hpp"
#include "shared/wire/schema_versions.hpp"

namespace shoal {

struct HelloBody {
  std::uint32_t protocol_version = 0;
  PublicKey client_key;
};
struct ChallengeBody {
  HandshakeCookie cookie;
  std::uint64_t schema_hash = 0;
  PublicKey server_key;
};

/// What stands in clear before the sealed part of a Response:
///
///   0                  4              36                  44              76
///   │ version (LE)     │ client_key   │ cookie: time (LE) │ cookie: code  │
struct ResponseClear {
  static constexpr std::size_t kBytes = 4 + kKeyBytes + 8 + 32;

  std::uint32_t protocol_version = 0;
  PublicKey client_key;
  HandshakeCookie cookie;
};

enum class CredentialKind : std::uint8_t { None = 0, Password, Ticket, Resume };

struct ResponseBody {
  std::uint64_t schema_hash = 0;
  SchemaVersions components;  // sorted; none when the hashes agree; see read_response_components
  bool components_cut = false;
  CredentialKind credential_kind = CredentialKind::None;
  std::span<const std::byte> credentials;  // in the body that was read
  PublicKey player_key;
  Signature player_signature;
  std::uint8_t ciphers = 0;  // bit n: Cipher n
};

struct AcceptBody {
  ConnectionId connection;
  Duration time_out{};
  std::uint32_t tick_rate_hz = 0;
  Cipher cipher = Cipher::ChaCha20Poly1305;
  PlayerId player;
  std::vector<std::byte> resume_ticket;
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
  void response(const SealingKey& key, std::uint64_t nonce, const ResponseClear& clear,
                const ResponseBody& body, OutgoingDatagram& datagram);
  void accept(const SealingKey& key, std::uint64_t nonce, const PublicKey& server_ephemeral,
              const AcceptBody& body, OutgoingDatagram& datagram);
  void refuse(std::uint64_t nonce, const RefuseBody& body, OutgoingDatagram& datagram);
  /// `number` is new for each denial under this key: draw it at random.
  void denial(const SealingKey& key, std::uint64_t nonce, Sequence number, const RefuseBody& body,
              OutgoingDatagram& datagram);

 private:
  std::span<const std::byte> built() const;
  void build_refuse(const RefuseBody& body);

  flatbuffers::FlatBufferBuilder builder_{2048};
};

/// None, here and below: the body is malformed.
std::optional<HelloBody> read_hello(std::span<const std::byte> body);
std::optional<ChallengeBody> read_challenge(std::span<const std::byte> body);
/// From the whole datagram, whose header was read.
std::optional<ResponseClear> read_response_clear(std::span<const std::byte> datagram);
/// Without the components.
std::optional<ResponseBody> read_response(std::span<const std::byte> body);
/// REQUIRES: read_response() took the same body.
SchemaVersions read_response_components(std::span<const std::byte> body);
/// The server's ephemeral key, from the whole datagram.
std::optional<PublicKey> read_accept_clear(std::span<const std::byte> datagram);
std::optional<AcceptBody> read_accept(std::span<const std::byte> body);
/// Of a Refuse or of an opened Denial.
std::optional<RefuseBody> read_refuse(std::span<const std::byte> body);

/// Text from the wire, fit for a log line or a screen: UTF-8, whole characters, at most kMaxDetailBytes; what steers a
/// terminal is replaced, and what is no UTF-8.
std::string printable(std::string_view text);

}  // namespace shoal
