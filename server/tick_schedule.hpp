// When the next tick is due. Deadlines are counted from the start, never from the last tick, so that no error
// adds up; a server that fell behind catches up a few ticks at once, and drops the rest, counted.
#pragma once

#include <algorithm>
#include <cstdint>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/base/time.hpp"

namespace shoal {

class TickSchedule {
 public:
  /// REQUIRES: rate_hz > 0, max_catch_up > 0.
  TickSchedule(Time start, std::uint32_t rate_hz, std::uint32_t max_catch_up = 4)
      : start_(start), rate_hz_(rate_hz), max_catch_up_(max_catch_up) {
    SHOAL_ASSERT(rate_hz > 0 && max_catch_up > 0,
                 "a schedule needs a rate and may catch up at least one tick");
  }

  Duration period() const { return Duration(seconds(1)) / rate_hz_; }
  /// The first tick is due one period after the start.
  Time next_deadline() const { return deadline(done_ + 1); }

  /// Ticks to run now, 0 to max_catch_up. What is due beyond that is skipped for good.
  std::uint32_t take_due(Time now) {
    if (now < next_deadline()) return 0;
    const auto elapsed = static_cast<std::uint64_t>((now - start_).count());
    const std::uint64_t due = multiply_divide(elapsed, rate_hz_, 1'000'000'000u) - done_;
    const std::uint64_t most = fault("catch-up-at-once") ? due : max_catch_up_;
    const auto run = static_cast<std::uint32_t>(std::min(due, most));
    done_ += due;
    skipped_ += due - run;
    return run;
  }
  std::uint64_t skipped() const { return skipped_; }

 private:
  // Rounded up, so that a deadline is never before its tick is due.
  Time deadline(std::uint64_t tick) const {
    const std::uint64_t whole = tick / rate_hz_;
    const std::uint64_t rest = tick % rate_hz_;
    const std::uint64_t nanoseconds =
        whole * 1'000'000'000u + (rest * 1'000'000'000u + rate_hz_ - 1) / rate_hz_;
    return start_ + Duration(static_cast<std::int64_t>(nanoseconds));
  }
  // value * factor / divisor without overflow for a century of nanoseconds.
  static std::uint64_t multiply_divide(std::uint64_t value, std::uint64_t factor, std::uint64_t divisor) {
    return (value / divisor) * factor + (value % divisor) * factor / divisor;
  }

  Time start_;
  std::uint32_t rate_hz_;
  std::uint32_t max_catch_up_;
  std::uint64_t done_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace shoal
