#include "client/bots/swarm.hpp"

#include <gtest/gtest.h>

#include "shared/net/simulated_network.hpp"

namespace shoal {
namespace {

TEST(Swarm, BotWithoutAPortWaitsForOne) {
  ManualClock clock;
  SeededEntropy entropy(1);
  SimulatedNetwork network(clock, 1);
  SwarmConfig config;
  config.server = Endpoint::ipv4(10, 0, 0, 1, 7777);
  config.bots = 3;
  std::uint16_t next_port = 4000;
  std::uint16_t last_port = 4001;
  Swarm swarm(config, clock, entropy, [&]() -> std::unique_ptr<DatagramPort> {
    if (next_port > last_port) return nullptr;  // as when the process may open no more files
    return network.open(Endpoint::ipv4(10, 0, 1, 1, next_port++));
  });
  clock.advance(seconds(1));
  swarm.run();
  EXPECT_EQ(swarm.size(), 2u);
  EXPECT_FALSE(swarm.is_over());
  last_port = 4002;
  swarm.run();
  EXPECT_EQ(swarm.size(), 3u);
}

}  // namespace
}  // namespace shoal
