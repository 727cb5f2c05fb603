// Joining a world that is far larger than a datagram: a stream at the pace of the budgets, the nearest first.
#include <map>
#include <set>

#include "shared/base/random.hpp"
#include "tests/unit/server/served_world.hpp"

namespace shoal {
namespace {

using namespace demo;
using test::kTickRate;

constexpr int kAcross = 45;  // entities along each edge of the world
constexpr float kApart = 12;
constexpr std::uint64_t kClientRate = 30'000;

class JoinTest : public test::ServedWorldTest {
 protected:
  /// Some 2,000 entities with values that no delta makes small; every `moving`th of them never rests.
  void make_world(int moving) {
    game.begin = [this, moving](Registry& registry) {
      Random random(3);
      for (int i = 0; i < kAcross * kAcross; ++i) {
        const Entity entity = registry.create();
        registry.emplace<Position>(entity, static_cast<float>(i % kAcross - kAcross / 2) * kApart,
                                   static_cast<float>(i / kAcross - kAcross / 2) * kApart,
                                   random.uniform(0, 60));
        registry.emplace<Heading>(entity, random.uniform(-180, 180));
        registry.emplace<Health>(entity, static_cast<std::uint16_t>(random.below(1000)),
                                 static_cast<std::uint16_t>(random.below(1000)));
        registry.emplace<Velocity>(entity, random.uniform(-60, 60), random.uniform(-60, 60),
                                   random.uniform(-60, 60));
        if (moving > 0 && i % moving == 0) movers.push_back(entity);
      }
    };
    game.each_tick = [this](Registry& registry, Tick) {
      for (const Entity entity : movers) {
        auto& health = registry.get<Health>(entity);
        health.current = static_cast<std::uint16_t>((health.current + 1) % 1000);
      }
    };
  }
  void set_latency(Duration latency) {
    LinkFaults faults;
    faults.latency = latency;
    network.set_default_link(faults);
  }
  bool has_joined(std::size_t client) const {
    return clients[client]->join_progress() == 1 && view_of(client).chunks_missing() == 0;
  }

