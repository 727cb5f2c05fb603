// What may be sent to one client: a token bucket in bytes, which everything pays for, with a floor for state.
//
// 1. In any stretch of time no more leaves than the rate times that stretch, one burst and one datagram.
// 2. A datagram leaves while the bucket is not empty, and may leave it in debt: so the largest datagram passes
//    however small the rate is, only later.
// 3. While state waits, everything else together gets at most half of the rate: a burst of messages delays
//    state, it never starves it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "shared/base/limits.hpp"
#include "shared/base/time.hpp"

namespace shoal {

class SendBudget {
 public:
  /// Bytes of UDP payload per second; 0: without a limit.
  explicit SendBudget(std::uint64_t bytes_per_second = 0, Time now = {})
      : rate_(bytes_per_second), filled_at_(now), total_(capacity()), other_(capacity() / 2) {}

  /// To be called before asking; time must not go back.
  void refill(Time now) {
    const Duration passed = std::min<Duration>(now - filled_at_, seconds(1));
    filled_at_ = now;
    // In nanobytes, so that a slow client's short periods do not round to nothing.
    const auto gained = static_cast<std::int64_t>(rate_) * passed.count();
    total_ = std::min(total_ + gained, capacity());
    other_ = std::min(other_ + gained / 2, capacity() / 2);
  }
  /// From now on; what was saved up or is owed stays, as far as the new rate may hold it. 0: without a limit, and what
  /// is sent until there is one again is never owed.
  void set_bytes_per_second(std::uint64_t bytes_per_second) { rate_ = bytes_per_second; }
  bool may_send_state() const { return rate_ == 0 || total_ > 0; }
  /// Anything but state. `state_waits`: some would leave if it could.
  bool may_send_other(bool state_waits) const;
  void spend_state(std::size_t bytes);
  void spend_other(std::size_t bytes);
  std::uint64_t bytes_per_second() const { return rate_; }

 private:
  static constexpr std::int64_t kUnit = 1'000'000'000;
  // A tenth of a second, but no less than a datagram.
  std::int64_t capacity() const {
    return static_cast<std::int64_t>(std::max<std::uint64_t>(rate_ / 10, kMaxDatagramBytes)) * kUnit;
  }

  std::uint64_t rate_;
  Time filled_at_;
  std::int64_t total_;
  std::int64_t other_;
};

}  // namespace shoal
