// Which datagrams of one direction have arrived and which of them were acknowledged. It drops duplicates, and
// it writes the acknowledgement ranges.
//
// 1. A sequence is New at most once; what the window cannot tell from a duplicate is refused.
// 2. Only what acknowledge() was called for is ever written into ranges.
// 3. Ranges cover all that arrived during kAckCoverage, as far as kMaxAckRanges runs reach.
// Memory is fixed. Arithmetic holds for every sequence, up to 2^64 − 1.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "shared/base/time.hpp"
#include "shared/net/ids.hpp"
#include "shared/net/transport_limits.hpp"

namespace shoal {

/// A run of acknowledged sequences, both ends included.
struct SequenceRange {
  Sequence oldest;
  Sequence newest;

  friend bool operator==(const SequenceRange&, const SequenceRange&) = default;
};

class ReceiveLog {
 public:
  enum class Arrival {
    New,
    Duplicate,    // arrived before
    TooOld,       // behind the window
    TooFarAhead,  // more than kMaxSequenceJump ahead, or 0
  };

  ReceiveLog() = default;
  /// Starts as if all up to `newest` had gone by.
  explicit ReceiveLog(Sequence newest) : newest_(newest) {}

  /// Where a datagram with this sequence stands; changes nothing.
  Arrival classify(Sequence sequence) const;
  /// Marks it as arrived. REQUIRES: classify() says New.
  void note(Sequence sequence, Time now);
  /// REQUIRES: noted. Does nothing when it has left the window meanwhile.
  void acknowledge(Sequence sequence, Time now);

  /// Fills `ranges` newest first and returns how many there are.
  std::size_t ranges(Time now, std::span<SequenceRange, kMaxAckRanges> ranges) const;
  /// How long ago the newest acknowledged sequence arrived; 0 when there is none.
  Duration ack_delay(Time now) const;

  Sequence newest() const { return newest_; }

 private:
  static constexpr std::uint64_t kWords = kReceiveWindow / 64;
  struct Mark {
    Time time{};
    std::uint64_t newest = 0;  // when a datagram arrived at `time`, before it
  };

  std::uint64_t oldest_in_window() const;
  bool is_acknowledged(std::uint64_t sequence) const;
  std::uint64_t coverage_floor(Time now) const;

  Sequence newest_;
  Sequence newest_acknowledged_;
  Time newest_acknowledged_at_{};
  std::array<std::uint64_t, kWords> arrived_{};
  std::array<std::uint64_t, kWords> acknowledged_{};
  std::array<Mark, 16> marks_{};
  std::uint32_t mark_count_ = 0;
};

}  // namespace shoal
