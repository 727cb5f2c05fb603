#include "shared/base/bucket_histogram.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(BucketHistogram, ValueCountsInTheFirstBucketWhoseBoundItDoesNotExceed) {
  BucketHistogram histogram({1, 2, 4});
  for (const double value : {0.0, 1.0, 1.5, 2.0, 4.0, 4.5, 100.0}) histogram.add(value);
  EXPECT_THAT(histogram.counts(), testing::ElementsAre(2, 2, 1, 2));
  EXPECT_EQ(histogram.count(), 7u);
  EXPECT_DOUBLE_EQ(histogram.sum(), 113.0);
}

TEST(BucketHistogram, WithoutBoundsEverythingIsAboveThem) {
  BucketHistogram histogram;
  histogram.add(3);
  EXPECT_THAT(histogram.counts(), testing::ElementsAre(1));
}

TEST(BucketHistogramDeathTest, BoundsRise) {
  EXPECT_DEATH(BucketHistogram({1, 1}), "bounds of buckets rise");
}

}  // namespace
}  // namespace shoal
