// A peer that speaks the protocol by hand, so that a test can say anything with it, honest or not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "shared/net/handshake.hpp"
#include "tests/unit/net/net_fixture.hpp"

namespace shoal {

class RawPeer {
 public:
  /// Peers with the same number have the same keys, and are the same player.
  RawPeer(SimulatedNetwork& network, const Endpoint& local, std::uint64_t nonce_value)
      : nonce(nonce_value), entropy_(nonce_value), port_(network.open(local)) {}

  void say_hello(std::uint32_t protocol_version = kProtocolVersion) {
    writer_.hello(nonce, {protocol_version, ephemeral.public_key()}, out_);
    send(out_.span());
  }
  /// The claim of an honest client; change it before say_response.
  ResponseBody claim;
  void say_response(const ChallengeBody& shown, const SchemaVersions& schema = {},
                    std::uint32_t protocol_version = kProtocolVersion) {
    challenge = shown;
    const auto es = ephemeral.agree(shown.server_key);
    response_keys.emplace(es.value_or(Secret{}),
                          HandshakeContext{protocol_version, nonce, ephemeral.public_key(), shown.cookie,
                                           shown.schema_hash, shown.server_key});
    ResponseBody body = claim;
    body.schema_hash = schema_hash(schema);
    body.components = schema;
    body.player_key = player.public_key();
    if (!keeps_signature) {
      const Digest256 digest = player_challenge(response_keys->transcript);
      body.player_signature = player.sign(std::as_bytes(std::span(digest)));
    }
    writer_.response(response_keys->response, nonce, {protocol_version, ephemeral.public_key(), shown.cookie},
                     body, out_);
    response = out_;
    send(out_.span());
  }
  /// A packet with any body, correctly sealed once joined.
  void say_packet(Sequence sequence, std::span<const std::byte> body) {
    const SealingKey nobodys(Cipher::ChaCha20Poly1305, Secret{});
    out_.size = seal(keys ? keys->send : nobodys, {DatagramType::Packet, connection.value, sequence}, {},
                     body, out_.bytes);
    send(out_.span());
  }
  void say_built(Sequence sequence, flatbuffers::FlatBufferBuilder& builder) {
    say_packet(sequence, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
  }
  void send(std::span<const std::byte> bytes) { (void)port_->send(kServerEndpoint, bytes); }

  /// The next datagram that opens with what this peer knows; the body lies in this peer.
  std::optional<Opened> hear() {
    Opened opened;
    while (port_->receive(datagram_)) {
      PacketHeader header;
      if (read_header(datagram_.span(), header)) continue;
      switch (header.type) {
        case DatagramType::Accept:
          if (open_accept(opened)) return opened;
          break;
        case DatagramType::Denial:
          if (response_keys && !open(response_keys->denial, datagram_.span(), 0, body_, opened))
            return opened;
          break;
        case DatagramType::Packet:
          if (keys && !open(keys->receive, datagram_.span(), 0, body_, opened)) return opened;
          break;
        default:
          if (!read_clear(datagram_.span(), body_, opened)) return opened;
      }
    }
    return std::nullopt;
  }
  std::optional<ChallengeBody> hear_challenge() {
    const auto opened = hear();
    if (!opened || opened->header.type != DatagramType::Challenge) return std::nullopt;
    return read_challenge(opened->body);
  }
  /// In clear or sealed.
  std::optional<RefuseBody> hear_refuse() {
    const auto opened = hear();
    if (!opened ||
        (opened->header.type != DatagramType::Refuse && opened->header.type != DatagramType::Denial))
      return std::nullopt;
    return read_refuse(opened->body);
  }
  std::optional<AcceptBody> hear_accept() {
    const auto opened = hear();
    if (!opened || opened->header.type != DatagramType::Accept) return std::nullopt;
    auto accept = read_accept(opened->body);
    if (!accept) return std::nullopt;
    connection = accept->connection;
    keys.emplace(
        ConnectionKeys{{accept->cipher, secrets_->to_server}, {accept->cipher, secrets_->to_client}});
    return accept;
  }
  /// Hello to Accept, with a Server or its transport; the network must be without latency.
  template <class S>
  bool join(S& server, const SchemaVersions& schema = {}) {
    say_hello();
    server.poll();
    const auto shown = hear_challenge();
    if (!shown) return false;
    say_response(*shown, schema);
    server.poll();
    return hear_accept().has_value();
  }

  std::uint64_t nonce;

 private:
  SeededEntropy entropy_;

 public:
  AgreementKey ephemeral = AgreementKey::make(entropy_);
  SignatureKey player = SignatureKey::make(entropy_);
  bool keeps_signature = false;  // of the claim, in place of an honest one
  ChallengeBody challenge;
  OutgoingDatagram response;
  std::optional<ResponseKeys> response_keys;
  std::optional<ConnectionKeys> keys;
  ConnectionId connection;
  DatagramPort& port() { return *port_; }
  const OutgoingDatagram& last_sent() const { return out_; }
  /// The datagram that hear() looked at last.
  const Datagram& last_heard() const { return datagram_; }

 private:
  bool open_accept(Opened& opened) {
    const auto server_ephemeral = read_accept_clear(datagram_.span());
    const auto ee = server_ephemeral && response_keys ? ephemeral.agree(*server_ephemeral) : std::nullopt;
    if (!ee) return false;
    secrets_.emplace(*response_keys, *ee, response.span().last<kPacketTagBytes>(), *server_ephemeral);
    return !open({Cipher::ChaCha20Poly1305, secrets_->accept}, datagram_.span(), kKeyBytes, body_, opened);
  }

  std::unique_ptr<DatagramPort> port_;
  HandshakeWriter writer_;
  OutgoingDatagram out_;
  Datagram datagram_;
  BodyBuffer body_;
  std::optional<SessionSecrets> secrets_;
};

}  // namespace shoal
