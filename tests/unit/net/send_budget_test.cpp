#include "shared/net/send_budget.hpp"

#include <gtest/gtest.h>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

constexpr std::uint64_t kRates[] = {1'000, 10'000, 1'000'000};

/// Refills at irregular times, with pauses that a burst covers, and calls `step(budget, now)` after each, for a minute.
template <class F>
void run_a_minute(SendBudget& budget, std::uint64_t seed, F step) {
  Random random(seed);
  Time now{};
  while (now - Time{} < seconds(60)) {
    now = now + Duration(std::chrono::microseconds(random.below(10) == 0 ? random.below(80'000)
                                                                         : random.below(9'000)));
    budget.refill(now);
    step(budget, now);
  }
}

std::uint64_t burst_of(std::uint64_t rate) {
  return std::max<std::uint64_t>(rate / 10, kMaxDatagramBytes);
}

TEST(SendBudget, GreedySenderIsKeptToTheRateInEveryStretch) {
  for (const std::uint64_t rate : kRates) {
    SendBudget budget(rate);
    Random random(rate);
    std::vector<std::pair<Time, std::uint64_t>> sent;
    std::uint64_t total = 0;
    run_a_minute(budget, rate, [&](SendBudget& b, Time now) {
      while (b.may_send_state()) {
        const std::size_t bytes = 40 + random.below(kMaxDatagramBytes - 40 + 1);
        b.spend_state(bytes);
        total += bytes;
        sent.emplace_back(now, total);
      }
    });
    // As a line of debt: never more ahead of the rate than a burst and a datagram, from whichever moment counted.
    double lowest = 0;
    double before = 0;
    for (const auto& [now, bytes] : sent) {
      const double due = to_seconds(now - Time{}) * static_cast<double>(rate);
      lowest = std::min(lowest, before - due);
      ASSERT_LE(static_cast<double>(bytes) - due - lowest,
                static_cast<double>(burst_of(rate) + kMaxDatagramBytes) + 1)
          << rate << " bytes/s";
      before = static_cast<double>(bytes);
    }
    EXPECT_GE(total, rate * 58) << "short periods must not round to nothing";
  }
}

TEST(SendBudget, LargestDatagramPassesAtTheSmallestRate) {
  SendBudget budget(1, Time{});
  ASSERT_TRUE(budget.may_send_state());
  budget.spend_state(kMaxDatagramBytes);
  EXPECT_FALSE(budget.may_send_state());
  Time now{};
  int waited_seconds = 0;
  while (!budget.may_send_state() && waited_seconds < 5000) {
    now = now + seconds(1);
    budget.refill(now);
    ++waited_seconds;
  }
  EXPECT_TRUE(budget.may_send_state());
  budget.spend_state(kMaxDatagramBytes);
  waited_seconds = 0;
  while (!budget.may_send_state() && waited_seconds < 5000) {
    now = now + seconds(1);
    budget.refill(now);
    ++waited_seconds;
  }
  EXPECT_NEAR(waited_seconds, static_cast<int>(kMaxDatagramBytes), 2) << "only later";
}

TEST(SendBudget, SilenceSavesUpNoMoreThanABurst) {
  SendBudget budget(100'000, Time{});
  budget.refill(Time{} + seconds(3600));
  std::uint64_t sent = 0;
  while (budget.may_send_state()) {
    budget.spend_state(100);
    sent += 100;
  }
  EXPECT_EQ(sent, burst_of(100'000));
}

TEST(SendBudget, WithoutALimitEverythingMayLeave) {
  SendBudget budget;
  budget.spend_state(1u << 30);
  budget.spend_other(1u << 30);
  EXPECT_TRUE(budget.may_send_state());
  EXPECT_TRUE(budget.may_send_other(true));
  budget.refill(Time{} + seconds(1));
  EXPECT_TRUE(budget.may_send_state());
}

// P12: a burst of messages starved state for a minute.
TEST(SendBudget, EndlessOtherTrafficLeavesHalfToStateThatWaits) {
  for (const std::uint64_t rate : kRates) {
    SendBudget budget(rate);
    std::uint64_t state = 0, other = 0;
    // Whoever asks first has the better chance: let the messages do so, always.
    run_a_minute(budget, rate + 1, [&](SendBudget& b, Time) {
      for (bool any = true; any;) {
        any = false;
        while (b.may_send_other(true)) {
          b.spend_other(700);
          other += 700;
          any = true;
        }
        if (b.may_send_state()) {
          b.spend_state(700);
          state += 700;
          any = true;
        }
      }
    });
    EXPECT_GE(state, rate * 60 * 48 / 100) << rate << " bytes/s";
    EXPECT_GE(other, rate * 60 * 45 / 100) << "and it is not starved either";
    EXPECT_LE(other, rate * 30 + burst_of(rate) + kMaxDatagramBytes);
  }
}

TEST(SendBudget, OtherTrafficGetsEverythingWhileNoStateWaits) {
  for (const std::uint64_t rate : kRates) {
    SendBudget budget(rate);
    std::uint64_t other = 0;
    run_a_minute(budget, rate + 2, [&](SendBudget& b, Time) {
      while (b.may_send_other(false)) {
        b.spend_other(700);
        other += 700;
      }
    });
    EXPECT_GE(other, rate * 58);
    EXPECT_LE(other, rate * 60 + burst_of(rate) + kMaxDatagramBytes);
  }
}

// P12: the burst is over; what it took beyond its half is not held against it for ever.
TEST(SendBudget, BurstThatUsedIdleTimeDoesNotLockOtherTrafficOut) {
  SendBudget budget(10'000, Time{});
  Time now{};
  for (int i = 0; i < 600; ++i) {  // twenty seconds of messages only
    now = now + Duration(seconds(1)) / 30;
    budget.refill(now);
    while (budget.may_send_other(false)) budget.spend_other(500);
  }
  std::uint64_t other = 0;
  for (int i = 0; i < 300; ++i) {  // ten seconds with state
    now = now + Duration(seconds(1)) / 30;
    budget.refill(now);
    while (budget.may_send_other(true)) {
      budget.spend_other(500);
      other += 500;
    }
    while (budget.may_send_state()) budget.spend_state(500);
  }
  EXPECT_GT(other, 10'000u) << "of 50,000 that it could have";
}

// A path that was free for days gets a rate when it first loses packets.
TEST(SendBudget, WhatWasSentWithoutARateIsNotOwedToTheFirstOne) {
  SendBudget budget(0, Time{});
  Time now{};
  for (int i = 0; i < 10'000; ++i) {  // ten gigabytes: more than fits into the debt
    now = now + Duration(std::chrono::milliseconds(1));
    budget.refill(now);
    budget.spend_state(500'000);
    budget.spend_other(500'000);
  }
  budget.set_bytes_per_second(100'000);
  budget.refill(now);
  EXPECT_TRUE(budget.may_send_state());
  EXPECT_TRUE(budget.may_send_other(true));
  std::uint64_t sent = 0;
  for (int i = 0; i < 1'000; ++i) {  // ten seconds
    now = now + Duration(std::chrono::milliseconds(10));
    budget.refill(now);
    for (; budget.may_send_state(); sent += 1'000) budget.spend_state(1'000);
  }
  EXPECT_GE(sent, 990'000u);
  EXPECT_LE(sent, 1'000'000u + burst_of(100'000) + kMaxDatagramBytes) << "and nothing was saved up for it";
}

}  // namespace
}  // namespace shoal
