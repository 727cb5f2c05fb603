#include "shared/net/send_log.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {

void SendLog::push(Time now, bool is_reported) {
  SHOAL_ASSERT(!is_full(), "too many datagrams in flight: test is_full() first");
  entry(next_) = {now, is_reported ? State::InFlight : State::InFlightUnreported};
  ++next_;
  ++in_flight_;
}

bool SendLog::covers(std::span<const SequenceRange> ranges) const {
  return std::all_of(ranges.begin(), ranges.end(), [this](const SequenceRange& range) {
    return range.oldest.value >= 1 && range.oldest <= range.newest && range.newest.value < next_;
  });
}

void SendLog::end(std::uint64_t sequence, bool acknowledged, std::vector<Outcome>& outcomes) {
  Entry& ended = entry(sequence);
  if (ended.state == State::InFlight) outcomes.push_back({Sequence{sequence}, acknowledged});
  // A lost one stays known until its place is used again, so that a late acknowledgement is seen as such.
  ended.state = acknowledged ? State::Ended : State::Lost;
  --in_flight_;
  ++(acknowledged ? acknowledged_count_ : lost_count_);
}

void SendLog::skip_ended() {
  while (oldest_ < next_) {
    const State state = entry(oldest_).state;
    if (state == State::InFlight || state == State::InFlightUnreported) return;
    ++oldest_;
  }
}

void SendLog::acknowledge(std::span<const SequenceRange> ranges, Duration peer_delay, Time now,
                          RttEstimate& rtt, std::vector<Outcome>& outcomes) {
  if (ranges.empty()) return;
  const std::uint64_t newest = ranges.front().newest.value;
  const std::uint64_t oldest_known = next_ > kMaxInFlight ? next_ - kMaxInFlight : 1;
  // One that was given up for lost is a sample, too: else a path that became slower than the deadline would lose every
  // datagram for ever, and never learn why. A sequence is sent once, so there is no doubt which one was answered.
  if (newest >= oldest_known && entry(newest).state != State::Ended) {
    rtt.sample(now - entry(newest).sent, peer_delay);
  }
  newest_acknowledged_ = std::max(newest_acknowledged_, newest);
  for (std::size_t i = ranges.size(); i-- > 0;) {
    const std::uint64_t first = std::max(ranges[i].oldest.value, oldest_known);
    for (std::uint64_t sequence = first; sequence <= ranges[i].newest.value; ++sequence) {
      Entry& known = entry(sequence);
      if (known.state == State::InFlight || known.state == State::InFlightUnreported) {
        end(sequence, true, outcomes);
      } else if (known.state == State::Lost) {
        known.state = State::Ended;
        ++spurious_count_;
        if (fault("net-acknowledge-twice")) outcomes.push_back({Sequence{sequence}, true});
      }
    }
  }
  skip_ended();
}

void SendLog::detect_losses(Time now, const RttEstimate& rtt, std::vector<Outcome>& outcomes) {
  const Duration delay = rtt.loss_delay();
  // Sent times rise with the sequence, so the first one that is not lost ends the search.
  for (std::uint64_t sequence = oldest_; sequence < next_; ++sequence) {
    const Entry& candidate = entry(sequence);
    if (candidate.state != State::InFlight && candidate.state != State::InFlightUnreported) continue;
    const Duration age = now - candidate.sent;
    const bool overtaken = sequence < newest_acknowledged_ && age >= delay;
    if (!overtaken && age < delay + kLossDeadline) break;
    end(sequence, false, outcomes);
  }
  skip_ended();
}

}  // namespace shoal
