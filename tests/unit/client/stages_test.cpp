#include "client/bots/stages.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "shared/config/text_file.hpp"
#include "tests/unit/client/swarm_harness.hpp"

namespace shoal {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(std::string_view text) {
  const auto stages = read_stages(text, "s.toml");
  return stages.ok() ? "no complaint" : stages.error();
}

Stages stages_of(std::string_view text) {
  auto stages = read_stages(text, "s.toml");
  EXPECT_TRUE(stages.ok()) << stages.error();
  return stages.ok() ? *stages : Stages();
}

TEST(Stages, WhatAStageDoesNotSayIsAsBefore) {
  const Stages stages = stages_of(R"(
    [[stage]]
    seconds = 2.5
    bots = 20
    [[stage]]
    seconds = 10
    mix = { crowd = 3, fight = 1.5 }
    [[stage]]
    bots = 5
  )");
  ASSERT_EQ(stages.all().size(), 3u);
  const auto& [first, second, third] = std::tie(stages.all()[0], stages.all()[1], stages.all()[2]);
  using Mix = std::vector<std::pair<Scenario, double>>;
  EXPECT_EQ(first.length, milliseconds(2500));
  EXPECT_EQ(first.bots, 20u);
  EXPECT_EQ(first.mix, (Mix{{Scenario::Wander, 1}}));
  EXPECT_EQ(second.bots, 20u);
  EXPECT_EQ(second.mix, (Mix{{Scenario::Crowd, 3}, {Scenario::Fight, 1.5}}));
  EXPECT_EQ(third.length, Duration{});
  EXPECT_EQ(third.bots, 5u);
  EXPECT_EQ(third.mix, second.mix);
  EXPECT_EQ(stages.most_bots(), 20u);
  EXPECT_EQ(stages.length(), Duration{}) << "the last stage has no end";
}

TEST(Stages, NumberOfBotsGoesUpAndDownEvenly) {
  const Stages stages = stages_of(R"(
    [[stage]]
    seconds = 10
    bots = 20
    [[stage]]
    seconds = 5
    [[stage]]
    seconds = 10
    bots = 10
  )");
  const auto at = [&](double seconds_value) {
    const auto moment = stages.at(from_milliseconds(seconds_value * 1000));
    return std::pair(moment.stage, moment.bots);
  };
  using Moment = std::pair<std::size_t, std::uint32_t>;
  EXPECT_EQ(at(0), Moment(0, 0));
  EXPECT_EQ(at(0.01), Moment(0, 1));
  EXPECT_EQ(at(5), Moment(0, 10));
  EXPECT_EQ(at(10), Moment(1, 20));
  EXPECT_EQ(at(14.9), Moment(1, 20));
  EXPECT_EQ(at(20), Moment(2, 15));
  EXPECT_EQ(at(24.9), Moment(2, 10));
  EXPECT_EQ(at(1000), Moment(2, 10)) << "what the last stage came to holds on";
  EXPECT_EQ(stages.length(), seconds(25));
}

TEST(Stages, StageWithoutAnEndHasItsBotsAtOnce) {
  const Stages stages = stages_of("[[stage]]\nbots = 7\n");
  EXPECT_EQ(stages.at(Duration{}).bots, 7u);
}

TEST(Stages, ComplaintsNamePlaceFaultAndRemedy) {
  const auto stage = [](std::string_view lines) { return fmt::format("[[stage]]\n{}\n", lines); };
  EXPECT_THAT(error_of(""), AllOf(StartsWith("s.toml:1:1: there is no stage"), HasSubstr("[[stage]]")));
  EXPECT_THAT(error_of("stage = []"), HasSubstr("there is no stage"));
  EXPECT_THAT(error_of("[stage]\nbots = 5"),
              AllOf(StartsWith("s.toml:1:"), HasSubstr("found a table"), HasSubstr("[[stage]]")));
  EXPECT_THAT(error_of("stage = [5]"), HasSubstr("found the whole number 5"));
  EXPECT_THAT(error_of("[[stages]]\nbots = 5"),
              AllOf(StartsWith("s.toml:1:"), HasSubstr("unknown key stages; did you mean stage?")));
  EXPECT_THAT(error_of(stage("bots = 5\nsecond = 3")),
              AllOf(StartsWith("s.toml:3:1: unknown key second; did you mean seconds?"), HasSubstr("mix")));
  EXPECT_THAT(error_of(stage("bots = -5")), HasSubstr("s.toml:2:8: bots: expected a whole number from 0 to "
                                                      "4096, found the whole number -5"));
  EXPECT_THAT(error_of(stage("bots = 4097")), HasSubstr("found the whole number 4097"));
  EXPECT_THAT(error_of(stage("bots = 1.5")), HasSubstr("found the number 1.5"));
  EXPECT_THAT(error_of(stage("bots = 5\nseconds = -1")),
              HasSubstr("s.toml:3:11: seconds: expected a number from 0 to"));
  EXPECT_THAT(error_of(stage("bots = 5\nseconds = nan")), HasSubstr("seconds: expected"));
  EXPECT_THAT(error_of(stage("bots = 5\nseconds = 1979-05-27")), HasSubstr("found a date"));
  EXPECT_THAT(error_of(stage("bots = 5\nmix = \"crowd\"")), HasSubstr("{ crowd = 3, fight = 1 }"));
  EXPECT_THAT(error_of(stage("bots = 5\nmix = {}")), HasSubstr("mix is empty"));
  EXPECT_THAT(error_of(stage("bots = 5\nmix = { crowds = 1 }")),
              AllOf(HasSubstr("s.toml:3:9: unknown scenario crowds; did you mean crowd?"),
                    HasSubstr("wander, crowd, churn, border or fight")));
  EXPECT_THAT(error_of(stage("bots = 5\nmix = { crowd = -1 }")),
              HasSubstr("mix.crowd: expected a number above 0"));
  EXPECT_THAT(error_of(stage("bots = 5\nmix = { crowd = 0 }")), HasSubstr("leave out"));
  EXPECT_THAT(error_of(stage("mix = { crowd = 1 }")), HasSubstr("s.toml:1:1: bots is missing"));
  EXPECT_THAT(error_of(stage("bots = 5") + stage("bots = 6")),
              HasSubstr("only the last stage may go on without an end"));
  EXPECT_THAT(error_of(stage("bots = 0\nseconds = 5") + stage("bots = 0")), HasSubstr("no stage has a bot"));
  EXPECT_THAT(error_of("[[stage]"), AllOf(StartsWith("s.toml:1:"), HasSubstr("not TOML")));
}

TEST(Stages, EveryComplaintIsALine) {
  const std::string error = error_of("[[stage]]\nbots = -1\nseconds = -1\nmix = { dance = 1 }\n");
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 2) << error;
}

