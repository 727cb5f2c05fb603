// How fast a session may send, by what its packets meet: the rate falls when loss or delay rise, comes back when they
// are gone, and never leaves the bounds given.
//
// Loss counts as in the loss-based half of Google's congestion control (draft-ietf-rmcat-gcc-02, section 6): in each
// period, above 10 % the rate is cut by half of the loss, below 2 % it grows by 8 %. Delay counts when the smoothed
// round trip stands well above the smallest one of the last seconds: a queue is filling on the way. A cut begins at what
// was really sent, or at half of the rate if that is more: a rate that nobody used says little about the path.
//
// A radio link loses as much however little is sent. So when the rate has fallen to half and the loss has not, that loss
// is taken for the link's own: from then on only what comes on top of it counts, until less is seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "shared/base/time.hpp"

namespace shoal {

class CongestionControl {
 public:
  /// Bytes per second. The rate begins at the most.
  CongestionControl(std::uint64_t least, std::uint64_t most, Time now)
      : least_(std::min(least, most)), most_(most), rate_(static_cast<double>(most)), period_began_(now) {}

  void on_sent(std::size_t bytes) { sent_bytes_ += bytes; }
  void on_acknowledged() { ++acknowledged_; }
  void on_lost() { ++lost_; }
  /// To be called often. `rtt`: smoothed, 0 before the first measurement. True: a period ended and rate() may differ.
  bool update(Duration rtt, Time now);

  /// The packets go another way from now on: what was learned of the old one's delay and loss is forgotten. The rate stays,
  /// so that moving about earns none.
  void on_new_path();

  std::uint64_t rate() const { return static_cast<std::uint64_t>(rate_); }
  /// Share of packets lost in the last whole period, 0 to 1.
  double loss() const { return loss_; }

 private:
  /// The smallest round trip of the present and of the past kRttMemory.
  Duration base_rtt(Duration rtt, Time now);
  void learn_own_loss();

  std::uint64_t least_;
  std::uint64_t most_;
  double rate_;
  Time period_began_;
  std::uint64_t sent_bytes_ = 0;
  std::uint32_t acknowledged_ = 0;
  std::uint32_t lost_ = 0;
  double loss_ = 0;
  double own_loss_ = 0;          // of the link, whatever is sent
  double rate_before_cuts_ = 0;  // 0: the last period did not cut
  double loss_before_cuts_ = 0;
  Duration least_rtt_[2]{};  // of this stretch of time and of the one before; 0: none
  Time stretch_began_{};
};

}  // namespace shoal
