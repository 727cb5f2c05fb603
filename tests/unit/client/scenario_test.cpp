// What the players of each scenario do, seen by the server.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "schema/components.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/vector.hpp"
#include "tests/unit/client/swarm_harness.hpp"

namespace shoal {
namespace {

SwarmConfig swarm_of(std::uint32_t bots, Scenario scenario) {
  SwarmConfig config;
  config.bots = bots;
  config.scenario = scenario;
  config.max_entities = 4096;
  return config;
}

demo::Vector2 place_of(const Registry& registry, Entity entity) {
  const auto& position = registry.get<demo::Position>(entity);
  return {position.x, position.y};
}

// Everyone in session was compared, and everything was exact.
void expect_exact_end(SwarmHarness& harness) {
  harness.freeze_and_end();
  const SwarmSummary summary = harness.swarm().summary();
  EXPECT_TRUE(harness.swarm().is_over());
  EXPECT_GT(summary.expected, 0u);
  EXPECT_EQ(summary.exact, summary.expected);
  EXPECT_EQ(summary.lost + summary.refused, 0u) << harness.swarm().first_trouble();
  EXPECT_EQ(summary.mismatches + summary.decode_errors, 0u);
  EXPECT_EQ(harness.server().counters().digests_exact, summary.exact);
}

TEST(Scenario, EachHasAWordOfItsOwn) {
  std::set<std::string_view> words;
  for (const auto& [word, scenario] : kScenarios) {
    words.insert(word);
    EXPECT_EQ(scenario_of(word), scenario);
    EXPECT_EQ(to_string(scenario), word);
  }
  EXPECT_EQ(words.size(), kScenarios.size());
  EXPECT_EQ(scenario_of("dance"), std::nullopt);
}

TEST(Scenario, WithoutAMirrorEveryoneWanders) {
  for (const auto& [word, scenario] : kScenarios) {
    Behaviour behaviour(scenario, 7), wanderer(Scenario::Wander, 7);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(behaviour.next(), wanderer.next()) << word;
  }
}

// From spawn points all over a world of 300 metres.
TEST(Scenario, CrowdGathersInTheMiddleAndKeepsMoving) {
  SwarmHarness harness(swarm_of(24, Scenario::Crowd), {.entities = 20, .seed = 3, .world_half_size = 150});
  harness.run_for(seconds(2));
  std::size_t far = 0;
  harness.for_each_player(
      [&](std::size_t, Entity player) { far += length(place_of(harness.server().registry(), player)) > 30; });
  ASSERT_GT(far, 12u) << "else the way to the middle proves nothing";
  harness.run_for(seconds(38));
  std::map<std::size_t, demo::Vector2> before;
  std::size_t near = 0, moved = 0;
  harness.for_each_player([&](std::size_t bot, Entity player) {
    before[bot] = place_of(harness.server().registry(), player);
    near += length(before[bot]) < 10;
  });
  EXPECT_GE(near, 22u) << "one or two may just have been killed";
  harness.run_for(seconds(3));
  harness.for_each_player([&](std::size_t bot, Entity player) {
    moved += length(place_of(harness.server().registry(), player) - before[bot]) > 0.1f;
  });
  EXPECT_GT(moved, 12u);
  expect_exact_end(harness);
}

// How often each player stepped over a multiple of `square_size` in x or y, and how often over both at once or nearly
// so: into the square across a corner.
struct Crossings {
  std::map<std::size_t, int> edges;
  std::map<std::size_t, std::set<std::pair<int, int>>> squares;
};
Crossings crossings_of(SwarmHarness& harness, float square_size, Duration duration) {
  Crossings crossings;
  std::map<std::size_t, std::pair<int, int>> before;
  harness.run_for(duration, [&] {
    harness.for_each_player([&](std::size_t bot, Entity player) {
      const demo::Vector2 place = place_of(harness.server().registry(), player);
      const std::pair square{static_cast<int>(std::floor(place.x / square_size)),
                             static_cast<int>(std::floor(place.y / square_size))};
      crossings.squares[bot].insert(square);
      const auto [known, is_new] = before.emplace(bot, square);
      crossings.edges[bot] += !is_new && known->second != square;
      known->second = square;
    });
  });
  return crossings;
}

TEST(Scenario, BorderPlayersCrossEdgesAgainAndAgain) {
  for (const float square_size : {32.0f, 20.0f}) {
    SwarmConfig config = swarm_of(12, Scenario::Border);
    config.square_size = square_size;
    SwarmHarness harness(config, {.entities = 40, .seed = 3, .world_half_size = 100});
    const Crossings crossings = crossings_of(harness, square_size, seconds(60));
    EXPECT_EQ(crossings.edges.size(), 12u);
    std::size_t around_a_corner = 0;
    for (const auto& [bot, count] : crossings.edges) {
      EXPECT_GT(count, 20) << "bot " << bot << ", squares of " << square_size;
      around_a_corner += crossings.squares.at(bot).size() >= 4;
    }
    EXPECT_GT(around_a_corner, 6u);
    expect_exact_end(harness);
  }
}

// One player that goes where its behaviour says, in a world of 100 metres by 100, without a server.
class LonePlayer {
 public:
  static constexpr float kHalfSize = 50;
  explicit LonePlayer(std::uint64_t seed) : behaviour_(Scenario::Border, seed) {
    demo::register_shared_components(world_);
    world_.freeze();
    player_ = world_.create();
    world_.emplace<demo::Position>(player_, 20.0f, -25.0f, 0.0f);
  }
  demo::Vector2 step() {
    const demo::PlayerInput input = behaviour_.next(&world_, player_);
    auto& position = world_.get<demo::Position>(player_);
    position.x = std::clamp(position.x + input.move_x * demo::kPlayerSpeed / 30, -kHalfSize, kHalfSize);
    position.y = std::clamp(position.y + input.move_y * demo::kPlayerSpeed / 30, -kHalfSize, kHalfSize);
    return {position.x, position.y};
  }

