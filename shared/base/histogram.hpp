// Durations and sizes of a long run in fixed memory: counts in buckets whose width grows with the value (as
// in HdrHistogram), so that every quantile is known to about 1.6 %.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace shoal {

class Histogram {
 public:
  void add(std::uint64_t value) {
    ++buckets_[bucket_of(value)];
    ++count_;
    sum_ += value;
    max_ = std::max(max_, value);
  }
  void add(const Histogram& other) {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    max_ = std::max(max_, other.max_);
  }

  /// What was added since `earlier`. Its max is known to a bucket. REQUIRES: `earlier` is this histogram as it was.
  Histogram since(const Histogram& earlier) const {
    Histogram result;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      result.buckets_[i] = buckets_[i] - earlier.buckets_[i];
      if (result.buckets_[i] > 0) result.max_ = std::min(upper_end(i), max_);
    }
    result.count_ = count_ - earlier.count_;
    result.sum_ = sum_ - earlier.sum_;
    return result;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t max() const { return max_; }
  double mean() const { return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_); }
  /// The value below which the share `quantile` (0 to 1) of all values lies, at most 1.6 % too large. 0 when
  /// empty.
  std::uint64_t quantile(double quantile) const {
    const double wanted = quantile * static_cast<double>(count_);
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      below += buckets_[i];
      if (static_cast<double>(below) >= wanted && below > 0) return std::min(upper_end(i), max_);
    }
    return max_;
  }

 private:
  // 64 buckets for each power of two; below 64 each value has its own.
  static constexpr unsigned kSubBits = 6;
  static constexpr std::size_t kBuckets = (64 - kSubBits + 1) << kSubBits;

  static std::size_t bucket_of(std::uint64_t value) {
    if (value < (1u << kSubBits)) return static_cast<std::size_t>(value);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
    return (std::size_t{shift + 1} << kSubBits) +
           static_cast<std::size_t>((value >> shift) - (1u << kSubBits));
  }
  static std::uint64_t upper_end(std::size_t bucket) {
    if (bucket < (1u << kSubBits)) return bucket;
    const auto shift = static_cast<unsigned>(bucket >> kSubBits) - 1;
    const std::uint64_t low = (std::uint64_t{1} << kSubBits) + (bucket & ((1u << kSubBits) - 1));
    return ((low + 1) << shift) - 1;
  }

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace shoal
