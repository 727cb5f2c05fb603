#include "shared/net/link_model.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

constexpr int kMany = 20000;

TEST(LinkModel, WithoutFaultsEverythingArrivesAtOnce) {
  LinkModel model(1);
  for (int i = 0; i < 100; ++i) {
    const auto fate = model.decide(Time{milliseconds{i}}, 100);
    ASSERT_EQ(fate.count, 1u);
    EXPECT_EQ(fate.copies[0].deliver_at, Time{milliseconds{i}});
    EXPECT_FALSE(fate.copies[0].corrupt);
  }
}

TEST(LinkModel, FaultsComeAsOftenAsAsked) {
  LinkModel model(1,
                  {.loss_percent = 20, .duplicate_percent = 10, .reorder_percent = 5, .corrupt_percent = 2});
  for (int i = 0; i < kMany; ++i) (void)model.decide(Time{milliseconds{i}}, 100);
  const LinkCounters& counters = model.counters();
  EXPECT_EQ(counters.offered, static_cast<std::uint64_t>(kMany));
  EXPECT_NEAR(static_cast<double>(counters.lost), 0.20 * kMany, 0.01 * kMany);
  EXPECT_NEAR(static_cast<double>(counters.duplicated), 0.10 * 0.8 * kMany, 0.01 * kMany);
  EXPECT_NEAR(static_cast<double>(counters.reordered), 0.05 * 0.88 * kMany, 0.01 * kMany);
  EXPECT_NEAR(static_cast<double>(counters.corrupted), 0.02 * 0.88 * kMany, 0.01 * kMany);
}

TEST(LinkModel, LatencyStaysWithinJitterAndKeepsTheOrder) {
  LinkModel model(1, {.latency = milliseconds{40}, .jitter = milliseconds{10}});
  Time last{};
  for (int i = 0; i < 1000; ++i) {
    const Time now{milliseconds{i}};
    const Time at = model.decide(now, 100).copies[0].deliver_at;
    EXPECT_GE(at - now, milliseconds{30});
    EXPECT_LE(at - now, milliseconds{50});
    EXPECT_GE(at, last) << "jitter alone does not reorder";
    last = at;
  }
}

TEST(LinkModel, ReorderedDatagramsAreOvertaken) {
  LinkModel model(1, {.reorder_percent = 20, .latency = milliseconds{10}});
  int overtaken = 0;
  Time last{};
  for (int i = 0; i < 1000; ++i) {
    const Time at = model.decide(Time{milliseconds{10 * i}}, 100).copies[0].deliver_at;
    if (at < last) ++overtaken;
    last = at;
  }
  EXPECT_GT(overtaken, 100);
}

TEST(LinkModel, RateCapSpreadsABurstAndLosesWhatTheQueueCannotHold) {
  LinkModel model(1, {.bytes_per_second = 100'000, .queue_bytes = 10'000});
  Time last{};
  int arrived = 0;
  for (int i = 0; i < 50; ++i) {
    const auto fate = model.decide(Time{}, 1000);
    if (fate.count == 0) continue;
    ++arrived;
    EXPECT_EQ(fate.copies[0].deliver_at - last, milliseconds{10});
    last = fate.copies[0].deliver_at;
  }
  EXPECT_EQ(arrived, 10);
  EXPECT_EQ(model.counters().throttled, 40u);
  EXPECT_EQ(model.decide(Time{seconds{1}}, 1000).count, 1u) << "the queue has drained meanwhile";
}

TEST(LinkModel, CorruptionAlwaysChangesSomething) {
  LinkModel model(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> bytes(40, std::byte{0x5A});
    const std::vector<std::byte> before = bytes;
    const std::size_t left = model.corrupt(bytes);
    EXPECT_TRUE(left < before.size() || bytes != before);
  }
}

TEST(LinkModel, OneFaultDoesNotMoveTheOthers) {
  LinkModel plain(9, {.loss_percent = 10});
  LinkModel rich(
      9, {.loss_percent = 10, .duplicate_percent = 50, .corrupt_percent = 50, .jitter = milliseconds{5}});
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(plain.decide(Time{}, 100).count == 0, rich.decide(Time{}, 100).count == 0) << "datagram " << i;
  }
}

}  // namespace
}  // namespace shoal
