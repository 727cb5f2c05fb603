#include <gtest/gtest.h>

#include <set>

#include "shared/base/fault.hpp"
#include "shared/base/hash.hpp"
#include "shared/base/histogram.hpp"
#include "shared/base/random.hpp"
#include "shared/base/result.hpp"
#include "shared/base/tick.hpp"
#include "shared/base/time.hpp"

namespace shoal {
namespace {

// P14: a 16-bit tick wrapped after a quarter of an hour. Ours is 32 bits wide and compares across its wrap.
TEST(Tick, OrderHoldsAcrossTheWrap) {
  const Tick before{0xFFFFFFFFu};
  const Tick after = before + 1;
  EXPECT_EQ(after, Tick{0});
  EXPECT_LT(before, after);
  EXPECT_GT(after, before);
  EXPECT_EQ(ticks_between(before, after), 1);
  EXPECT_EQ(ticks_between(after, before), -1);
  EXPECT_LT(Tick{0xFFFFFF00u}, Tick{0x100u});
  EXPECT_LE(Tick{7}, Tick{7});
  EXPECT_GE(Tick{7}, Tick{7});
  EXPECT_LT(Tick{0x7FFFFFFFu}, Tick{0x80000000u}) << "the sign of a 32-bit difference is no edge either";
}

TEST(Random, SameSeedSameNumbersAndKeysAreStreamsOfTheirOwn) {
  Random a(7), b(7);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.next(), b.next());
  std::set<std::uint64_t> firsts;
  for (int tick = 0; tick < 50; ++tick) {
    for (int entity = 0; entity < 50; ++entity) firsts.insert(Random::keyed(1, tick, entity).next());
  }
  EXPECT_EQ(firsts.size(), 2500u);
}

TEST(Random, BoundsHold) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_LT(random.below(7), 7u);
    const int between = random.between(-3, 3);
    ASSERT_TRUE(between >= -3 && between <= 3);
    const float uniform = random.uniform();
    ASSERT_TRUE(uniform >= 0 && uniform < 1);
  }
  EXPECT_FALSE(random.chance(0));
  EXPECT_TRUE(random.chance(1));
}

TEST(Random, NumbersAreTheSameOnEveryMachine) {
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFu) << "the published first number of splitmix64 from 0";
  Random random(42);
  random.next();
  EXPECT_EQ(random.next(), 16249806489848801414u) << "a golden value: worlds of old seeds would be others";
}

TEST(Histogram, QuantilesAreWithinTheirError) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 100'000; ++value) histogram.add(value);
  for (const double q : {0.01, 0.5, 0.9, 0.99, 0.999}) {
    const double exact = q * 100'000;
    EXPECT_NEAR(static_cast<double>(histogram.quantile(q)), exact, exact * 0.017) << q;
  }
  EXPECT_EQ(histogram.quantile(1), 100'000u);
  EXPECT_EQ(histogram.max(), 100'000u);
  EXPECT_EQ(Histogram().quantile(0.5), 0u);
}

TEST(Histogram, HoldsEveryValue) {
  Histogram histogram;
  for (const std::uint64_t value :
       {std::uint64_t{0}, std::uint64_t{63}, std::uint64_t{64}, ~std::uint64_t{0}}) {
    histogram.add(value);
    EXPECT_EQ(histogram.max(), value);
    EXPECT_EQ(histogram.quantile(1), value);
  }
}

TEST(Histogram, WhatCameSinceAnEarlierStateIsKnown) {
  Histogram histogram;
  for (int i = 0; i < 100; ++i) histogram.add(10'000);
  const Histogram earlier = histogram;
  EXPECT_EQ(histogram.since(earlier).count(), 0u);
  EXPECT_EQ(histogram.since(earlier).max(), 0u);
  for (int i = 0; i < 10; ++i) histogram.add(50);
  const Histogram later = histogram.since(earlier);
  EXPECT_EQ(later.count(), 10u);
  EXPECT_EQ(later.quantile(0.99), 50u);
  EXPECT_EQ(later.max(), 50u);
  EXPECT_EQ(later.mean(), 50);
}

TEST(ManualClock, NeverGoesBack) {
  ManualClock clock;
  clock.advance(seconds(3));
  EXPECT_EQ(to_seconds(clock.now().since_zero), 3);
  EXPECT_DEATH(clock.set(Time{seconds(2)}), "a clock never goes back");
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int, std::string> good = 7;
  const Result<int, std::string> bad = Failure{std::string("why")};
  EXPECT_EQ(*good, 7);
  EXPECT_EQ(bad.error(), "why");
  EXPECT_DEATH((void)bad.value(), "test ok\\(\\) first");
}

TEST(Hash, NamesHashAsPublished) {
  EXPECT_EQ(fnv1a32(""), 0x811C9DC5u);
  EXPECT_EQ(fnv1a32("foobar"), 0xBF9CF968u);
  EXPECT_EQ(fnv1a64("foobar"), 0x85944171F73967E8u);
}

#ifdef SHOAL_ENABLE_FAULTS
TEST(Fault, IsOnByWholeNameOnly) {
  set_faults("skip-unbind,other");
  EXPECT_TRUE(fault("skip-unbind"));
  EXPECT_TRUE(fault("other"));
  EXPECT_FALSE(fault("skip"));
  EXPECT_FALSE(fault("unbind"));
  set_faults("");
  EXPECT_FALSE(fault("other"));
  EXPECT_FALSE(fault(""));
}

// Else a test that sets faults of its own mends what scripts/mutations broke, for all tests after it.
TEST(Fault, ThoseOfTheEnvironmentStayWhenATestSetsItsOwn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has not read its environment yet
  EXPECT_EXIT(
      {
        ::setenv("SHOAL_FAULT", "by-environment,another", 1);
        set_faults("by-test");
        const bool both = fault("by-test") && fault("by-environment") && fault("another");
        set_faults("");
        std::_Exit(both && !fault("by-test") && fault("another") ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace shoal
