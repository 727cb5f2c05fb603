#include "server/tick_schedule.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

// T16: a tick that drifts by summed sleeps. After a day of ticks the deadline is where the rate says, to the
// nanosecond.
TEST(TickSchedule, DeadlinesDoNotDriftOverADay) {
  for (const std::uint32_t rate : {30u, 60u, 7u}) {
    TickSchedule schedule(Time{seconds(5)}, rate);
    Time now{seconds(5)};
    const std::uint64_t ticks = std::uint64_t{rate} * 86'400;
    for (std::uint64_t i = 0; i < ticks; ++i) {
      now = schedule.next_deadline() + microseconds(137);  // always woken a little late
      ASSERT_EQ(schedule.take_due(now), 1u);
    }
    EXPECT_EQ(schedule.next_deadline(),
              Time{seconds(5 + 86'400)} + (Duration(seconds(1)) + Duration(rate - 1)) / rate);
    EXPECT_EQ(schedule.skipped(), 0u);
  }
}

TEST(TickSchedule, NothingIsDueBeforeTheDeadline) {
  TickSchedule schedule(Time{}, 30);
  EXPECT_EQ(schedule.take_due(schedule.next_deadline() - Duration(1)), 0u);
  EXPECT_EQ(schedule.take_due(schedule.next_deadline()), 1u);
}

TEST(TickSchedule, CatchUpIsCappedAndTheRestCounted) {
  TickSchedule schedule(Time{}, 10, 4);
  EXPECT_EQ(schedule.take_due(Time{milliseconds(350)}), 3u);
  EXPECT_EQ(schedule.skipped(), 0u);
  EXPECT_EQ(schedule.take_due(Time{milliseconds(2350)}), 4u) << "20 were due";
  EXPECT_EQ(schedule.skipped(), 16u);
  EXPECT_EQ(schedule.next_deadline(), Time{milliseconds(2400)});
}

TEST(TickSchedule, PeriodIsNotRoundedToSeconds) {
  EXPECT_EQ(TickSchedule(Time{}, 30).period(), Duration(33'333'333));
}

}  // namespace
}  // namespace shoal
