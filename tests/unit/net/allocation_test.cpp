// The steady state allocates nothing: counted by a global operator new of this test program. The sanitizers
// bring one of their own, so their builds do not count.
#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/unit/net/net_fixture.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHOAL_TEST_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHOAL_TEST_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef SHOAL_TEST_COUNTS_ALLOCATIONS
#define SHOAL_TEST_COUNTS_ALLOCATIONS 1
#endif

namespace {

std::atomic<std::uint64_t> allocations{0};

[[maybe_unused]] void* counted(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

#if SHOAL_TEST_COUNTS_ALLOCATIONS
void* operator new(std::size_t bytes) {
  return counted(bytes);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

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
  if (SHOAL_TEST_COUNTS_ALLOCATIONS == 0) GTEST_SKIP() << "a sanitizer owns operator new";
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
  const std::uint64_t before = allocations.load();
  play(600);
  EXPECT_EQ(allocations.load() - before, 0u);
  EXPECT_GT(server_handler.packets + client_handler.packets, packets + 900u);
  EXPECT_GT(server_handler.ended, 800u);
}

}  // namespace
}  // namespace shoal
