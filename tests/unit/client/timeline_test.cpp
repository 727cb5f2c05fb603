#include "client/bots/timeline.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/client/swarm_harness.hpp"

namespace shoal {
namespace {

TEST(Timeline, LongRunIsThinnedOutAndKeepsItsPeaksAndItsEnd) {
  Timeline timeline;
  constexpr std::size_t kSeconds = 10 * Timeline::kMaxSamples + 16;
  for (std::size_t i = 1; i <= kSeconds; ++i) {
    TimelineSample sample;
    sample.at_seconds = static_cast<double>(i);
    sample.age_p50_ms = 10;
    sample.age_p99_ms = i == 777 ? 500 : 20;
    sample.lost = i < 5000 ? 0 : 3;
    timeline.add(sample);
    ASSERT_LT(timeline.samples().size(), Timeline::kMaxSamples);
  }
  EXPECT_EQ(timeline.seconds_per_sample(), 16u);
  double worst = 0;
  double before = 0;
  for (const TimelineSample& sample : timeline.samples()) {
    EXPECT_EQ(sample.at_seconds - before, 16) << "one sample after the other, of the same length";
    before = sample.at_seconds;
    worst = std::max(worst, sample.age_p99_ms);
    EXPECT_EQ(sample.age_p50_ms, 10);
    EXPECT_EQ(sample.lost, sample.at_seconds < 5000 ? 0 : 3);
  }
  EXPECT_EQ(worst, 500);
  EXPECT_EQ(before, kSeconds);
}

TEST(Timeline, UnknownNumbersStayUnknownOnlyWhereNothingWasMeasured) {
  Timeline timeline;
  for (std::size_t i = 1; i <= Timeline::kMaxSamples; ++i) {
    TimelineSample sample;
    sample.age_p50_ms = sample.age_p99_ms = i % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : 5;
    sample.kbit_p99 = std::numeric_limits<double>::quiet_NaN();
    timeline.add(sample);
  }
  EXPECT_EQ(timeline.samples().front().age_p50_ms, 5);
  EXPECT_EQ(timeline.samples().front().age_p99_ms, 5);
  EXPECT_TRUE(std::isnan(timeline.samples().front().kbit_p99));
}

TEST(TimelineRecorder, EachSampleIsOfItsOwnSecond) {
  SwarmConfig config;
  config.bots = 6;
  config.max_entities = 4096;
  config.faults.latency = milliseconds(20);
  SwarmHarness harness(config, {.entities = 60, .seed = 3});
  TimelineRecorder recorder(harness.clock(), harness.swarm());
  const auto play = [&](Duration duration) {
    harness.run_for(duration, [&] {
      if (recorder.is_due()) recorder.take(std::nullopt);
    });
  };
  play(seconds(5));
  harness.cut_off(0);
  play(seconds(25));
  const auto& samples = recorder.timeline().samples();
  ASSERT_GE(samples.size(), 29u);
  EXPECT_TRUE(std::isnan(samples.front().tick_p99_ms)) << "nobody asked the server";
  EXPECT_EQ(samples[3].connected, 6);
  EXPECT_GT(samples[3].kbit_p50, 1);
  EXPECT_GE(samples[3].age_p50_ms, 20);
  EXPECT_LT(samples[3].age_p99_ms, 200);
  EXPECT_GT(samples[3].updates_per_second, 100);
  EXPECT_EQ(samples[3].lost, 0);
  EXPECT_EQ(samples.back().lost, 1) << "a silent server is given up";
  EXPECT_EQ(samples.back().connected, 5);
  double updates = 0;
  for (const TimelineSample& sample : samples) updates += sample.updates_per_second;
  EXPECT_NEAR(updates, static_cast<double>(harness.swarm().summary().entity_updates), updates / 10);
}

}  // namespace
}  // namespace shoal
