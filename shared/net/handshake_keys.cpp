#include "shared/net/handshake_keys.hpp"

#include <sodium.h>

#include <algorithm>

namespace shoal {
namespace {

Digest256 transcript_of(const HandshakeContext& context) {
  return Hasher("shoal handshake")
      .add(std::uint64_t{context.protocol_version})
      .add(context.nonce)
      .add(context.client_key)
      .add(context.cookie.issued_seconds)
      .add(std::span<const std::uint8_t>(context.cookie.code))
      .add(context.schema_hash)
      .add(context.server_key)
      .finish();
}

SealingKey handshake_key(const Secret& es, std::string_view label, const Digest256& transcript) {
  return {Cipher::ChaCha20Poly1305, derive({es.data(), kKeyBytes}, label, transcript)};
}

}  // namespace

ResponseKeys::ResponseKeys(const Secret& shared, const HandshakeContext& context)
    : es(shared),
      transcript(transcript_of(context)),
      response(handshake_key(es, "shoal response", transcript)),
      denial(handshake_key(es, "shoal denial", transcript)) {}

Digest256 player_challenge(const Digest256& transcript) {
  return Hasher("shoal player").add(std::span<const std::uint8_t>(transcript)).finish();
}

SessionSecrets::SessionSecrets(const ResponseKeys& keys, const Secret& ee,
                               std::span<const std::byte, kPacketTagBytes> response_tag,
                               const PublicKey& server_ephemeral) {
  const Digest256 transcript = Hasher("shoal session")
                                   .add(std::span<const std::uint8_t>(keys.transcript))
                                   .add(std::span<const std::byte>(response_tag))
                                   .add(server_ephemeral)
                                   .finish();
  std::array<std::uint8_t, 2 * kKeyBytes> both;
  std::copy_n(keys.es.data(), kKeyBytes, both.begin());
  std::copy_n(ee.data(), kKeyBytes, both.begin() + kKeyBytes);
  accept = derive(both, "shoal accept", transcript);
  to_server = derive(both, "shoal to server", transcript);
  to_client = derive(both, "shoal to client", transcript);
  sodium_memzero(both.data(), both.size());
}

}  // namespace shoal
