// The datagrams of one direction whose fate is not known yet.
//
// 1. Each logged sequence ends exactly once: acknowledged or lost. A late acknowledgement of a lost one
//    counts as spurious; it changes nothing but the round-trip time.
// 2. A sequence is lost when a later one was acknowledged and RttEstimate::loss_delay has passed since it
//    was sent, or in any case kLossDeadline after that.
// 3. At most kMaxInFlight are open; memory is fixed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shared/base/time.hpp"
#include "shared/net/ids.hpp"
#include "shared/net/receive_log.hpp"
#include "shared/net/rtt_estimate.hpp"

namespace shoal {

/// When nothing at all comes back: the peer's ranges reach back no further than this.
inline constexpr Duration kLossDeadline = kAckCoverage;

class SendLog {
 public:
  struct Outcome {
    Sequence sequence;
    bool acknowledged;  // else lost
  };

  /// The sequence that the next datagram gets.
  Sequence next() const { return {next_}; }
  bool is_full() const { return next_ - oldest_ >= kMaxInFlight; }
  std::size_t in_flight() const { return in_flight_; }

  /// Logs next() as sent now. `is_reported`: its outcome is told. REQUIRES: !is_full().
  void push(Time now, bool is_reported);

  /// True when no range names a sequence that was never sent; ranges of a packet that fails this are ignored.
  bool covers(std::span<const SequenceRange> ranges) const;
  /// Applies ranges (newest first), appends what they end to `outcomes` in ascending order, and takes a
  /// sample of the round trip from the newest. REQUIRES: covers(ranges).
  void acknowledge(std::span<const SequenceRange> ranges, Duration peer_delay, Time now, RttEstimate& rtt,
                   std::vector<Outcome>& outcomes);
  /// Appends what is lost by now to `outcomes`, in ascending order.
  void detect_losses(Time now, const RttEstimate& rtt, std::vector<Outcome>& outcomes);

  std::uint64_t acknowledged_count() const { return acknowledged_count_; }
  std::uint64_t lost_count() const { return lost_count_; }
  std::uint64_t spurious_count() const { return spurious_count_; }

 private:
  enum class State : std::uint8_t { Ended, InFlight, InFlightUnreported, Lost };
  struct Entry {
    Time sent{};
    State state = State::Ended;
  };

  Entry& entry(std::uint64_t sequence) { return entries_[sequence % kMaxInFlight]; }
  void end(std::uint64_t sequence, bool acknowledged, std::vector<Outcome>& outcomes);
  void skip_ended();

  std::uint64_t next_ = 1;
  std::uint64_t oldest_ = 1;  // everything before it has ended
  std::uint64_t newest_acknowledged_ = 0;
  std::size_t in_flight_ = 0;
  std::uint64_t acknowledged_count_ = 0;
  std::uint64_t lost_count_ = 0;
  std::uint64_t spurious_count_ = 0;
  std::array<Entry, kMaxInFlight> entries_{};
};

}  // namespace shoal
