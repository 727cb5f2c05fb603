#include "tests/support/allocation_counter.hpp"
#include "tests/unit/net/net_fixture.hpp"

namespace shoal {
namespace {

struct QuietServer final : ServerTransport::Handler {
  void on_joined(SessionId, const JoinRequest&) override {}
  PacketVerdict on_packet(SessionId, Sequence, const protocol::Packet&) override {
    ++packets;
    return PacketVerdict::Acknowledge;
  }
  void on_acknowledged(SessionId, Sequence) override { ++ended; }
  void on_lost(SessionId, Sequence) override { ++ended; }
  void on_left(SessionId, CloseReason) override {}
  std::uint64_t packets = 0;
  std::uint64_t ended = 0;
};
struct QuietClient final : ClientTransport::Handler {
  void on_connected(const AcceptBody&) override {}
  PacketVerdict on_packet(Sequence, const protocol::Packet&) override {
    ++packets;
    return PacketVerdict::Acknowledge;
  }
  void on_acknowledged(Sequence) override {}
  void on_lost(Sequence) override {}
  void on_closed(CloseReason, std::string_view) override {}
  std::uint64_t packets = 0;
};

TEST(Allocation, PacketsInTheSteadyStateCostNone) {
  ManualClock clock;
  SimulatedNetwork network(clock, 1);
  network.set_default_link(
      {.loss_percent = 10, .duplicate_percent = 5, .latency = milliseconds{20}, .jitter = milliseconds{5}});
  const auto server_port = network.open(kServerEndpoint);
  const auto client_port = network.open(client_endpoint(1));
  SeededEntropy entropy(1);
  QuietServer server_handler;
  QuietClient client_handler;
  ServerTransport server(*server_port, clock, entropy, {}, server_handler);
  ClientTransport client(*client_port, clock, entropy, {.server = kServerEndpoint}, client_handler);
  client.connect();
  InputSender inputs;
  InputReceiver input_receiver;
  std::uint32_t tick = 0;
  const auto play = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      ++tick;
      for (int ms = 0; ms < 16; ++ms) {
        clock.advance(milliseconds{1});
        server.poll();
        client.poll();
      }
      server.for_each_session([&](SessionId id) {
        flatbuffers::FlatBufferBuilder& builder = server.builder();
        std::uint8_t* body = nullptr;
        const auto bodies = builder.CreateUninitializedVector(700, 1, &body);
        protocol::FrameBuilder frame(builder);
        frame.add_tick(tick);
        frame.add_bodies(bodies);
        (void)server.send(id, frame.Finish());
      });
      if (client.state() != ClientState::Connected) continue;
      inputs.push(Tick{tick}, std::array<std::byte, 8>{});
      flatbuffers::FlatBufferBuilder& builder = client.builder();
      const auto list = inputs.build(builder, 600);
      (void)client.send(protocol::CreateClientUpdate(builder, tick, list));
    }
  };
  play(1500);  // join, grow every buffer to its size
  ASSERT_EQ(client.state(), ClientState::Connected);
  const std::uint64_t packets = server_handler.packets + client_handler.packets;
  const std::size_t before = test::allocations_so_far();
  play(600);
  EXPECT_EQ(test::allocations_so_far() - before, 0u);
  EXPECT_GT(server_handler.packets + client_handler.packets, packets + 900u);
  EXPECT_GT(server_handler.ended, 800u);
}

}  // namespace
}  // namespace shoal