TEST(Stages, DealComesNearTheSharesForAnyNumberOfBots) {
  const std::vector<std::pair<Scenario, double>> mix{
      {Scenario::Crowd, 3}, {Scenario::Fight, 1}, {Scenario::Churn, 2.5}};
  const auto dealt = deal(mix, 500);
  EXPECT_EQ(dealt, deal(mix, 500));
  ASSERT_EQ(dealt.size(), 500u);
  for (std::size_t bots = 1; bots <= dealt.size(); ++bots) {
    for (const auto& [scenario, share] : mix) {
      const auto count =
          std::count(dealt.begin(), dealt.begin() + static_cast<std::ptrdiff_t>(bots), scenario);
      EXPECT_NEAR(static_cast<double>(count), share / 6.5 * static_cast<double>(bots), 1) << bots;
    }
  }
}

TEST(Stages, ExampleIsRight) {
  const auto root = std::filesystem::path(__FILE__).parent_path() / "../../..";
  const auto text = read_text_file((root / "examples/stages.toml").string());
  ASSERT_TRUE(text.ok()) << text.error();
  const Stages stages = stages_of(*text);
  EXPECT_EQ(stages.all().size(), 4u);
  EXPECT_EQ(stages.length(), seconds(120));
  EXPECT_EQ(stages.most_bots(), 100u);
}

