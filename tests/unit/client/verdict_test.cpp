#include "client/bots/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SwarmSummary good_run() {
  SwarmSummary summary;
  summary.requested = summary.connected = 4;
  summary.expected = summary.exact = summary.compared = 4;
  for (int i = 0; i < 100; ++i) summary.update_age_us.add(50'000);
  for (int i = 0; i < 4; ++i) summary.bits_per_second.add(300'000);
  return summary;
}

std::vector<std::string> judge(const SwarmSummary& summary, const RunLimits& limits,
                               std::optional<double> tick_p99_ms = {}) {
  return failures(summary, limits, check_limits(limits, summary, tick_p99_ms), true);
}

TEST(Verdict, RunWithoutLimitsPassesWhenAllWentWell) {
  EXPECT_THAT(judge(good_run(), {}), IsEmpty());
}

TEST(Verdict, EachLimitIsBrokenByMoreAndByNothingElse) {
  SwarmSummary summary = good_run();
  summary.mismatches = 3;
  summary.lost = 2;
  const RunLimits at_the_limit{
      .tick_p99_ms = 12, .update_age_p99_ms = 50, .kbit_per_second = 300, .mismatches = 3, .lost = 2};
  EXPECT_THAT(judge(summary, at_the_limit, 12), IsEmpty());
  const auto broken_by = [&](RunLimits limits) { return judge(summary, limits, 12); };
  RunLimits limits = at_the_limit;
  limits.tick_p99_ms = 11.99;
  EXPECT_THAT(broken_by(limits), ElementsAre("tick p99: 12 ms, BROKEN: --max-tick-p99-ms 11.99"));
  limits = at_the_limit;
  limits.update_age_p99_ms = 49;
  EXPECT_THAT(broken_by(limits), ElementsAre("update age p99: 50 ms, BROKEN: --max-update-age-p99-ms 49"));
  limits = at_the_limit;
  limits.kbit_per_second = 299;
  EXPECT_THAT(broken_by(limits), ElementsAre(HasSubstr("BROKEN: --max-kbit-per-second 299")));
  limits = at_the_limit;
  limits.mismatches = 2;
  EXPECT_THAT(broken_by(limits), ElementsAre("mismatches: 3, BROKEN: --max-mismatches 2"));
  limits = at_the_limit;
  limits.lost = 0;
  EXPECT_THAT(broken_by(limits), ElementsAre("sessions lost: 2, BROKEN: --max-lost 0"));
}

TEST(Verdict, WhatWasNotMeasuredIsNotWithinItsLimit) {
  SwarmSummary summary = good_run();
  summary.update_age_us = {};
  RunLimits limits;
  limits.tick_p99_ms = limits.update_age_p99_ms = 100;
  EXPECT_THAT(judge(summary, limits),
              ElementsAre(HasSubstr("tick p99: UNKNOWN"), HasSubstr("age p99: UNKNOWN")));
}

TEST(Verdict, LostSessionsAndMismatchesFailARunWithoutLimits) {
  SwarmSummary summary = good_run();
  summary.lost = 1;
  summary.mismatches = 2;
  EXPECT_THAT(judge(summary, {}), ElementsAre("1 sessions were lost", "2 mismatches"));
}

TEST(Verdict, MissingBotsAndMirrorsFailARunWhateverTheLimits) {
  SwarmSummary summary = good_run();
  summary.connected = 3;
  summary.refused = 1;
  summary.exact = 2;
  summary.different = 1;
  RunLimits limits;
  limits.mismatches = limits.lost = 100;
  EXPECT_THAT(judge(summary, limits),
              ElementsAre("1 of 4 bots never had a session", "1 bots were refused",
                          HasSubstr("1 mirrors differ"), "1 of 4 mirrors were not compared at the end"));
  EXPECT_THAT(failures({}, {}, {}, false), ElementsAre("no bot was ever connected"));
}

}  // namespace
}  // namespace shoal
