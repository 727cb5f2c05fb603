#include "shared/net/send_log.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

using Outcomes = std::vector<SendLog::Outcome>;
SequenceRange range(std::uint64_t oldest, std::uint64_t newest) {
  return {Sequence{oldest}, Sequence{newest}};
}

struct SendLogTest : ::testing::Test {
  void acknowledge(std::vector<SequenceRange> ranges) {
    log.acknowledge(ranges, Duration{}, now, rtt, outcomes);
  }
  Time now{};
  SendLog log;
  RttEstimate rtt;
  Outcomes outcomes;
};

TEST_F(SendLogTest, AcknowledgementEndsEachPacketOnce) {
  for (int i = 0; i < 5; ++i) log.push(now, true);
  acknowledge({range(4, 5), range(1, 2)});
  acknowledge({range(4, 5), range(1, 2)});
  std::vector<std::uint64_t> acknowledged;
  for (const auto& outcome : outcomes) {
    EXPECT_TRUE(outcome.acknowledged);
    acknowledged.push_back(outcome.sequence.value);
  }
  EXPECT_EQ(acknowledged, (std::vector<std::uint64_t>{1, 2, 4, 5})) << "ascending, each once";
  EXPECT_EQ(log.in_flight(), 1u);
}

TEST_F(SendLogTest, OvertakenPacketIsLostAfterTheLossDelayAndNotBefore) {
  log.push(now, true);
  now = now + milliseconds{10};
  log.push(now, true);
  now = now + milliseconds{40};
  acknowledge({range(2, 2)});
  log.detect_losses(now, rtt, outcomes);
  ASSERT_EQ(outcomes.size(), 1u) << "the first may still be on its way";
  now = Time{} + rtt.loss_delay();
  log.detect_losses(now, rtt, outcomes);
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_FALSE(outcomes[1].acknowledged);
  EXPECT_EQ(outcomes[1].sequence, Sequence{1});
}

TEST_F(SendLogTest, LateAcknowledgementOfALostPacketChangesNothing) {
  log.push(now, true);
  log.push(now, true);
  now = now + seconds{3};
  log.detect_losses(now, rtt, outcomes);
  ASSERT_EQ(outcomes.size(), 2u);
  acknowledge({range(1, 2)});
  EXPECT_EQ(outcomes.size(), 2u) << "each ends once";
  EXPECT_EQ(log.spurious_count(), 2u);
}

TEST_F(SendLogTest, PathThatBecameSlowerThanTheLossDeadlineIsLearnedFromLateAcknowledgements) {
  rtt.sample(milliseconds{50}, Duration{});
  const Duration slow = milliseconds{1800};
  const Duration spacing = milliseconds{33};
  std::uint64_t arrived = 0;
  for (int i = 0; i < 300; ++i) {
    log.push(now, true);
    now = now + spacing;
    if (now.since_zero >= slow) acknowledge({range(1, ++arrived)});
    log.detect_losses(now, rtt, outcomes);
  }
  EXPECT_GT(log.spurious_count(), 0u) << "at first the deadline comes before the answer";
  EXPECT_GT(log.acknowledged_count(), 200u) << "then the deadline follows the path";
}

TEST_F(SendLogTest, WithoutAnyAnswerEverythingIsLostInTheEnd) {
  for (int i = 0; i < 100; ++i) {
    log.push(now, true);
    now = now + milliseconds{16};
  }
  now = now + rtt.loss_delay() + kLossDeadline;
  log.detect_losses(now, rtt, outcomes);
  EXPECT_EQ(outcomes.size(), 100u);
  EXPECT_EQ(log.in_flight(), 0u);
}

// P21
TEST_F(SendLogTest, PendingAcknowledgementsAreBounded) {
  for (std::size_t i = 0; i < kMaxInFlight; ++i) log.push(now, true);
  EXPECT_TRUE(log.is_full());
  EXPECT_DEATH(log.push(now, true), "is_full");
  acknowledge({range(1, 1)});
  EXPECT_FALSE(log.is_full());
}

TEST_F(SendLogTest, UnreportedPacketsEndSilently) {
  log.push(now, false);
  log.push(now, true);
  acknowledge({range(1, 2)});
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].sequence, Sequence{2});
}

// T15
TEST_F(SendLogTest, RangesOfWhatWasNeverSentAreSeen) {
  log.push(now, true);
  log.push(now, true);
  EXPECT_TRUE(log.covers(std::vector{range(1, 2)}));
  EXPECT_FALSE(log.covers(std::vector{range(1, 3)}));
  EXPECT_FALSE(log.covers(std::vector{range(0, 1)}));
  EXPECT_FALSE(log.covers(std::vector{range(2, 2), range(~0ull, ~0ull)}));
}

TEST(SendLog, EachPacketEndsExactlyOnceWhateverTheNetworkDoes) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    SendLog log;
    ReceiveLog peer;
    RttEstimate rtt;
    Outcomes outcomes;
    Time now{};
    std::map<std::uint64_t, int> ends;
    std::vector<Sequence> flying;
    const double loss = random.uniform() * 0.6f;
    for (int step = 0; step < 2000; ++step) {
      now = now + milliseconds{random.below(12)};
      if (!log.is_full()) {
        if (!random.chance(loss)) flying.push_back(log.next());
        ends[log.next().value] = 0;
        log.push(now, true);
      }
      while (!flying.empty() && random.chance(0.6)) {  // out of order, some very late
        const std::size_t pick = random.below(static_cast<std::uint32_t>(flying.size()));
        if (peer.classify(flying[pick]) == ReceiveLog::Arrival::New) {
          peer.note(flying[pick], now);
          peer.acknowledge(flying[pick], now);
        }
        flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(pick));
      }
      if (random.chance(0.5)) {
        std::array<SequenceRange, kMaxAckRanges> ranges;
        const std::size_t count = peer.ranges(now, ranges);
        ASSERT_TRUE(log.covers(std::span(ranges.data(), count)));
        log.acknowledge(std::span(ranges.data(), count), peer.ack_delay(now), now, rtt, outcomes);
      }
      log.detect_losses(now, rtt, outcomes);
    }
    log.detect_losses(now + seconds{10}, rtt, outcomes);
    for (const auto& outcome : outcomes) ++ends[outcome.sequence.value];
    for (const auto& [sequence, count] : ends)
      ASSERT_EQ(count, 1) << "seed " << seed << ", sequence " << sequence;
    EXPECT_EQ(log.in_flight(), 0u);
    EXPECT_EQ(log.acknowledged_count() + log.lost_count(), ends.size());
  }
}

// T17
TEST(RttEstimate, FindsTheRoundTripAt0And1And300Milliseconds) {
  for (const int ms : {0, 1, 300}) {
    RttEstimate rtt;
    for (int i = 0; i < 100; ++i) rtt.sample(milliseconds{ms + 16}, milliseconds{16});
    EXPECT_NEAR(to_milliseconds(rtt.rtt()), ms, 0.01);
    EXPECT_GE(rtt.loss_delay(), milliseconds{ms + 16});
    EXPECT_LE(rtt.loss_delay(), milliseconds{ms + 40});
  }
}

TEST(RttEstimate, PeerThatOverstatesItsDelayCannotMakeTheRoundTripNegative) {
  RttEstimate rtt;
  rtt.sample(milliseconds{10}, seconds{4000});
  EXPECT_EQ(rtt.rtt(), Duration{0});
  rtt.sample(Duration{-5}, Duration{0});
  EXPECT_EQ(rtt.rtt(), Duration{0});
}

}  // namespace
}  // namespace shoal
