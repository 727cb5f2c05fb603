// Inputs from a client to the game, over a network in memory: how long they take, and how long after trouble.
#include <gtest/gtest.h>

#include <cstring>

#include "client/client.hpp"
#include "schema/components_descriptors.hpp"
#include "server/server.hpp"
#include "shared/game/spawn.hpp"
#include "shared/net/simulated_network.hpp"

namespace shoal {
namespace {

constexpr int kTickRate = 30;

/// Each input says when it was made.
class TimedInputs final : public Game {
 public:
  explicit TimedInputs(const Clock& clock) : clock_(clock) {}
  std::span<const ComponentDescriptor> components() const override { return demo::component_descriptors(); }
  void register_components(Registry& registry) override { demo::register_shared_components(registry); }
  void register_systems(Schedule&) override {}
  void start(Registry&) override {}
  Entity spawn_player(Registry& registry, PlayerNumber, Tick) override { return registry.create(); }
  bool apply_input(Registry&, Entity, Tick tick, std::span<const std::byte> input) override {
    if (applied > 0 && tick != last_tick + 1) ++uneven;
    last_tick = tick;
    Duration::rep made_at = 0;
    std::memcpy(&made_at, input.data(), sizeof made_at);
    last_delay = clock_.now().since_zero - Duration(made_at);
    ++applied;
    return true;
  }
  void player_left(Registry&, Entity, CloseReason) override {}

  Duration last_delay{};
  int applied = 0;
  Tick last_tick;
  int uneven = 0;  // not in the tick after the input before

 private:
  const Clock& clock_;
};

class InputTiming : public ::testing::Test {
 protected:
  InputTiming()
      : port(network.open(Endpoint::ipv4(10, 0, 0, 1, 7777))),
        client_port(network.open(Endpoint::ipv4(10, 0, 1, 1, 4000))),
        server(game, *port, clock, entropy, server_config()),
        client(*client_port, clock, entropy, client_config()) {
    set_latency(milliseconds(25));
    client.connect();
  }
  static ServerConfig server_config() {
    ServerConfig config;
    config.tick_rate_hz = kTickRate;
    return config;
  }
  ClientConfig client_config() const {
    ClientConfig config;
    config.server = port->local();
    config.components = demo::component_descriptors();
    config.register_components = demo::register_shared_components;
    return config;
  }
  void set_latency(Duration latency, Duration jitter = {}) {
    LinkFaults faults;
    faults.latency = latency;
    faults.jitter = jitter;
    network.set_default_link(faults);
  }
  void play(int for_seconds, bool server_runs = true) {
    game.applied = 0;
    game.uneven = 0;
    for (int i = 0; i < for_seconds * kTickRate; ++i) {
      clock.advance(Duration(seconds(1)) / kTickRate);
      if (server_runs) {
        server.poll();
        server.run_tick();
      }
      client.poll();
      if (client.state() != ClientState::Connected) continue;
      const Duration::rep now = clock.now().since_zero.count();
      client.add_input(std::as_bytes(std::span(&now, 1)));
      client.send_update();
    }
  }

  ManualClock clock;
  SeededEntropy entropy{1};
  SimulatedNetwork network{clock, 1};
  TimedInputs game{clock};
  std::unique_ptr<DatagramPort> port;
  std::unique_ptr<DatagramPort> client_port;
  Server server;
  Client client;
};

// T17: nobody is so near or so far that inputs come late for their tick, or wait long for it.
class InputTimingAtDistance : public InputTiming, public ::testing::WithParamInterface<int> {};

TEST_P(InputTimingAtDistance, SteadyPathTakesEveryInputAtOnce) {
  const Duration one_way = Duration(milliseconds(GetParam())) / 2;
  set_latency(one_way);
  play(4);
  play(5);
  EXPECT_EQ(game.applied, 5 * kTickRate);
  EXPECT_GE(game.last_delay, one_way);
  EXPECT_LE(game.last_delay, one_way + milliseconds(100)) << "three ticks to wait";
  EXPECT_EQ(server.counters().bad_inputs, 0u);
}

// Inputs that arrived after their ticks would be taken as they come: two in one tick, none in the next.
TEST_P(InputTimingAtDistance, JitterBelowTheLeadLeavesHardlyATickWithoutItsInput) {
  set_latency(Duration(milliseconds(GetParam())) / 2, milliseconds(40));
  play(8);
  play(5);
  // The estimate of the round trip sways, and with it the tick that an input is made for: now and then one is left out.
  EXPECT_GE(game.applied, 5 * kTickRate - 8);
  EXPECT_LE(game.uneven, 8);
}

INSTANTIATE_TEST_SUITE_P(RoundTripMs, InputTimingAtDistance, ::testing::Values(0, 1, 50, 300),
                         ::testing::PrintToStringParamName());

TEST_F(InputTiming, DelayGoesBackAfterThePathWasSlow) {
  play(5);
  set_latency(milliseconds(500));
  play(3);
  set_latency(milliseconds(25));
  play(10);
  EXPECT_LE(game.last_delay, milliseconds(150)) << "what ran ahead for the slow path must not stay ahead";
  play(5);
  EXPECT_EQ(game.applied, 5 * kTickRate);
}

TEST_F(InputTiming, InputsAreAppliedAgainAfterTheServerStoodStill) {
  play(5);
  play(4, false);
  play(5);
  EXPECT_GT(game.applied, 3 * kTickRate) << "its ticks did not go on, the client's idea of them did";
  play(5);
  EXPECT_EQ(game.applied, 5 * kTickRate);
  EXPECT_LE(game.last_delay, milliseconds(150));
  EXPECT_EQ(server.counters().bad_inputs, 0u);
}

}  // namespace
}  // namespace shoal
