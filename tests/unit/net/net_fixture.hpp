// A server and clients on a simulated network under a virtual clock, with handlers that write down what they
// are told.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shared/net/client_transport.hpp"
#include "shared/net/input_channel.hpp"
#include "shared/net/server_transport.hpp"
#include "shared/net/simulated_network.hpp"

namespace shoal {

inline const Endpoint kServerEndpoint = Endpoint::ipv4(10, 0, 0, 1, 7777);
inline Endpoint client_endpoint(std::uint16_t number) {
  return Endpoint::ipv4(10, 0, 1, 1, static_cast<std::uint16_t>(40000 + number));
}

inline SchemaVersions demo_schema() {
  return {{0x20, 0x1111, "shoal.demo.Health"}, {0x10, 0x2222, "shoal.demo.Position"}};
}

/// How each packet that was sent ended: exactly once, or the test fails.
class FateBook {
 public:
  void sent(Sequence sequence) { open_[sequence.value] = true; }
  void ended(Sequence sequence, bool acknowledged) {
    const auto found = open_.find(sequence.value);
    ASSERT_NE(found, open_.end()) << "sequence " << sequence.value << " was never sent";
    ASSERT_TRUE(found->second) << "sequence " << sequence.value << " ended twice";
    found->second = false;
    ++(acknowledged ? acknowledged_count : lost_count);
  }
  std::size_t open_count() const {
    std::size_t count = 0;
    for (const auto& [sequence, is_open] : open_) count += is_open ? 1 : 0;
    return count;
  }

  std::uint64_t acknowledged_count = 0;
  std::uint64_t lost_count = 0;

 private:
  std::map<std::uint64_t, bool> open_;
};

class ServerRecorder : public ServerTransport::Handler {
 public:
  void on_joined(SessionId session, const JoinRequest& request) override {
    joined.push_back(session);
    players.push_back(request.player);
    names.emplace_back(request.name);
    if (when_joined) when_joined(session);
  }
  PacketVerdict on_packet(SessionId session, Sequence sequence, const protocol::Packet& packet) override {
    packets.push_back({session, sequence});
    return when_packet ? when_packet(session, *packet.payload_as_ClientUpdate()) : PacketVerdict::Acknowledge;
  }
  bool on_message(SessionId session, ReceivedMessage message) override {
    messages[session].emplace_back(message.span().begin(), message.span().end());
    return !when_message || when_message(session);
  }
  void on_acknowledged(SessionId session, Sequence sequence) override {
    fates[session].ended(sequence, true);
  }
  void on_lost(SessionId session, Sequence sequence) override { fates[session].ended(sequence, false); }
  void on_left(SessionId session, CloseReason reason) override { left.push_back({session, reason}); }
  void on_refused(const Endpoint&, RefuseReason reason, std::string_view detail) override {
    refused.push_back({reason, std::string(detail)});
  }

  std::vector<SessionId> joined;
  std::vector<PlayerId> players;  // of those who joined
  std::vector<std::string> names;
  std::vector<std::pair<SessionId, Sequence>> packets;
  std::vector<std::pair<SessionId, CloseReason>> left;
  std::vector<std::pair<RefuseReason, std::string>> refused;
  std::map<SessionId, FateBook> fates;
  std::map<SessionId, std::vector<std::vector<std::byte>>> messages;
  std::function<bool(SessionId)> when_message;
  std::function<void(SessionId)> when_joined;
  std::function<PacketVerdict(SessionId, const protocol::ClientUpdate&)> when_packet;
};

class ClientRecorder : public ClientTransport::Handler {
 public:
  void on_connected(const AcceptBody& body) override {
    ++connected;
    accept = body;
    fates = {};
  }
  PacketVerdict on_packet(Sequence sequence, const protocol::Packet& packet) override {
    packets.push_back(sequence);
    return when_packet ? when_packet(*packet.payload_as_Frame()) : PacketVerdict::Acknowledge;
  }
  bool on_message(ReceivedMessage message) override {
    messages.emplace_back(message.span().begin(), message.span().end());
    return takes_messages;
  }
  void on_acknowledged(Sequence sequence) override { fates.ended(sequence, true); }
  void on_lost(Sequence sequence) override { fates.ended(sequence, false); }
  void on_closed(CloseReason reason, std::string_view detail) override {
    closed.push_back({reason, std::string(detail)});
  }

