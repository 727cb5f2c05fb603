// The keys of a handshake, in the manner of Noise NK (noiseprotocol.org, revision 34): the client knows the server's
// long-lived key, the server learns who the client is from what the client seals.
//
//   es = X25519(client's ephemeral key, server's long-lived key)    seals Response and Denial
//   ee = X25519(client's ephemeral key, server's ephemeral key)     with es: seals Accept and the session
//
// Each key is derived from them over a transcript of all that both sides said, so that a handshake which somebody
// changed on the way comes to no session. Both ephemeral keys are new for every session and forgotten with it: who
// steals the server's long-lived key later reads no session, though the credentials of the Responses that they kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/limits.hpp"
#include "shared/net/cookie.hpp"
#include "shared/net/keys.hpp"
#include "shared/net/sealing.hpp"

namespace shoal {

/// What both sides know when the Response is sealed.
struct HandshakeContext {
  std::uint32_t protocol_version = 0;
  std::uint64_t nonce = 0;
  PublicKey client_key;  // ephemeral
  HandshakeCookie cookie;
  std::uint64_t schema_hash = 0;  // the server's
  PublicKey server_key;           // long-lived
};

struct ResponseKeys {
  /// `shared` is es.
  ResponseKeys(const Secret& shared, const HandshakeContext& context);

  Secret es;
  Digest256 transcript;
  SealingKey response;  // ChaCha20-Poly1305: what the other side has is not known yet
  SealingKey denial;
};

/// What a player signs to prove that the key is theirs: good for this handshake and this server alone.
Digest256 player_challenge(const Digest256& transcript);

struct SessionSecrets {
  /// `response_tag`: the tag of the Response, which stands for all that was sealed in it.
  SessionSecrets(const ResponseKeys& keys, const Secret& ee,
                 std::span<const std::byte, kPacketTagBytes> response_tag, const PublicKey& server_ephemeral);

  Secret accept;
  Secret to_server;
  Secret to_client;
};

}  // namespace shoal
