#include "shared/net/congestion.hpp"

#include <utility>

#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr Duration kLeastPeriod = milliseconds{300};
// Periods with fewer packets go on: a share of three packets says nothing.
constexpr std::uint32_t kLeastPackets = 20;
constexpr double kHighLoss = 0.10;
constexpr double kLowLoss = 0.02;
// A path that loses more is as good as gone, whoever is to blame.
constexpr double kMostOwnLoss = 0.4;
constexpr double kForgetting = 0.05;
constexpr double kGrowth = 1.08;
constexpr double kDelayCut = 0.85;
// A round trip this much above the smallest is a queue.
constexpr Duration kQueueDelay = milliseconds{100};
constexpr Duration kRttMemory = seconds{10};

}  // namespace

Duration CongestionControl::base_rtt(Duration rtt, Time now) {
  if (now - stretch_began_ >= kRttMemory) {
    least_rtt_[1] = least_rtt_[0];
    least_rtt_[0] = Duration{0};
    stretch_began_ = now;
  }
  if (least_rtt_[0].count() == 0 || rtt < least_rtt_[0]) least_rtt_[0] = rtt;
  return least_rtt_[1].count() == 0 ? least_rtt_[0] : std::min(least_rtt_[0], least_rtt_[1]);
}

void CongestionControl::learn_own_loss() {
  // Slowly: one good period on a bad link says little.
  if (loss_ < own_loss_) own_loss_ += kForgetting * (loss_ - own_loss_);
  const bool has_halved = rate_before_cuts_ > 0 && rate_ <= rate_before_cuts_ / 2;
  if (!has_halved) return;
  if (loss_ >= 0.8 * loss_before_cuts_) own_loss_ = std::min(loss_, kMostOwnLoss);
  rate_before_cuts_ = 0;
}

void CongestionControl::on_new_path() {
  if (fault("net-keep-old-path")) return;
  least_rtt_[0] = least_rtt_[1] = Duration{0};
  own_loss_ = 0;
  rate_before_cuts_ = 0;
  // What was sent on the old path says nothing of the new one.
  acknowledged_ = lost_ = 0;
}

bool CongestionControl::update(Duration rtt, Time now) {
  const Duration base = rtt.count() == 0 ? rtt : base_rtt(rtt, now);
  const std::uint32_t packets = acknowledged_ + lost_;
  if (now - period_began_ < std::max(kLeastPeriod, rtt) || packets < kLeastPackets) return false;
  const double used = static_cast<double>(std::exchange(sent_bytes_, 0)) / to_seconds(now - period_began_);
  period_began_ = now;
  loss_ = static_cast<double>(lost_) / packets;
  acknowledged_ = 0;
  lost_ = 0;
  learn_own_loss();
  const double above = loss_ - own_loss_;
  const bool is_queueing = rtt > 2 * base + kQueueDelay;
  if (fault("net-ignore-congestion")) return true;
  if (above > kHighLoss || is_queueing) {
    if (rate_before_cuts_ == 0) {
      rate_before_cuts_ = rate_;
      loss_before_cuts_ = loss_;
    }
    rate_ = std::clamp(used, rate_ / 2, rate_) *
            std::min(above > kHighLoss ? 1 - above / 2 : 1, is_queueing ? kDelayCut : 1);
  } else if (above < kLowLoss || own_loss_ > kLowLoss) {
    rate_before_cuts_ = 0;
    rate_ *= kGrowth;
  }
  rate_ = std::clamp(rate_, static_cast<double>(least_), static_cast<double>(most_));
  return true;
}

}  // namespace shoal