// The example with a tenth of its bots and of its time, played to its end.
TEST(Stages, SwarmFollowsThem) {
  SwarmConfig config;
  config.max_entities = 4096;
  config.stages = stages_of(R"(
    [[stage]]
    seconds = 4
    bots = 8
    [[stage]]
    seconds = 4
    mix = { crowd = 3, fight = 1 }
    [[stage]]
    seconds = 6
    bots = 14
    mix = { border = 1, churn = 1 }
    [[stage]]
    seconds = 4
    bots = 3
    [[stage]]
    seconds = 4
    bots = 6
    mix = { wander = 1 }
  )");
  SwarmHarness harness(config, {.entities = 40, .seed = 3});
  Swarm& swarm = harness.swarm();
  const auto playing = [&] { return swarm.summary().connected_now; };
  const auto count = [&](Scenario scenario) {
    std::size_t result = 0;
    for (std::size_t i = 0; i < swarm.size(); ++i) result += swarm.scenario(i) == scenario;
    return result;
  };
  harness.run_for(seconds(2));
  EXPECT_NEAR(playing(), 4, 1);
  EXPECT_EQ(count(Scenario::Wander), swarm.size());
  harness.run_for(seconds(4));
  EXPECT_EQ(playing(), 8u);
  EXPECT_EQ(count(Scenario::Crowd), 6u);
  EXPECT_EQ(count(Scenario::Fight), 2u);
  harness.run_for(milliseconds(7900));
  EXPECT_EQ(swarm.size(), 14u);
  EXPECT_EQ(count(Scenario::Border), 7u);
  EXPECT_EQ(count(Scenario::Churn), 7u);
  EXPECT_GE(playing(), 7u);
  EXPECT_LE(playing(), 14u);
  harness.run_for(milliseconds(4050));
  EXPECT_LE(playing(), 3u);
  for (std::size_t i = 3; i < 14; ++i) EXPECT_NE(swarm.client(i).state(), ClientState::Connected) << i;
  EXPECT_FALSE(swarm.is_over());
  harness.run_for(seconds(6));
  EXPECT_EQ(playing(), 6u) << "three of those who rested came back";
  EXPECT_EQ(swarm.size(), 14u);

  harness.freeze_and_end();
  const SwarmSummary summary = swarm.summary();
  EXPECT_TRUE(swarm.is_over());
  EXPECT_EQ(summary.requested, 14u);
  EXPECT_EQ(summary.connected, 14u);
  EXPECT_EQ(summary.expected, 6u);
  EXPECT_EQ(summary.exact, 6u);
  EXPECT_EQ(summary.lost + summary.refused, 0u) << swarm.first_trouble();
  EXPECT_EQ(summary.sessions, harness.server().counters().joined);
}

TEST(Stages, HandshakeThatTheEndInterruptsCountsAgainstNobody) {
  SwarmConfig config;
  config.max_entities = 4096;
  config.stages = stages_of("[[stage]]\nseconds = 10\nbots = 100\n");
  SwarmHarness harness(config, {.entities = 20, .seed = 3});
  harness.cut_off(19);
  harness.run_for(milliseconds(1950));
  harness.freeze_and_end();
  EXPECT_TRUE(harness.swarm().is_over());
  EXPECT_LT(harness.now(), seconds(4)) << "nobody waits for a server that said it ends";
  const SwarmSummary summary = harness.swarm().summary();
  EXPECT_EQ(harness.swarm().size(), 20u);
  EXPECT_EQ(summary.requested, 19u);
  EXPECT_EQ(summary.connected, 19u);
  EXPECT_EQ(summary.expected, 19u);
  EXPECT_EQ(summary.exact, 19u);
  EXPECT_EQ(summary.lost + summary.refused, 0u) << harness.swarm().first_trouble();
}

// Without stages all bots are asked for at once, so one that never got in is missed.
TEST(Stages, WithoutThemABotThatNeverGotInIsMissed) {
  SwarmConfig config;
  config.max_entities = 4096;
  config.bots = 5;
  SwarmHarness harness(config, {.entities = 20, .seed = 3});
  harness.cut_off(2);
  harness.run_for(seconds(2));
  harness.freeze_and_end();
  EXPECT_TRUE(harness.swarm().is_over());
  EXPECT_EQ(harness.swarm().summary().requested, 5u);
  EXPECT_EQ(harness.swarm().summary().connected, 4u);
}

TEST(Stages, FrozenWorldEndsThem) {
  SwarmConfig config;
  config.max_entities = 4096;
  config.stages =
      stages_of("[[stage]]\nseconds = 4\nbots = 40\n[[stage]]\nseconds = 1\nbots = 1\nmix = { fight = 1 }\n");
  SwarmHarness harness(config, {.entities = 20, .seed = 3});
  harness.run_for(seconds(2));
  harness.server().freeze();
  harness.run_for(milliseconds(100));
  const std::size_t started = harness.swarm().size();
  harness.run_for(seconds(10));
  EXPECT_EQ(harness.swarm().size(), started);
  EXPECT_EQ(harness.swarm().summary().connected_now, started);
  EXPECT_EQ(harness.swarm().summary().expected, started);
  EXPECT_EQ(harness.swarm().scenario(0), Scenario::Wander);
}

}  // namespace
}  // namespace shoal
