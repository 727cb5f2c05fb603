#include "client/bots/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/client/swarm_harness.hpp"

namespace shoal {
namespace {

using testing::HasSubstr;

RunRecord record_of(const SwarmSummary& summary) {
  RunRecord run;
  run.summary = summary;
  return run;
}

TEST(BotsReport, BaselineAgesAreArraysFromOneTickToSixtyFour) {
  SwarmSummary summary;
  ASSERT_EQ(summary.by_baseline_age.size(), 65u);
  summary.by_baseline_age[0].blocks = 9;  // no delta has this age
  summary.by_baseline_age[1] = {.blocks = 5, .bytes = 50, .updates = 7};
  summary.by_baseline_age[64] = {.blocks = 6, .bytes = 60, .updates = 8};
  std::string zeros;
  for (int age = 2; age < 64; ++age) zeros += "0, ";
  const std::string report = bots_report(record_of(summary));
  EXPECT_THAT(report, HasSubstr("\"blocks\": [5, " + zeros + "6]"));
  EXPECT_THAT(report, HasSubstr("\"bytes\": [50, " + zeros + "60]"));
  EXPECT_THAT(report, HasSubstr("\"updates\": [7, " + zeros + "8]"));
}

TEST(BotsReport, SwarmSumsBaselineAgesOverBotsAndSessions) {
  SwarmConfig config;
  config.bots = 6;
  config.scenario = Scenario::Churn;
  config.max_entities = 4096;
  config.faults.latency = milliseconds(40);
  SwarmHarness harness(config, {.entities = 60, .seed = 3});
  harness.run_for(seconds(20));
  const SwarmSummary summary = harness.swarm().summary();
  EXPECT_GT(summary.sessions, 12u);
  AgeBucket all, young;
  for (std::size_t age = 0; age < summary.by_baseline_age.size(); ++age) {
    const AgeBucket& bucket = summary.by_baseline_age[age];
    all.blocks += bucket.blocks;
    all.bytes += bucket.bytes;
    all.updates += bucket.updates;
    if (age < 2) young.blocks += bucket.blocks;
  }
  EXPECT_GT(all.blocks, summary.blocks_verified / 2) << "most blocks are deltas, in past sessions, too";
  EXPECT_LE(all.updates, summary.entity_updates);
  EXPECT_LT(all.bytes, summary.bytes_received);
  EXPECT_GT(all.bytes, summary.bytes_received / 4);
  EXPECT_LT(young.blocks, all.blocks / 20) << "an acknowledgement takes three ticks over this link";
}

TEST(BotsReport, CountsWhatBotsSayAndTheEventsThatTheyHear) {
  SwarmConfig config;
  config.bots = 6;
  config.scenario = Scenario::Fight;
  config.max_entities = 4096;
  SwarmHarness harness(config, {.entities = 60, .seed = 3});
  harness.run_for(seconds(20));
  const SwarmSummary summary = harness.swarm().summary();
  EXPECT_EQ(summary.chats, summary.sessions);
  EXPECT_GT(summary.events, summary.chats + 20) << "each hears itself, others, and hits";
  EXPECT_EQ(summary.late_events, 0u) << "nothing is lost on this network";
  EXPECT_THAT(bots_report(record_of(summary)), HasSubstr("\"late_events\": 0"));
}

}  // namespace
}  // namespace shoal
