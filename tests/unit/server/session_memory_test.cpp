// What a session costs the server's memory, everything included that it holds for one client: transport, channels, and
// what it knows of the client's mirror.
#include "schema/messages_generated.h"
#include "tests/unit/net/raw_peer.hpp"
#include "tests/unit/server/served_world.hpp"

namespace shoal {
namespace {

using demo::Health;
using demo::Position;
using test::live_bytes;

constexpr std::size_t kEntities = 5000;

/// Whatever the network in memory holds is none of the server's.
class ForeignMemory final : public DatagramPort {
 public:
  explicit ForeignMemory(DatagramPort& inner) : inner_(inner) {}
  bool send(const Endpoint& peer, std::span<const std::byte> datagram) override {
    return apart([&] { return inner_.send(peer, datagram); });
  }
  void flush() override {
    apart([&] { return inner_.flush(), true; });
  }
  bool receive(Datagram& datagram) override {
    return apart([&] { return inner_.receive(datagram); });
  }
  Endpoint local() const override { return inner_.local(); }
  PortCounters counters() const override { return inner_.counters(); }

  std::size_t grown = 0;  // modulo 2^64

 private:
  template <class F>
  bool apart(F f) {
    const std::size_t before = live_bytes();
    const bool result = f();
    grown += live_bytes() - before;
    return result;
  }
  DatagramPort& inner_;
};

class SessionMemoryTest : public ::testing::Test {
 protected:
  static constexpr Endpoint kServer = Endpoint::ipv4(10, 0, 0, 1, 7777);

  void SetUp() override {
    game.begin = [this](Registry& registry) {
      for (std::size_t i = 0; i < kEntities; ++i) {
        const Entity entity = registry.create();
        registry.emplace<Position>(entity, static_cast<float>(i % 100) - 50, static_cast<float>(i) / 50 - 50,
                                   0.0f);
        registry.emplace<Health>(entity, std::uint16_t{1}, std::uint16_t{1000});
        entities.push_back(entity);
      }
    };
    ServerConfig config;
    config.interest.radius = 1000;  // everyone sees everything
    config.time_out = seconds(60);
    inner_port = network.open(kServer);
    port.emplace(*inner_port);
    held([&] { server.emplace(game, *port, clock, entropy, config); });
    held([&] { server->run_tick(); });
  }
  /// Runs f, and counts what the server holds more than before.
  template <class F>
  void held(F f) {
    port->grown = 0;
    const std::size_t before = live_bytes();
    f();
    server_bytes += live_bytes() - before - port->grown;
  }
  void run_tick() {
    clock.advance(Duration(seconds(1)) / test::kTickRate);
    held([&] {
      server->poll();
      server->run_tick();
    });
  }
  /// As a peer joins it.
  struct MeteredServer {
    SessionMemoryTest& test;
    void poll() const {
      test.held([this] { test.server->poll(); });
    }
  };
  RawPeer& join() {
    const auto number = static_cast<std::uint8_t>(peers.size() + 1);
    RawPeer& peer = *peers.emplace_back(
        std::make_unique<RawPeer>(network, Endpoint::ipv4(10, 0, 3, number, 5000), 100u + number));
    const MeteredServer metered{*this};
    EXPECT_TRUE(peer.join(metered, schema_versions(server->table())));
    return peer;
  }
  /// Says that all that came so far was taken.
  void acknowledge(RawPeer& peer) {
    std::uint64_t newest = 0;
    while (const auto opened = peer.hear()) newest = std::max(newest, opened->header.sequence.value);
    flatbuffers::FlatBufferBuilder builder;
    const std::vector<protocol::AckRange> ranges{
        {0, static_cast<std::uint16_t>(std::min<std::uint64_t>(newest, 1000))}};
    const auto acks = newest == 0 ? 0 : builder.CreateVectorOfStructs(ranges);
    builder.Finish(protocol::CreatePacket(builder, newest, acks));
    peer.say_built(Sequence{++said[&peer]}, builder);
  }

