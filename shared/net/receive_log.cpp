#include "shared/net/receive_log.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr Duration kMarkSpacing = milliseconds{100};

constexpr std::uint64_t word_of(std::uint64_t sequence) {
  return sequence / 64;
}
constexpr std::uint64_t bit_of(std::uint64_t sequence) {
  return std::uint64_t{1} << (sequence % 64);
}

}  // namespace

std::uint64_t ReceiveLog::oldest_in_window() const {
  const std::uint64_t word = word_of(newest_.value);
  return word < kWords ? 1 : (word - (kWords - 1)) * 64;
}

ReceiveLog::Arrival ReceiveLog::classify(Sequence sequence) const {
  if (sequence.value == 0) return Arrival::TooFarAhead;
  if (sequence > newest_) {
    return sequence.value - newest_.value > kMaxSequenceJump ? Arrival::TooFarAhead : Arrival::New;
  }
  if (sequence.value < oldest_in_window()) return Arrival::TooOld;
  const bool arrived = (arrived_[word_of(sequence.value) % kWords] & bit_of(sequence.value)) != 0;
  return arrived && !fault("net-accept-duplicates") ? Arrival::Duplicate : Arrival::New;
}

void ReceiveLog::note(Sequence sequence, Time now) {
  SHOAL_DEBUG_ASSERT(classify(sequence) == Arrival::New,
                     "note() takes a sequence that classify() called New");
  const std::size_t newest_mark = (mark_count_ - 1) % marks_.size();
  if (mark_count_ == 0 || now - marks_[newest_mark].time >= kMarkSpacing) {
    marks_[mark_count_ % marks_.size()] = {now, newest_.value};
    ++mark_count_;
  }
  if (sequence > newest_) {
    // Clear the words that the window enters: what they held belongs to the last round of the ring.
    const std::uint64_t first = word_of(newest_.value);
    const std::uint64_t words = std::min(word_of(sequence.value) - first, kWords);
    for (std::uint64_t i = 1; i <= words; ++i) {
      const std::uint64_t word = (word_of(sequence.value) - words + i) % kWords;
      arrived_[word] = 0;
      acknowledged_[word] = 0;
    }
    newest_ = sequence;
  }
  arrived_[word_of(sequence.value) % kWords] |= bit_of(sequence.value);
}

void ReceiveLog::acknowledge(Sequence sequence, Time now) {
  if (sequence.value < oldest_in_window()) return;
  SHOAL_DEBUG_ASSERT((arrived_[word_of(sequence.value) % kWords] & bit_of(sequence.value)) != 0,
                     "only what arrived is acknowledged");
  acknowledged_[word_of(sequence.value) % kWords] |= bit_of(sequence.value);
  if (sequence > newest_acknowledged_) {
    newest_acknowledged_ = sequence;
    newest_acknowledged_at_ = now;
  }
}

bool ReceiveLog::is_acknowledged(std::uint64_t sequence) const {
  return (acknowledged_[word_of(sequence) % kWords] & bit_of(sequence)) != 0;
}

std::uint64_t ReceiveLog::coverage_floor(Time now) const {
  // All that arrived since a mark's time and was newest then lies above the mark's sequence.
  const std::uint32_t count = std::min<std::uint32_t>(mark_count_, static_cast<std::uint32_t>(marks_.size()));
  for (std::uint32_t i = 1; i <= count; ++i) {
    const Mark& mark = marks_[(mark_count_ - i) % marks_.size()];
    if (now - mark.time >= kAckCoverage) return mark.newest + 1;
  }
  return 1;
}

std::size_t ReceiveLog::ranges(Time now, std::span<SequenceRange, kMaxAckRanges> ranges) const {
  const std::uint64_t floor = std::max(oldest_in_window(), coverage_floor(now));
  std::size_t count = 0;
  std::uint64_t sequence = newest_acknowledged_.value;
  while (sequence >= floor && sequence != 0) {
    if (!is_acknowledged(sequence)) {
      --sequence;
      continue;
    }
    if (count == ranges.size()) break;
    const std::uint64_t newest = sequence;
    while (sequence > floor && is_acknowledged(sequence - 1)) --sequence;
    ranges[count++] = {Sequence{sequence}, Sequence{newest}};
    --sequence;
  }
  return count;
}

Duration ReceiveLog::ack_delay(Time now) const {
  return newest_acknowledged_.value == 0 ? Duration{0} : now - newest_acknowledged_at_;
}

}  // namespace shoal