  int connected = 0;
  AcceptBody accept;
  std::vector<Sequence> packets;
  std::vector<std::vector<std::byte>> messages;
  bool takes_messages = true;
  std::vector<std::pair<CloseReason, std::string>> closed;
  FateBook fates;
  std::function<PacketVerdict(const protocol::Frame&)> when_packet;
};

struct TestServer {
  TestServer(SimulatedNetwork& network, const Clock& clock, ServerTransportConfig config = {},
             const Endpoint& endpoint = kServerEndpoint, std::uint64_t seed = 1)
      : port(network.open(endpoint)),
        entropy(seed),
        transport(*port, clock, entropy, std::move(config), handler) {}

  /// Sends a frame that only carries a tick.
  Result<Sequence, SendError> send_frame(SessionId session, std::uint32_t tick, std::size_t body_bytes = 0) {
    flatbuffers::FlatBufferBuilder& builder = transport.builder();
    const std::vector<std::uint8_t> body(body_bytes, 0xAB);
    const auto bodies = body.empty() ? 0 : builder.CreateVector(body);
    protocol::FrameBuilder frame(builder);
    frame.add_tick(tick);
    frame.add_bodies(bodies);
    auto sequence = transport.send(session, frame.Finish());
    if (sequence) handler.fates[session].sent(*sequence);
    return sequence;
  }

  std::unique_ptr<DatagramPort> port;
  SeededEntropy entropy;
  ServerRecorder handler;
  ServerTransport transport;
};

struct TestClient {
  TestClient(SimulatedNetwork& network, const Clock& clock, std::uint16_t number,
             ClientTransportConfig config = {})
      : port(network.open(client_endpoint(number))),
        entropy(1000u + number),
        transport(*port, clock, entropy, with_server(std::move(config)), handler) {}

  Result<Sequence, SendError> send_update(std::uint32_t newest_tick) {
    flatbuffers::FlatBufferBuilder& builder = transport.builder();
    auto sequence = transport.send(protocol::CreateClientUpdate(builder, newest_tick));
    if (sequence) handler.fates.sent(*sequence);
    return sequence;
  }
  static ClientTransportConfig with_server(ClientTransportConfig config) {
    config.server = kServerEndpoint;
    return config;
  }

  std::unique_ptr<DatagramPort> port;
  SeededEntropy entropy;
  ClientRecorder handler;
  ClientTransport transport;
};

/// The clock goes on in steps of one millisecond; `step` is called at each, then everyone polls.
class NetTest : public ::testing::Test {
 protected:
  explicit NetTest(std::uint64_t seed = 7) : network(clock, seed) {}

  TestClient& add_client(std::uint16_t number, ClientTransportConfig config = {}) {
    clients.push_back(std::make_unique<TestClient>(network, clock, number, std::move(config)));
    return *clients.back();
  }
  void run(Duration duration, const std::function<void()>& step = {}) {
    const Time end = clock.now() + duration;
    while (clock.now() < end) {
      clock.advance(milliseconds{1});
      if (step) step();
      poll_all();
    }
  }
  void poll_all() {
    if (server != nullptr) server->transport.poll();
    for (const auto& client : clients) client->transport.poll();
  }
  void start_server(ServerTransportConfig config = {}) {
    server = std::make_unique<TestServer>(network, clock, std::move(config));
  }

  ManualClock clock;
  SimulatedNetwork network;
  std::unique_ptr<TestServer> server;
  std::vector<std::unique_ptr<TestClient>> clients;
};

}  // namespace shoal