  std::vector<Entity> movers;
};

// P10
TEST_F(JoinTest, WorldLargerThanADatagramArrivesAtTheClientsPaceAndItsProgressOnlyRises) {
  make_world(0);
  ServerConfig config;
  config.client_bytes_per_second = kClientRate;
  start(config);
  set_latency(milliseconds(20));
  Client& client = add_client();
  test::RateMeter rate;
  std::set<double> steps;
  double progress = 0;
  int ticks = 0;
  for (; ticks < 60 * kTickRate && progress < 1; ++ticks) {
    run_tick();
    rate.add(port->bytes_to[client_at(0)]);
    ASSERT_GE(client.join_progress(), progress) << "the player stands still: nothing new comes into view";
    progress = client.join_progress();
    steps.insert(progress);
    const bool shows_all = client.mirror() && client.mirror()->shown_count() == server->chunks().size();
    ASSERT_EQ(progress == 1, shows_all) << "at " << progress;
  }
  EXPECT_EQ(progress, 1);
  EXPECT_GT(ticks, kTickRate) << "else the budget was no limit, and the test proves nothing";
  EXPECT_GT(steps.size(), 20u) << "a client can show how far it is";
  EXPECT_LE(port->largest, kMaxDatagramBytes);
  EXPECT_GT(port->largest, kMaxDatagramBytes * 3 / 4) << "datagrams are used";
  EXPECT_LE(rate.most_in_a_second(), kClientRate + kClientRate / 10 + kMaxDatagramBytes);
  EXPECT_GT(rate.most_in_a_second(), kClientRate * 8 / 10) << "and so is the budget";
  expect_exact(0);
}

// P10
TEST_F(JoinTest, NearestChunksArriveBeforeTheFarthest) {
  make_world(7);
  ServerConfig config;
  config.client_bytes_per_second = kClientRate;
  start(config);
  set_latency(milliseconds(20));
  Client& client = add_client();
  std::map<std::uint32_t, int> arrived_in;  // tick of the test, by chunk
  int tick = 0;
  run_ticks(20 * kTickRate, [&] {
    ++tick;
    if (!client.mirror()) return;
    server->chunks().for_each([&](ChunkIndex, const Chunk& chunk) {
      if (client.mirror()->shown(chunk.id())) arrived_in.try_emplace(chunk.id().value, tick);
    });
  });
  ASSERT_EQ(arrived_in.size(), server->chunks().size());
  std::vector<std::pair<double, int>> by_distance;
  int last = 0;
  server->chunks().for_each([&](ChunkIndex index, const Chunk& chunk) {
    const SquareKey& square = server->chunks().square_of(index);
    const double distance =
        square.kind == SquareKind::Cell ? distance_to_cell({0, 0}, square, config.interest.square_size) : 0;
    by_distance.emplace_back(distance, arrived_in[chunk.id().value]);
    last = std::max(last, by_distance.back().second);
  });
  std::sort(by_distance.begin(), by_distance.end());
  int latest_so_far = 0;
  for (const auto& [distance, arrival] : by_distance) {
    // What did not fit the rest of a datagram may let a smaller one pass, and leaves first with the next.
    EXPECT_GE(arrival + 1, latest_so_far) << "at distance " << distance;
    latest_so_far = std::max(latest_so_far, arrival);
  }
  EXPECT_GT(last - by_distance.front().second, kTickRate) << "else order means nothing";
}

// P10, P12: those who play do not notice that others join.
TEST_F(JoinTest, WhoPlaysGetsUpdatesAsBeforeWhileTenOthersJoinAtOnce) {
  constexpr std::uint64_t kFullStateRate = 60'000;
  constexpr std::size_t kJoiners = 10;
  make_world(400);
  ServerConfig config;
  config.client_bytes_per_second = 60'000;
  config.full_state_bytes_per_second = kFullStateRate;
  start(config);
  set_latency(milliseconds(20));
  add_client();
  run_seconds(10);
  ASSERT_TRUE(has_joined(0));
  std::uint32_t age_before = 0, age = 0, longest_wait = 0;
  test::RateMeter steady;
  run_seconds(5, [&] {
    age_before = std::max(age_before, update_age(0));
    steady.add(port->bytes);
  });
  for (std::size_t i = 0; i < kJoiners; ++i) add_client();
  test::RateMeter rate;
  int ticks = 0;
  const auto all_joined = [&] {
    for (std::size_t i = 1; i <= kJoiners; ++i) {
      if (server->session_count() <= kJoiners || !has_joined(i)) return false;
    }
    return true;
  };
  while (ticks < 120 * kTickRate && !all_joined()) {
    run_tick();
    ++ticks;
    age = std::max(age, update_age(0));
    longest_wait = std::max(longest_wait, view_of(0).longest_wait(server->tick()));
    rate.add(port->bytes);
  }
  EXPECT_TRUE(all_joined());
  EXPECT_GT(ticks, 3 * kTickRate) << "else their joining was no burden";
  EXPECT_GT(age_before, 0u);
  EXPECT_LE(age, age_before) << "ticks that it waits for what is new";
  EXPECT_LE(longest_wait, 1u);
  // Full states of all, and what a client that has everything costs, for each of the eleven.
  EXPECT_LE(rate.most_in_a_second(), kFullStateRate * 13 / 10 + steady.most_in_a_second() * (kJoiners + 2));
  const ReplicationCounters& counters = server->replication();
  EXPECT_EQ(counters.full_states, counters.chunks_entered + counters.lost_full_states);
  EXPECT_EQ(counters.lost_full_states, 0u) << "nothing was lost";
  EXPECT_EQ(counters.baseline_misses, 0u);
  server->freeze();
  run_seconds(5);
  EXPECT_TRUE(server->all_compared());
  EXPECT_EQ(server->counters().digests_exact, kJoiners + 1);
}

// P10: what is lost of the stream is sent once more, and nothing else.
TEST_F(JoinTest, LossesOnTheWayCostOneFullStateEach) {
  make_world(7);
  ServerConfig config;
  config.client_bytes_per_second = kClientRate;
  start(config);
  LinkFaults faults;
  faults.latency = milliseconds(40);
  faults.loss_percent = 10;
  network.set_links_from(kServer, faults);
  add_client();
  double progress = 0;
  run_seconds(20, [&] {
    EXPECT_GE(clients[0]->join_progress(), progress);
    progress = clients[0]->join_progress();
  });
  ASSERT_TRUE(has_joined(0));
  const ReplicationCounters& counters = server->replication();
  EXPECT_GT(counters.lost_full_states, 5u);
  EXPECT_EQ(counters.full_states, counters.chunks_entered + counters.lost_full_states);
  EXPECT_EQ(counters.resyncs, 0u);
  network.set_default_link({});
  expect_exact(0);
}

}  // namespace
}  // namespace shoal
