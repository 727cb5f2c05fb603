// What is told of a whole server: the collector's status, its metrics, and why a client has what it has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "server/admin/metrics.hpp"
#include "server/admin/status_collector.hpp"
#include "server/admin/status_json.hpp"
#include "shared/ecs/local.hpp"
#include "tests/unit/server/served_world.hpp"

namespace shoal {
namespace {

using testing::HasSubstr;
using namespace demo;

class StatusTest : public test::ServedWorldTest {
 protected:
  void begin(std::size_t players, ServerConfig config = {}) {
    config.interest.radius = 64;
    game.begin = [this](Registry& registry) {
      for (int i = 0; i < 40; ++i) {
        const Entity entity = registry.create();
        registry.emplace<Position>(entity, static_cast<float>(i), 0.0f, 0.0f);
        moving.push_back(entity);
      }
      local = registry.create();
      registry.emplace<Local>(local);
      far = registry.create();
      registry.emplace<Position>(far, 500.0f, 500.0f, 0.0f);
      foreign = registry.create();
      registry.emplace<Waypoint>(foreign);
      registry.emplace<OnTeam>(foreign, 7u);
    };
    game.each_tick = [this](Registry& registry, Tick) {
      for (const Entity entity : moving) registry.get<Position>(entity).z += 0.1f;
    };
    start(config);
    const ServerLimits limits{.tick_rate_hz = test::kTickRate, .max_players = config.max_sessions};
    collector.emplace(*server, clock, limits,
                      StatusCollector::Sources{.measures = [this] { return measures; },
                                               .skipped_ticks = [] { return std::uint64_t{0}; },
                                               .stalls = [] { return std::uint64_t{0}; },
                                               .port = [this] { return port->counters(); }},
                      board);
    collector->set_phase("running", true);
    for (std::size_t i = 0; i < players; ++i) add_client();
  }
  void run_told(double seconds_count) {
    run_seconds(seconds_count, [&] { collector->after_tick(milliseconds(3)); });
  }
  EntityExplanation explain(Entity entity) {
    const auto explanation = server->explain(PlayerNumber{1}, entity.index, entity.generation);
    EXPECT_TRUE(explanation);
    return explanation.value_or(EntityExplanation{});
  }
  std::string verdict(Entity entity) { return std::string(explain(entity).verdict); }

