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
  RawPeer(SimulatedNetwork& network, const Endpoint& local, std::uint64_t nonce_value)
      : nonce(nonce_value), port_(network.open(local)) {
    key.fill(static_cast<std::uint8_t>(nonce_value));
  }

  void say_hello(std::uint32_t protocol_version = kProtocolVersion) {
    writer_.hello(nonce, {protocol_version, key}, out_);
    send(out_.span());
  }
  void say_response(const HandshakeCookie& shown, const SchemaVersions& schema = {},
                    std::uint32_t protocol_version = kProtocolVersion) {
    ResponseBody body;
    body.protocol_version = protocol_version;
    body.client_key = key;
    body.cookie = shown;
    body.schema_hash = schema_hash(schema);
    body.components = schema;
    writer_.response(nonce, body, out_);
    send(out_.span());
  }
  /// A packet with any body, correctly sealed.
  void say_packet(Sequence sequence, std::span<const std::byte> body) {
    out_.size = seal({DatagramType::Packet, connection.value, sequence}, body, out_.bytes);
    send(out_.span());
  }
  void say_built(Sequence sequence, flatbuffers::FlatBufferBuilder& builder) {
    say_packet(sequence, std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
  }
  void send(std::span<const std::byte> bytes) { (void)port_->send(kServerEndpoint, bytes); }

  /// The next datagram that opens; `opened` lies in this peer.
  std::optional<Opened> hear() {
    Opened opened;
    while (port_->receive(datagram_)) {
      if (!open(datagram_.span(), body_, opened)) return opened;
    }
    return std::nullopt;
  }
  std::optional<ChallengeBody> hear_challenge() {
    const auto opened = hear();
    if (!opened || opened->header.type != DatagramType::Challenge) return std::nullopt;
    return read_challenge(opened->body);
  }
  std::optional<RefuseBody> hear_refuse() {
    const auto opened = hear();
    if (!opened || opened->header.type != DatagramType::Refuse) return std::nullopt;
    return read_refuse(opened->body);
  }
  /// Hello to Accept; the network must be without latency.
  bool join(ServerTransport& server, const SchemaVersions& schema = {}) {
    say_hello();
    server.poll();
    const auto challenge = hear_challenge();
    if (!challenge) return false;
    cookie = challenge->cookie;
    say_response(cookie, schema);
    server.poll();
    const auto opened = hear();
    if (!opened || opened->header.type != DatagramType::Accept) return false;
    const auto accept = read_accept(opened->body);
    if (!accept) return false;
    connection = accept->connection;
    return true;
  }

  std::uint64_t nonce;
  HandshakeKey key{};
  HandshakeCookie cookie;
  ConnectionId connection;
  DatagramPort& port() { return *port_; }
  const OutgoingDatagram& last_sent() const { return out_; }

 private:
  std::unique_ptr<DatagramPort> port_;
  HandshakeWriter writer_;
  OutgoingDatagram out_;
  Datagram datagram_;
  BodyBuffer body_;
};

}  // namespace shoal