  /// The largest messages first, then what still fits.
  static void fill_queues(GameMessages& messages, SessionId session) {
    for (const std::size_t bytes : {1'000'000u, 200'000u, 40'000u, 1'000u, 10u}) {
      for (const MessageChannel channel : {MessageChannel::Ordered, MessageChannel::Unordered}) {
        while (messages.messages().send<demo::Said>(session, channel, [&](MessageRouter::Builder& builder) {
          return demo::CreateSaid(builder, builder.CreateString(std::string(bytes, 'x')));
        }))
          continue;
      }
    }
  }
  /// The last unit of each message that fits the server's windows.
  void begin_messages(RawPeer& peer) {
    constexpr std::uint32_t kBytes = 65'000;
    flatbuffers::FlatBufferBuilder builder;
    const auto last = static_cast<std::uint16_t>(message_units(kBytes) - 1);
    const std::vector<protocol::FragmentEntry> entries{{0, kBytes, last, 1}, {1, kBytes, last, 1}};
    const auto ordered = builder.CreateVectorOfStructs(entries);
    const auto unordered = builder.CreateVectorOfStructs(entries);
    const auto bodies =
        builder.CreateVector(std::vector<std::uint8_t>(4 * fragment_bytes(kBytes, last, 1), std::uint8_t{7}));
    protocol::MessagesBuilder messages(builder);
    messages.add_ordered(ordered);
    messages.add_unordered(unordered);
    messages.add_bodies(bodies);
    builder.Finish(
        protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::Messages, messages.Finish().Union()));
    peer.say_built(Sequence{++said[&peer]}, builder);
  }
  /// A sign of life without acknowledgements.
  void say_nothing(RawPeer& peer) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(protocol::CreatePacket(builder, 0, 0, 0));
    peer.say_built(Sequence{++said[&peer]}, builder);
  }

  ManualClock clock;
  SeededEntropy entropy{1};
  SimulatedNetwork network{clock, 1};
  test::ServedGame game;
  std::vector<Entity> entities;
  std::unique_ptr<DatagramPort> inner_port;
  std::optional<ForeignMemory> port;
  std::optional<Server> server;
  std::vector<std::unique_ptr<RawPeer>> peers;
  std::map<RawPeer*, std::uint64_t> said;
  std::size_t server_bytes = 0;
};

TEST_F(SessionMemoryTest, OneThatIsIdleTakesAtMost128KiB) {
  constexpr std::size_t kSessions = 32;
  const auto rest = [this](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      run_tick();
      for (const auto& peer : peers) acknowledge(*peer);
    }
  };
  join();
  rest(90);
  const std::size_t with_one = server_bytes;
  while (peers.size() < kSessions + 1) join();
  rest(90);
  ASSERT_EQ(server->session_count(), kSessions + 1);
  const std::size_t each = (server_bytes - with_one) / kSessions;
  RecordProperty("bytes_per_idle_session", std::to_string(each));
  EXPECT_LE(each, std::size_t{128} << 10);
  EXPECT_GE(each, sizeof(Connection)) << "was anything counted?";
}

// Everything moves and nothing is acknowledged; both queues to the client are full, and it has begun all the messages
// that it may and completes none.
TEST_F(SessionMemoryTest, OneAtItsWorstTakesAtMost2MiB) {
  RawPeer& steady = join();
  for (int i = 0; i < 90; ++i) {
    run_tick();
    acknowledge(steady);
  }
  game.each_tick = [this](Registry& registry, Tick tick) {
    for (const Entity entity : entities)
      registry.patch<Position>(entity,
                               [&](Position& place) { place.z = static_cast<float>(tick.value % 100); });
  };
  // What messages are built in is the server's own.
  game.when_tick_is_over = [&](GameMessages& messages) { fill_queues(messages, SessionId{}); };
  for (int i = 0; i < 90; ++i) {
    run_tick();
    acknowledge(steady);
  }
  const std::size_t without = server_bytes;
  RawPeer& liar = join();
  std::size_t most = 0;
  game.when_tick_is_over = [&](GameMessages& messages) {
    messages.for_each_session([&](SessionId session) {
      if (messages.player_of(session) != PlayerNumber{1}) fill_queues(messages, session);
    });
  };
  for (int i = 0; i < 150; ++i) {
    if (i == 0) begin_messages(liar);
    say_nothing(liar);
    run_tick();
    most = std::max(most, server_bytes - without);
    while (liar.hear()) continue;
    acknowledge(steady);
  }
  ASSERT_EQ(server->session_count(), 2u) << "it is still there";
  RecordProperty("bytes_of_worst_session", std::to_string(most));
  EXPECT_LE(most, std::size_t{2} << 20);
  EXPECT_GE(most, std::size_t{1'200'000}) << "both queues to it were full";
}

}  // namespace
}  // namespace shoal
