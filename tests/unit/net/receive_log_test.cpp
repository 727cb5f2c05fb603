#include "shared/net/receive_log.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

using Arrival = ReceiveLog::Arrival;
constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();

std::vector<SequenceRange> ranges_of(const ReceiveLog& log, Time now) {
  std::array<SequenceRange, kMaxAckRanges> ranges;
  const std::size_t count = log.ranges(now, ranges);
  return {ranges.begin(), ranges.begin() + static_cast<std::ptrdiff_t>(count)};
}
void arrive(ReceiveLog& log, std::uint64_t sequence, Time now = {}) {
  ASSERT_EQ(log.classify(Sequence{sequence}), Arrival::New) << sequence;
  log.note(Sequence{sequence}, now);
  log.acknowledge(Sequence{sequence}, now);
}
SequenceRange range(std::uint64_t oldest, std::uint64_t newest) {
  return {Sequence{oldest}, Sequence{newest}};
}

TEST(ReceiveLog, WritesRunsNewestFirst) {
  ReceiveLog log;
  for (const std::uint64_t sequence : {1u, 2u, 3u, 5u, 9u, 8u}) arrive(log, sequence);
  EXPECT_EQ(ranges_of(log, {}), (std::vector{range(8, 9), range(5, 5), range(1, 3)}));
}

TEST(ReceiveLog, EmptyLogAcknowledgesNothing) {
  ReceiveLog log;
  EXPECT_TRUE(ranges_of(log, {}).empty());
  EXPECT_EQ(log.ack_delay(Time{seconds{5}}), Duration{0});
}

TEST(ReceiveLog, EachSequenceIsNewOnce) {
  ReceiveLog log;
  arrive(log, 7);
  EXPECT_EQ(log.classify(Sequence{7}), Arrival::Duplicate);
  EXPECT_EQ(log.classify(Sequence{6}), Arrival::New);
  EXPECT_EQ(log.classify(Sequence{0}), Arrival::TooFarAhead) << "0 is none";
}

TEST(ReceiveLog, WhatArrivedWithoutVerdictIsNotAcknowledged) {
  ReceiveLog log;
  log.note(Sequence{1}, {});
  arrive(log, 2);
  EXPECT_EQ(ranges_of(log, {}), std::vector{range(2, 2)});
  EXPECT_EQ(log.classify(Sequence{1}), Arrival::Duplicate) << "yet it does not come twice";
}

TEST(ReceiveLog, OlderThanTheWindowIsRefused) {
  ReceiveLog log;
  arrive(log, 1);
  arrive(log, 5000);
  EXPECT_EQ(log.classify(Sequence{2}), Arrival::TooOld);
  EXPECT_EQ(log.classify(Sequence{4100}), Arrival::New)
      << "a long gap leaves nothing of the last round behind";
  EXPECT_EQ(log.classify(Sequence{5001 + kMaxSequenceJump}), Arrival::TooFarAhead);
}

// T2
TEST(ReceiveLog, WindowHoldsAtTheTopOfTheNumbers) {
  ReceiveLog log(Sequence{kTop - 3000});
  for (std::uint64_t sequence = kTop - 2999; sequence < kTop - 1; sequence += 2) arrive(log, sequence);
  EXPECT_EQ(log.classify(Sequence{kTop - 4}), Arrival::New);
  EXPECT_EQ(log.classify(Sequence{kTop - 5}), Arrival::Duplicate);
  arrive(log, kTop);
  EXPECT_EQ(log.classify(Sequence{kTop}), Arrival::Duplicate);
  EXPECT_EQ(log.classify(Sequence{kTop - 2}), Arrival::New);
  EXPECT_EQ(log.classify(Sequence{kTop - 2000}), Arrival::TooOld);
  EXPECT_EQ(log.classify(Sequence{1}), Arrival::TooOld) << "nothing follows the last number";
  const auto ranges = ranges_of(log, {});
  ASSERT_EQ(ranges.size(), kMaxAckRanges);
  EXPECT_EQ(ranges.front(), range(kTop, kTop));
}