  std::vector<Entity> moving;
  Entity local;
  Entity far;
  Entity foreign;
  TickMeasures measures;
  StatusBoard board;
  std::optional<StatusCollector> collector;
};

TEST_F(StatusTest, StatusIsMadeAFewTimesASecondAndEachTickCounts) {
  begin(0);
  std::size_t statuses = 0;
  std::shared_ptr<const ServerStatus> before;
  run_seconds(4, [&] {
    collector->after_tick(milliseconds(3));
    if (board.newest() != before) ++statuses;
    before = board.newest();
  });
  EXPECT_GE(statuses, 12u);
  EXPECT_LE(statuses, 18u);
  EXPECT_GE(before->tick_seconds.count(), 110u);
  EXPECT_EQ(before->systems.at(0).name, "world");
  EXPECT_EQ(before->systems.at(0).seconds.count(), before->tick_seconds.count());
  EXPECT_EQ(before->phase_seconds.size(), kTickPhases);
  EXPECT_EQ(board.last_beat(), clock.now());
}

TEST_F(StatusTest, PhaseIsToldAtOnce) {
  begin(0);
  run_told(0.4);
  collector->set_phase("draining", false);
  run_ticks(1, [&] { collector->after_tick(milliseconds(3)); });
  EXPECT_EQ(board.newest()->phase, "draining");
  EXPECT_FALSE(board.newest()->is_ready());
}

TEST_F(StatusTest, PlayersAndTheirRatesAreThoseOfTheServer) {
  begin(3);
  run_told(5);
  const auto status = board.newest();
  EXPECT_EQ(status->player_count, 3u);
  ASSERT_EQ(status->players->size(), 3u);
  for (const PlayerStatus& player : *status->players) {
    EXPECT_GT(player.sent_bytes_per_second, 100);
    EXPECT_GT(player.received_bytes_per_second, 100);
    EXPECT_GT(player.session.chunks, 0u);
    EXPECT_EQ(player.session.chunks_missing, 0u);
  }
  EXPECT_GE(status->client_bytes_per_second.count(), 6u);
  EXPECT_EQ(status->measures.entities, server->replicated_entities());
  EXPECT_THAT(players_json(*status), HasSubstr("\"client\": 3"));
}

TEST_F(StatusTest, JitterOfAPathIsToldBesideItsRoundTrip) {
  begin(2);
  network.set_link(client_at(1), kServer, {.latency = milliseconds{30}, .jitter = milliseconds{60}});
  run_told(5);
  const auto status = board.newest();
  ASSERT_EQ(status->players->size(), 2u);
  const auto jitter = [&](std::size_t player) { return (*status->players)[player].session.jitter; };
  const std::size_t shaky = (*status->players)[1].session.peer == client_at(1) ? 1 : 0;
  EXPECT_GE(jitter(shaky), milliseconds{5});
  EXPECT_LE(jitter(shaky), milliseconds{60});
  EXPECT_LT(jitter(1 - shaky), jitter(shaky) / 2);
  EXPECT_EQ(status->client_jitter_seconds.count(), status->client_rtt_seconds.count());
  const double told = std::round(to_milliseconds(jitter(shaky)) * 1000) / 1000;
  EXPECT_THAT(players_json(*status), HasSubstr(fmt::format("\"jitter_ms\": {},", told)));
}

// A player who is back keeps its number, and its new session begins to count at nothing.
TEST_F(StatusTest, PlayerWhoIsBackHasNoRateBelowNothing) {
  begin(2);
  run_told(5);
  // Its old session is still there, and is replaced.
  network.partition(client_at(0), kServer);
  clients[0]->close();
  network.heal(client_at(0), kServer);
  clients[0]->connect();
  run_told(5);
  const auto status = board.newest();
  EXPECT_EQ(status->measures.counters.returned, 1u);
  for (const PlayerStatus& player : *status->players) EXPECT_LT(player.sent_bytes_per_second, 1e6);
  EXPECT_LT(status->client_bytes_per_second.sum(), 1e8);
}

TEST_F(StatusTest, EndIsToldThoughNoTickFollows) {
  begin(0);
  run_told(1);
  EXPECT_FALSE(board.newest()->is_over);
  collector->end("ending");
  EXPECT_EQ(board.newest()->phase, "ending");
  EXPECT_TRUE(board.newest()->is_over);
  EXPECT_FALSE(board.newest()->is_ready());
}

TEST_F(StatusTest, BudgetOfAClientIsABoundOfItsHistogram) {
  begin(0);
  collector.emplace(*server, clock,
                    ServerLimits{.tick_rate_hz = test::kTickRate, .client_bytes_per_second = 375'000},
                    StatusCollector::Sources{.measures = [this] { return measures; },
                                             .skipped_ticks = [] { return std::uint64_t{0}; },
                                             .stalls = [] { return std::uint64_t{0}; },
                                             .port = [this] { return port->counters(); }},
                    board);
  run_told(1);
  const auto bounds = board.newest()->client_bytes_per_second.bounds();
  for (const double bound : {187'500.0, 337'500.0, 375'000.0})
    EXPECT_NE(std::find(bounds.begin(), bounds.end(), bound), bounds.end()) << bound;
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
}

TEST_F(StatusTest, EachDatagramIsOfOneKind) {
  begin(3);
  run_told(3);
  const TransportCounters& counters = server->transport_counters();
  std::uint64_t sent = 0, sent_bytes = 0, received = 0, received_bytes = 0;
  for (std::size_t i = 0; i < kTrafficKinds; ++i) {
    sent += counters.sent_by_kind[i].datagrams;
    sent_bytes += counters.sent_by_kind[i].bytes;
    received += counters.received_by_kind[i].datagrams;
    received_bytes += counters.received_by_kind[i].bytes;
  }
  EXPECT_EQ(sent, counters.sent_datagrams);
  EXPECT_EQ(sent_bytes, counters.sent_bytes);
  EXPECT_EQ(received, counters.received_datagrams);
  EXPECT_EQ(received_bytes, counters.received_bytes);
  EXPECT_GT(counters.sent_by_kind[static_cast<std::size_t>(TrafficKind::State)].datagrams, 100u);
  EXPECT_EQ(counters.received_by_kind[static_cast<std::size_t>(TrafficKind::Handshake)].datagrams, 6u);
}

TEST_F(StatusTest, SharesOfTheEncoderAreItsBlocks) {
  begin(1);
  run_told(3);
  const EncodedShares& shares = server->chunks().shares();
  const std::uint64_t bits =
      std::accumulate(shares.component_bits.begin(), shares.component_bits.end(), shares.binding_bits);
  const auto position = server->table().find(component_descriptors()[0].wire_id);
  ASSERT_TRUE(position);
  EXPECT_GT(shares.binding_bits, 0u);
  EXPECT_GT(bits, 8 * server->replication().blocks_encoded) << "no block has less than a byte";
  EXPECT_LT(bits / 8, server->transport_counters().sent_bytes) << "one client: each block left once";
}

TEST_F(StatusTest, MetricsOfTheWholeServerHoldWhatTheStatusHolds) {
  begin(2);
  run_told(3);
  const std::string text = metrics_text(*board.newest(), {.is_ready = true, .admin_replies = {{200, 5}}});
  for (const char* line : {"\nshoal_players 2\n", "\nshoal_players_joined_total 2\n", "\nshoal_ready 1\n",
                           "\n# TYPE shoal_tick_duration_seconds histogram\n",
                           "\nshoal_system_duration_seconds_bucket{system=\"world\",le=",
                           "\nshoal_players_left_total{reason=\"timed_out\"} 0\n",
                           "\nshoal_entities{component=\"shoal.demo.Position\"} ",
                           "\nshoal_admin_requests_total{code=\"200\"} 5\n",
                           "\nshoal_bad_packets_total{reason=\"forged_cookie\"} 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST_F(StatusTest, WhyAnEntityIsSent) {
  begin(1);
  run_told(2);
  const EntityExplanation explanation = explain(moving.at(0));
  ASSERT_FALSE(explanation.audiences.empty());
  const AudienceExplanation& part = explanation.audiences.front();
  EXPECT_TRUE(part.state.is_subscribed);
  EXPECT_TRUE(part.state.sent);
  EXPECT_TRUE(part.state.baseline);
  EXPECT_EQ(part.square.kind, SquareKind::Cell);
  EXPECT_EQ(part.distance, 0.0);
  EXPECT_THAT(explanation_json(PlayerNumber{1}, explanation), HasSubstr("\"square\": \"cell 0,0\""));
}

TEST_F(StatusTest, WhyAnEntityIsNotSent) {
  begin(1);
  run_told(2);
  EXPECT_THAT(verdict(local), HasSubstr("marked Local"));
  EXPECT_THAT(verdict(far), HasSubstr("out of interest"));
  EXPECT_THAT(verdict({99'999, 1}), HasSubstr("no such entity"));
  EXPECT_THAT(verdict({moving.at(0).index, 77}), HasSubstr("no such entity"));
  const EntityExplanation of_team = explain(foreign);
  bool is_told = false;
  for (const AudienceExplanation& part : of_team.audiences)
    is_told = is_told || part.verdict.find("of a team, and the player of none") != std::string_view::npos;
  EXPECT_TRUE(is_told);
  EXPECT_FALSE(server->explain(PlayerNumber{2}, 0, std::nullopt)) << "nobody has that number";
}

TEST_F(StatusTest, WhyAChangeWaits) {
  ServerConfig config;
  config.client_bytes_per_second = 1;
  begin(1, config);
  run_told(4);
  bool is_told = false;
  for (const Entity entity : moving)
    is_told = is_told || verdict(entity).find("overdue") != std::string::npos;
  EXPECT_TRUE(is_told) << verdict(moving.at(0));
}

TEST_F(StatusTest, KickedPlayerIsGone) {
  begin(2);
  run_told(2);
  EXPECT_TRUE(server->kick(PlayerNumber{1}, "for a test"));
  EXPECT_FALSE(server->kick(PlayerNumber{1}, "again"));
  run_told(1.5);
  EXPECT_EQ(board.newest()->player_count, 1u);
  EXPECT_EQ(board.newest()->measures.transport.left_count(CloseReason::Kicked), 1u);
}

TEST_F(StatusTest, TellingTheTickAllocatesOnlyWithAStatus) {
  begin(2);
  run_told(3);
  std::size_t told = 0;
  std::size_t allocated = 0;
  std::shared_ptr<const ServerStatus> before = board.newest();
  run_seconds(1, [&] {
    const std::size_t so_far = test::allocations_so_far();
    collector->after_tick(milliseconds(3));
    const std::size_t now = test::allocations_so_far() - so_far;
    if (board.newest() != before)
      ++told;
    else
      allocated += now;
    before = board.newest();
  });
  EXPECT_GT(told, 0u);
  EXPECT_EQ(allocated, 0u);
}

}  // namespace
}  // namespace shoal