 private:
  Registry world_{RegistryLimits{.max_entities = 16}};
  Entity player_;
  Behaviour behaviour_;
};

TEST(Scenario, BorderPlayerZigzagsGoesAroundCornersAndTurnsAtTheEndOfTheWorld) {
  int crossings = 0, at_the_end = 0, around_a_corner = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    LonePlayer player(seed);
    std::vector<std::pair<int, int>> squares;  // as they were entered, since it came near a corner
    std::pair<int, int> square{-100, -100};
    for (int tick = 0; tick < 60 * 30; ++tick) {
      const demo::Vector2 place = player.step();
      const std::pair now{static_cast<int>(std::floor(place.x / 32)),
                          static_cast<int>(std::floor(place.y / 32))};
      at_the_end += std::max(std::fabs(place.x), std::fabs(place.y)) == LonePlayer::kHalfSize;
      const bool near_a_corner = std::fabs(std::remainder(place.x, 32.0f)) < 2.1f &&
                                 std::fabs(std::remainder(place.y, 32.0f)) < 2.1f;
      if (!near_a_corner) squares.clear();
      if (now == square) continue;
      ++crossings;
      square = now;
      if (near_a_corner) squares.push_back(now);
      around_a_corner += std::set(squares.begin(), squares.end()).size() == 4;
      if (std::set(squares.begin(), squares.end()).size() == 4) squares.clear();
    }
  }
  EXPECT_GT(crossings, 10 * 60);
  EXPECT_LT(at_the_end, 10 * 60 * 30 / 5) << "ticks";
  EXPECT_GT(around_a_corner, 20);
}

TEST(Scenario, WanderersDoNotCrossEdgesLikeThat) {
  SwarmHarness harness(swarm_of(12, Scenario::Wander), {.entities = 40, .seed = 3, .world_half_size = 100});
  int all = 0;
  for (const auto& [bot, count] : crossings_of(harness, 32, seconds(60)).edges) all += count;
  EXPECT_LT(all / 12, 20) << "else the test of the border scenario proves nothing";
}

struct Fighting {
  std::size_t shots_of_players = 0;
  std::size_t deaths = 0;
  std::int64_t score = 0;
};
Fighting fighting_of(Scenario scenario, std::uint32_t entities) {
  SwarmHarness harness(swarm_of(12, scenario), {.entities = entities, .seed = 3});
  Registry& world = harness.server().registry();
  static Fighting fighting;  // listeners are plain functions
  fighting = {};
  world.on_construct<demo::Projectile>().connect([](Registry& registry, Entity entity) {
    fighting.shots_of_players +=
        registry.all_of<demo::Player>(registry.get<const demo::Projectile>(entity).owner);
  });
  world.on_update<demo::Health>().connect([](Registry& registry, Entity entity) {
    fighting.deaths += registry.get<const demo::Health>(entity).current == 0;
  });
  harness.run_for(seconds(30));
  harness.for_each_player(
      [&](std::size_t, Entity player) { fighting.score += world.get<const demo::Player>(player).score; });
  expect_exact_end(harness);
  return fighting;
}

TEST(Scenario, FightersShootHitAndKill) {
  const Fighting fight = fighting_of(Scenario::Fight, 60);
  const Fighting wander = fighting_of(Scenario::Wander, 60);
  EXPECT_GT(fight.shots_of_players, 200u);
  EXPECT_GT(fight.score, 10);
  EXPECT_GT(fight.score, wander.score) << "who wanders shoots at nobody, and scores by what lies about";
  EXPECT_GT(fight.shots_of_players, 2 * wander.shots_of_players);
}

TEST(Scenario, FightersAloneKillEachOther) {
  EXPECT_GT(fighting_of(Scenario::Fight, 0).deaths, 5u);
  EXPECT_EQ(fighting_of(Scenario::Wander, 0).deaths, 0u);
}

TEST(Scenario, FighterWithoutAnEnemyInSightWanders) {
  SwarmHarness harness(swarm_of(1, Scenario::Fight), {.entities = 0, .seed = 3});
  harness.run_for(seconds(1));
  std::set<std::pair<float, float>> places;
  harness.run_for(seconds(10), [&] {
    harness.for_each_player([&](std::size_t, Entity player) {
      const demo::Vector2 place = place_of(harness.server().registry(), player);
      places.insert({place.x, place.y});
    });
  });
  EXPECT_GT(places.size(), 100u);
}

TEST(Scenario, ChurnBotsComeBackAndNothingIsLost) {
  SwarmHarness harness(swarm_of(12, Scenario::Churn), {.entities = 40, .seed = 3});
  std::set<std::uint32_t> connected_at_once;
  std::uint64_t verified = 0;
  harness.run_for(seconds(60), [&] {
    const SwarmSummary now = harness.swarm().summary();
    connected_at_once.insert(now.connected_now);
    ASSERT_GE(now.blocks_verified, verified) << "a counter went back: the sum of a past session is gone";
    verified = now.blocks_verified;
  });
  const SwarmSummary summary = harness.swarm().summary();
  EXPECT_EQ(summary.connected, 12u);
  EXPECT_GT(summary.sessions, 12u * 5);
  EXPECT_LT(summary.sessions, 12u * 25);
  EXPECT_EQ(harness.server().counters().joined, summary.sessions);
  EXPECT_EQ(harness.server().counters().timed_out, 0u);
  EXPECT_GT(connected_at_once.size(), 4u);
  EXPECT_LE(harness.server().session_count(), 12u);
  expect_exact_end(harness);
  const SwarmSummary end = harness.swarm().summary();
  EXPECT_EQ(end.sessions, harness.server().counters().joined);
  EXPECT_LT(end.expected, 12u) << "with this seed someone is away at the end, and stays away";
  EXPECT_EQ(end.compared, end.expected);
}

TEST(Scenario, ChurnBotsComeToRestWithTheWorld) {
  SwarmHarness harness(swarm_of(12, Scenario::Churn), {.entities = 40, .seed = 3});
  harness.run_for(seconds(20));
  harness.server().freeze();
  harness.run_for(milliseconds(200));
  const SwarmSummary before = harness.swarm().summary();
  EXPECT_GT(before.connected_now, 3u);
  EXPECT_LT(before.connected_now, 12u);
  EXPECT_EQ(before.expected, before.connected_now);
  harness.run_for(seconds(15));
  const SwarmSummary after = harness.swarm().summary();
  EXPECT_EQ(after.connected_now, before.connected_now);
  EXPECT_EQ(after.expected, before.expected);
  EXPECT_EQ(after.sessions, before.sessions);
  expect_exact_end(harness);
}

// It can neither say that it left nor come back, and gives up when the others hear that the server ended.
TEST(Scenario, ChurnBotThatTheEndFindsInAHandshakeIsAway) {
  SwarmHarness harness(swarm_of(6, Scenario::Churn), {.entities = 40, .seed = 3});
  const auto state = [&] { return harness.swarm().client(2).state(); };
  harness.run_for(seconds(1));
  while (state() != ClientState::Closed) harness.step();
  harness.cut_off(2);
  while (state() != ClientState::Connecting) harness.step();
  expect_exact_end(harness);
  const SwarmSummary summary = harness.swarm().summary();
  EXPECT_EQ(summary.connected, 6u);
  EXPECT_LT(summary.expected, 6u);
}

TEST(Scenario, ChurnBotThatIsRefusedSinceTheServerEndsIsAway) {
  SwarmHarness harness(swarm_of(3, Scenario::Churn), {.entities = 40, .seed = 3});
  const auto state = [&](std::size_t bot) { return harness.swarm().client(bot).state(); };
  harness.run_for(seconds(1));
  while (state(0) != ClientState::Closed) harness.step();
  harness.cut_off(0);
  while (state(0) != ClientState::Connecting) harness.step();
  harness.server().freeze();
  harness.run_for(seconds(1));
  // It is the first one that hears of the end, and hears it as a refusal.
  harness.cut_off(1);
  harness.cut_off(2);
  harness.server().shut_down();
  harness.end_cut(0);
  while (state(0) != ClientState::Closed) harness.step();
  ASSERT_EQ(harness.swarm().client(0).close_reason(), CloseReason::Refused);
  EXPECT_EQ(harness.swarm().summary().refused, 0u);
}

TEST(Scenario, BotThatLostItsSessionComesBackToItsPlayerAndTheLossIsCounted) {
  SwarmConfig config = swarm_of(4, Scenario::Wander);
  config.reconnect_for = seconds(120);
  SwarmHarness harness(config, {.entities = 40, .seed = 3});
  harness.run_for(seconds(2));
  const Entity player = harness.swarm().client(1).controlled();
  harness.cut_off(1);
  harness.run_for(seconds(15));
  EXPECT_EQ(harness.swarm().summary().connected_now, 3u);
  EXPECT_EQ(harness.swarm().summary().lost, 1u);
  harness.end_cut(1);
  harness.run_for(seconds(20));
  const SwarmSummary summary = harness.swarm().summary();
  EXPECT_EQ(summary.connected_now, 4u);
  EXPECT_EQ(summary.lost, 1u);
  EXPECT_EQ(summary.reconnected, 1u);
  EXPECT_EQ(summary.sessions, 5u);
  EXPECT_EQ(harness.swarm().client(1).controlled(), player);
  harness.freeze_and_end();
  EXPECT_EQ(harness.swarm().summary().exact, 4u);
}

TEST(Scenario, BotThatLostItsSessionGivesUpWhenItsTimeIsOver) {
  SwarmConfig config = swarm_of(2, Scenario::Wander);
  config.reconnect_for = seconds(30);
  SwarmHarness harness(config, {.entities = 40, .seed = 3});
  harness.run_for(seconds(2));
  harness.cut_off(0);
  harness.cut_off(1);
  harness.run_for(seconds(90));
  EXPECT_TRUE(harness.swarm().is_over());
  EXPECT_EQ(harness.swarm().summary().lost, 2u);
  EXPECT_EQ(harness.swarm().summary().reconnected, 0u);
}

// A handshake over this link takes a second or more, so someone is always in the middle of one.
TEST(Scenario, ChurnOverABadLinkLosesNothing) {
  for (int cut = 0; cut < 4; ++cut) {
    SwarmConfig config = swarm_of(12, Scenario::Churn);
    config.faults = {.loss_percent = 10, .latency = milliseconds(250), .jitter = milliseconds(50)};
    SwarmHarness harness(config, {.entities = 40, .seed = 3});
    harness.run_for(seconds(40) + milliseconds(170 * cut));
    EXPECT_GT(harness.swarm().summary().sessions, 12u * 3);
    expect_exact_end(harness);
  }
}

}  // namespace
}  // namespace shoal