// T2
TEST(ReceiveLog, RandomSequencesFromTheWholeRangeBreakNothing) {
  Random random(11);
  for (int round = 0; round < 200; ++round) {
    ReceiveLog log(Sequence{random.next() >> random.below(64)});
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t near = log.newest().value + random.next() % 4000 - 2000;
      const Sequence sequence{random.chance(0.5) ? near : random.next() >> random.below(64)};
      if (log.classify(sequence) != Arrival::New) continue;
      log.note(sequence, Time{milliseconds{i}});
      log.acknowledge(sequence, Time{milliseconds{i}});
      ASSERT_EQ(log.classify(sequence), Arrival::Duplicate);
      for (const SequenceRange& run : ranges_of(log, Time{milliseconds{i}}))
        ASSERT_LE(run.oldest, run.newest);
    }
  }
}

TEST(ReceiveLog, CoversAllThatArrivedDuringAckCoverage) {
  ReceiveLog log;
  Time now{};
  for (std::uint64_t sequence = 1; sequence <= 480; ++sequence) {
    arrive(log, sequence, now);
    now = now + milliseconds{5};
  }
  const auto ranges = ranges_of(log, now);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].newest.value, 480u);
  EXPECT_LE(ranges[0].oldest.value, 480u - 1000 / 5) << "at least one second of datagrams";
  EXPECT_GE(ranges[0].oldest.value, 480u - 1500 / 5) << "not much more: it costs bytes";
}

TEST(ReceiveLog, TheNewestRunsWinWhenThereAreTooMany) {
  ReceiveLog log;
  for (std::uint64_t sequence = 1; sequence <= 400; sequence += 2) arrive(log, sequence);
  const auto ranges = ranges_of(log, {});
  ASSERT_EQ(ranges.size(), kMaxAckRanges);
  EXPECT_EQ(ranges.front(), range(399, 399));
}

// A model: the time of arrival of everything, and a plain set of what was acknowledged.
TEST(ReceiveLog, AgreesWithASimpleModelOverRandomArrivals) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    ReceiveLog log;
    std::map<std::uint64_t, bool> seen;  // sequence → acknowledged
    std::uint64_t newest = 0;
    Time now{};
    for (int step = 0; step < 3000; ++step) {
      now = now + microseconds{random.below(400)};
      const std::uint64_t reach = random.chance(0.01) ? 3000 : 40;
      std::uint64_t sequence = newest + random.below(static_cast<std::uint32_t>(reach));
      sequence = sequence > reach / 2 ? sequence - reach / 2 + 1 : 1;
      const Arrival arrival = log.classify(Sequence{sequence});
      if (seen.contains(sequence)) {
        ASSERT_NE(arrival, Arrival::New) << "seed " << seed << ": " << sequence << " came before";
      } else if (sequence > newest) {
        ASSERT_EQ(arrival, Arrival::New);
      } else if (newest - sequence < kReceiveWindow - 64) {
        ASSERT_EQ(arrival, Arrival::New) << "seed " << seed << ": " << sequence << " lies in the window";
      }
      if (arrival != Arrival::New) continue;
      const bool acknowledged = random.chance(0.9);
      log.note(Sequence{sequence}, now);
      if (acknowledged) log.acknowledge(Sequence{sequence}, now);
      seen[sequence] = acknowledged;
      newest = std::max(newest, sequence);
      if (step % 100 != 99) continue;
      const auto ranges = ranges_of(log, now);
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (i > 0) {
          ASSERT_LT(ranges[i].newest.value + 1, ranges[i - 1].oldest.value) << "runs are apart, newest first";
        }
        for (std::uint64_t s = ranges[i].oldest.value; s <= ranges[i].newest.value; ++s) {
          ASSERT_TRUE(seen.contains(s) && seen[s])
              << "seed " << seed << ": " << s << " was never acknowledged";
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal
