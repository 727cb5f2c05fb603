// A histogram with few, fixed buckets, for what is read by machines while it grows: each bucket only ever counts up, so
// the difference of two copies is the histogram of the time between them. Histogram (histogram.hpp) is for quantiles of
// a run that is over.
//
// Invariants
// 1. A value counts in the first bucket whose bound it does not exceed; above all bounds in one more.
// 2. Bounds rise, and do not change; adding allocates nothing and costs a walk over the bounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "shared/base/assert.hpp"

namespace shoal {

class BucketHistogram {
 public:
  BucketHistogram() : counts_(1) {}
  /// Upper bounds, inclusive, rising, in the unit of the values.
  explicit BucketHistogram(std::vector<double> bounds)
      : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {
    SHOAL_ASSERT(std::is_sorted(bounds_.begin(), bounds_.end(), std::less_equal<>()),
                 "bounds of buckets rise");
  }

  void add(double value) {
    std::size_t bucket = 0;
    while (bucket < bounds_.size() && value > bounds_[bucket]) ++bucket;
    ++counts_[bucket];
    ++count_;
    sum_ += value;
  }

  std::span<const double> bounds() const { return bounds_; }
  /// One more than bounds: the last one counts what exceeds them all.
  std::span<const std::uint64_t> counts() const { return counts_; }
  std::uint64_t count() const { return count_; }
  double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace shoal
