// Round-trip time from acknowledgements, in the manner of RFC 9002 section 5 (smoothed mean and mean
// deviation).
#pragma once

#include <algorithm>

#include "shared/base/time.hpp"

namespace shoal {

class RttEstimate {
 public:
  /// `response`: from sending to the arrival of the acknowledgement; `peer_delay`: how long the peer says it
  /// sat on it, believed up to the whole response.
  void sample(Duration response, Duration peer_delay) {
    response = std::max(response, Duration{0});
    const Duration network = response - std::clamp(peer_delay, Duration{0}, response);
    update(rtt_, rtt_deviation_, network);
    update(response_, response_deviation_, response);
    has_sample_ = true;
  }

  bool has_sample() const { return has_sample_; }
  /// Smoothed round trip of the network alone; 0 before the first sample.
  Duration rtt() const { return rtt_; }
  /// Mean distance of a round trip from the smoothed one: the jitter.
  Duration rtt_deviation() const { return rtt_deviation_; }
  /// After this long without acknowledgement, and with a later datagram acknowledged, a datagram counts as
  /// lost.
  Duration loss_delay() const {
    if (!has_sample_) return milliseconds{500};
    return std::clamp<Duration>(response_ + 4 * response_deviation_ + milliseconds{2}, milliseconds{5},
                                seconds{2});
  }

 private:
  void update(Duration& mean, Duration& deviation, Duration value) const {
    if (!has_sample_) {
      mean = value;
      deviation = value / 2;
      return;
    }
    const Duration distance = mean > value ? mean - value : value - mean;
    deviation = (3 * deviation + distance) / 4;
    mean = (7 * mean + value) / 8;
  }

  bool has_sample_ = false;
  Duration rtt_{};
  Duration rtt_deviation_{};
  Duration response_{};
  Duration response_deviation_{};
};

}  // namespace shoal
