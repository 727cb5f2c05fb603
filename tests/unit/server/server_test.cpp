#include "server/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "schema/components_descriptors.hpp"
#include "server/demo/demo_game.hpp"
#include "shared/net/handshake.hpp"
#include "shared/net/simulated_network.hpp"
#include "tests/unit/server/served_world.hpp"

namespace shoal {
namespace {

using ::testing::HasSubstr;

TEST(Server, SameSeedGivesTheSameWorldTickByTick) {
  const auto digests = [](std::uint64_t seed) {
    ManualClock clock;
    SeededEntropy entropy(1);
    SimulatedNetwork network(clock, 1);
    const auto port = network.open(Endpoint::ipv4(10, 0, 0, 1, 7777));
    demo::DemoGame game({.entities = 200, .seed = seed});
    Server server(game, *port, clock, entropy, ServerConfig{});
    std::vector<std::uint64_t> result;
    for (int i = 0; i < 200; ++i) {
      server.run_tick();
      result.push_back(digest_world(server.registry(), server.table()).hash);
    }
    return result;
  };
  EXPECT_EQ(digests(5), digests(5));
  EXPECT_NE(digests(5), digests(6));
}

TEST(Server, FrozenWorldStandsStill) {
  ManualClock clock;
  SeededEntropy entropy(1);
  SimulatedNetwork network(clock, 1);
  const auto port = network.open(Endpoint::ipv4(10, 0, 0, 1, 7777));
  demo::DemoGame game({.entities = 100, .seed = 5});
  Server server(game, *port, clock, entropy, ServerConfig{});
  for (int i = 0; i < 50; ++i) server.run_tick();
  server.freeze();
  const WorldDigest before = digest_world(server.registry(), server.table());
  for (int i = 0; i < 50; ++i) server.run_tick();
  EXPECT_EQ(digest_world(server.registry(), server.table()), before);
  EXPECT_TRUE(server.all_compared()) << "nobody is there to compare";
}

class ServerLog : public test::ServedWorldTest {};

TEST(Server, FloodOfRefusalsIsNoFloodOfLines) {
  ManualClock clock;
  SeededEntropy entropy(1);
  SimulatedNetwork network(clock, 1);
  const auto server_endpoint = Endpoint::ipv4(10, 0, 0, 1, 7777);
  const auto port = network.open(server_endpoint);
  const auto stranger = network.open(Endpoint::ipv4(10, 0, 1, 1, 4000));
  demo::DemoGame game({.entities = 0, .seed = 5});
  Server server(game, *port, clock, entropy, ServerConfig{});
  HandshakeWriter writer;
  OutgoingDatagram hello;
  const auto lines_of_a_second = [&](int hellos) {
    const std::string text = test::log_of([&] {
      for (int i = 0; i < hellos; ++i) {
        writer.hello(static_cast<std::uint64_t>(i) + 1, {kProtocolVersion + 1, {}}, hello);
        stranger->send(server_endpoint, hello.span());
      }
      clock.advance(seconds(1));
      server.poll();
    });
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines_of_a_second(3), 3);
  EXPECT_EQ(lines_of_a_second(2000), LineAllowance::kPerSecond);
  EXPECT_EQ(lines_of_a_second(3), 4) << "and how many were left out";
}

// Anybody may be refused, from any address that is made up: what is told of it takes no room from who plays.
TEST_F(ServerLog, FloodOfRefusalsLeavesRoomForWhoJoins) {
  start({});
  const auto stranger = network.open(Endpoint::ipv4(10, 0, 1, 1, 4000));
  HandshakeWriter writer;
  OutgoingDatagram hello;
  std::uint64_t nonce = 0;
  before_poll = [&] {
    for (int i = 0; i < 300; ++i) {
      writer.hello(++nonce, {kProtocolVersion + 1, {}}, hello);
      stranger->send(kServer, hello.span());
    }
  };
  const std::string text = test::log_of([&] {
    run_ticks(5);
    add_client();
    run_ticks(5);
  });
  EXPECT_THAT(text, HasSubstr("player 1 joined from 10.0.2.0:4000"));
  EXPECT_THAT(text, HasSubstr("refused 10.0.1.1:4000"));
}

}  // namespace
}  // namespace shoal
