// Time as an input. Nothing under shared/, server/ or client/ reads a clock except through `Clock`; `main`
// wires SteadyClock, tests and the simulation wire ManualClock.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "shared/base/assert.hpp"

namespace shoal {

using Duration = std::chrono::nanoseconds;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// A moment on one clock; the zero is that clock's own, so moments of two machines do not compare.
struct Time {
  Duration since_zero{};

  friend constexpr auto operator<=>(Time, Time) = default;
  friend constexpr Time operator+(Time time, Duration duration) { return {time.since_zero + duration}; }
  friend constexpr Time operator-(Time time, Duration duration) { return {time.since_zero - duration}; }
  friend constexpr Duration operator-(Time later, Time earlier) {
    return later.since_zero - earlier.since_zero;
  }
};

constexpr double to_milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}
constexpr double to_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}
constexpr Duration from_milliseconds(double milliseconds_value) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(milliseconds_value));
}

class Clock {
 public:
  virtual ~Clock() = default;
  /// Monotonic: never less than an earlier answer.
  virtual Time now() const = 0;
};

/// The machine's monotonic clock. Safe from several threads.
class SteadyClock final : public Clock {
 public:
  Time now() const override;
};

/// The time of day, as several machines agree on it more or less: for what expires. It may jump.
class WallClock {
 public:
  virtual ~WallClock() = default;
  /// Seconds since 1970-01-01 UTC.
  virtual std::int64_t unix_seconds() const = 0;
};

/// "2026-01-31T09:05:00Z" (RFC 3339).
std::string rfc3339(std::int64_t unix_seconds);

class SystemWallClock final : public WallClock {
 public:
  std::int64_t unix_seconds() const override;
};

class ManualWallClock final : public WallClock {
 public:
  explicit ManualWallClock(std::int64_t unix_seconds = 1'800'000'000) : now_(unix_seconds) {}
  std::int64_t unix_seconds() const override { return now_; }
  void set(std::int64_t unix_seconds) { now_ = unix_seconds; }

 private:
  std::int64_t now_;
};

/// Stands still until it is told to go on.
class ManualClock final : public Clock {
 public:
  Time now() const override { return now_; }
  void advance(Duration duration) {
    SHOAL_ASSERT(duration.count() >= 0, "a clock never goes back");
    now_ = now_ + duration;
  }
  void set(Time time) {
    SHOAL_ASSERT(time >= now_, "a clock never goes back");
    now_ = time;
  }

 private:
  Time now_{};
};

/// Processor time of the whole process, user and system.
Duration process_cpu_time();

}  // namespace shoal
