#include "shared/base/allowance.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

int taken(Allowance& allowance, Time now, int asked) {
  int count = 0;
  for (int i = 0; i < asked; ++i) count += allowance.take(now);
  return count;
}

TEST(Allowance, WhoHasRestedMayTakeSomeAtOnceAndThenSoManyInASecond) {
  Allowance allowance(5, 10);
  Time now{};
  EXPECT_EQ(taken(allowance, now, 100), 10);
  EXPECT_EQ(taken(allowance, now + milliseconds(199), 100), 0);
  EXPECT_EQ(taken(allowance, now + milliseconds(200), 100), 1);
  EXPECT_EQ(taken(allowance, now + milliseconds(1200), 100), 5);
  EXPECT_EQ(taken(allowance, now + seconds(3600), 100), 10) << "a long rest saves up no more";
}

TEST(Allowance, WhoAsksAllTheTimeGetsTheRateAllTheSame) {
  Allowance allowance(5, 1);
  int count = 0;
  for (int millisecond = 0; millisecond < 10'000; ++millisecond)
    count += allowance.take(Time{milliseconds(millisecond)});
  EXPECT_EQ(count, 50) << "what is refused costs nothing";
}

}  // namespace
}  // namespace shoal
