// Things that come to rest: their last value arrives whatever is lost, and then nothing is done any more.
#include <cmath>

#include "tests/unit/server/served_world.hpp"

namespace shoal {
namespace {

using namespace demo;
using test::kTickRate;

constexpr float kFar[] = {10, 110, 180};  // from the player: one of each rate level
enum class Lost { ToClient, ToServer, Both };

class RestTest : public test::ServedWorldTest {
 protected:
  /// Something at each of those distances, that moves a little in each tick until `moves` is false. It is written
  /// all the same, as games do.
  void make_world() {
    game.begin = [this](Registry& registry) {
      for (const float distance : kFar) {
        things.push_back(registry.create());
        registry.emplace<Position>(things.back(), distance, 5.0f, 0.0f);
      }
    };
    game.each_tick = [this](Registry& registry, Tick tick) {
      for (const Entity thing : things) {
        auto& position = registry.get<Position>(thing);
        position.y = moves ? 5 + static_cast<float>(tick.value % 100) * 0.1f : position.y;
      }
    };
  }
  static ServerConfig three_levels() {
    ServerConfig config;
    config.interest.radius = 200;
    return config;
  }
  void set_latency(Duration latency) {
    LinkFaults faults;
    faults.latency = latency;
    network.set_default_link(faults);
  }
  void cut(Lost lost) {
    if (lost != Lost::ToServer) network.partition_one_way(kServer, client_at(0));
    if (lost != Lost::ToClient) network.partition_one_way(client_at(0), kServer);
  }
  /// Half a step of the schema is as exact as it gets.
  void expect_final_values(std::string_view when) {
    for (std::size_t i = 0; i < things.size(); ++i) {
      const auto& there = server->registry().get<Position>(things[i]);
      const auto* here = clients[0]->registry()->try_get<Position>(things[i]);
      ASSERT_NE(here, nullptr) << when;
      EXPECT_NEAR(here->y, there.y, 0.0051) << when << ", at a distance of " << kFar[i];
    }
  }

  std::vector<Entity> things;
  bool moves = true;
};

// P19: at each rate level, in each phase of its period, whichever way was cut, for a moment or for long.
TEST_F(RestTest, LastValueBeforeRestArrivesThoughItsDatagramsAreLost) {
  make_world();
  start(three_levels());
  set_latency(milliseconds(20));
  add_client();
  run_seconds(2);
  ASSERT_EQ(view_of(0).chunks_missing(), 0u);
  int round = 0;
  for (const Lost lost : {Lost::ToClient, Lost::ToServer, Lost::Both}) {
    for (const int ticks_cut : {1, 3, 20, 90}) {
      for (int phase = 0; phase < 4; ++phase) {
        moves = true;
        run_ticks(21 + phase);
        cut(lost);
        // The value of this tick is the last one; the datagrams before it are lost with it, or their word of arrival.
        run_tick();
        moves = false;
        run_ticks(ticks_cut);
        network.heal(kServer, client_at(0));
        run_seconds(3);
        expect_final_values("round " + std::to_string(round++));
        EXPECT_TRUE(view_of(0).has_everything());
      }
    }
  }
  EXPECT_GT(server->transport_counters().lost, 100u) << "else nothing was tried";
  EXPECT_EQ(clients[0]->mirror()->counters().mismatches, 0u);
  expect_exact(0);
}

// P19: most datagrams are lost for good, in both directions.
TEST_F(RestTest, LastValueArrivesOverAPathThatLosesMost) {
  make_world();
  start(three_levels());
  set_latency(milliseconds(20));
  add_client();
  run_seconds(2);
  LinkFaults faults;
  faults.latency = milliseconds(20);
  faults.loss_percent = 60;
  network.set_default_link(faults);
  for (int round = 0; round < 10; ++round) {
    moves = true;
    run_ticks(25 + round);
    moves = false;
    run_seconds(12);
    expect_final_values("round " + std::to_string(round));
  }
}

// P18, after trouble: who lost much and got it again is no more work than anyone else.
TEST_F(RestTest, WorldAtRestSendsSignsOfLifeAndDoesNothingElse) {
  constexpr std::size_t kClients = 4;
  constexpr int kTicks = 100;
  make_world();
  start(three_levels());
  LinkFaults faults;
  faults.latency = milliseconds(20);
  faults.loss_percent = 20;
  network.set_default_link(faults);
  for (std::size_t i = 0; i < kClients; ++i) add_client();
  run_seconds(10);
  ASSERT_EQ(server->session_count(), kClients);
  moves = false;
  set_latency(milliseconds(20));
  run_seconds(5);

  const ReplicationCounters before = server->replication();
  const std::uint64_t commits = server->chunks().commits();
  const std::uint64_t datagrams = port->datagrams;
  const std::uint64_t bytes = port->bytes;
  run_ticks(kTicks, [&] { EXPECT_EQ(allocations_in_tick, 0u); });
  EXPECT_EQ(server->replication().blocks_sent, before.blocks_sent);
  EXPECT_EQ(server->replication().blocks_encoded, before.blocks_encoded);
  EXPECT_EQ(server->chunks().commits(), commits);
  EXPECT_EQ(most_versions(), 1u);
  const std::uint64_t signs = port->datagrams - datagrams;
  EXPECT_GT(signs, kClients * kTicks / 10);
  EXPECT_LE(signs, kClients * (kTicks / 5 + 1)) << "a frame with the time, every fifth tick";
  EXPECT_LE((port->bytes - bytes) / signs, 160u) << "bytes of a sign of life";
  expect_final_values("at rest");
}

}  // namespace
}  // namespace shoal
