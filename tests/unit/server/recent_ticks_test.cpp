#include <gtest/gtest.h>

#include "server/report.hpp"

namespace shoal {
namespace {

TEST(RecentTicks, QuantilesAreOfTheNewestOnesAlone) {
  RecentTicks recent;
  EXPECT_EQ(recent.quantile(0.99), 0u) << "before the first tick";
  recent.add(7);
  EXPECT_EQ(recent.quantile(0), 7u);
  EXPECT_EQ(recent.quantile(0.5), 7u);
  EXPECT_EQ(recent.quantile(1), 7u);
  recent.add(900);
  EXPECT_EQ(recent.quantile(0.5), 7u);
  EXPECT_EQ(recent.quantile(1), 900u);
  for (std::uint64_t i = 1; i <= RecentTicks::kTicks; ++i) recent.add(i);
  EXPECT_EQ(recent.quantile(0.5), 128u);
  EXPECT_EQ(recent.quantile(0.99), 254u);
  EXPECT_EQ(recent.quantile(1), 256u) << "900 was too long ago";
}

}  // namespace
}  // namespace shoal
