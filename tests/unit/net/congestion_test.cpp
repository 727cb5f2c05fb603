// The rate against paths that are played: what is sent above a path's capacity is lost or waits in its queue, some paths
// lose whatever is sent.
#include "shared/net/congestion.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

constexpr std::uint64_t kLeast = 8'000;
constexpr std::uint64_t kMost = 250'000;

struct Path {
  double capacity = 1e9;  // bytes per second
  double queue_seconds = 0.05;
  double own_loss = 0;
  Duration rtt = milliseconds{50};
};

class CongestionTest : public ::testing::Test {
 protected:
  /// Sends as much as the rate allows, in packets of 1000 bytes. Returns the mean rate of the last half.
  double play(const Path& path, Duration length) {
    double sum = 0;
    int count = 0;
    constexpr Duration kStep = milliseconds{10};
    for (Duration passed{}; passed < length; passed += kStep) {
      now = now + kStep;
      owed += static_cast<double>(control.rate()) * to_seconds(kStep);
      queued = std::max(0.0, queued - path.capacity * to_seconds(kStep));
      for (; owed >= 1000; owed -= 1000) {
        control.on_sent(1000);
        const bool fits = queued + 1000 <= path.capacity * (path.queue_seconds + to_seconds(kStep));
        if (fits) queued += 1000;
        if (fits && !random.chance(path.own_loss)) {
          control.on_acknowledged();
        } else {
          control.on_lost();
        }
      }
      (void)control.update(path.rtt + from_milliseconds(queued / path.capacity * 1000), now);
      if (passed < length / 2) continue;
      sum += static_cast<double>(control.rate());
      ++count;
    }
    return sum / count;
  }

  Time now{};
  Random random{7};
  double owed = 0;
  double queued = 0;
  CongestionControl control{kLeast, kMost, Time{}};
};

TEST_F(CongestionTest, GoodPathIsUsedInFull) {
  EXPECT_EQ(play({}, seconds{10}), static_cast<double>(kMost));
  EXPECT_EQ(control.loss(), 0);
}

TEST_F(CongestionTest, FewLossesOfARadioLinkCostNothing) {
  EXPECT_GT(play({.own_loss = 0.05}, seconds{30}), 0.9 * kMost);
}

TEST_F(CongestionTest, NarrowPathIsFoundByItsLoss) {
  const double rate = play({.capacity = 50'000}, seconds{40});
  EXPECT_GT(rate, 30'000);
  EXPECT_LT(rate, 70'000);
}

TEST_F(CongestionTest, NarrowPathWithADeepQueueIsFoundByItsDelay) {
  const double rate = play({.capacity = 50'000, .queue_seconds = 2}, seconds{60});
  EXPECT_GT(rate, 25'000);
  EXPECT_LT(rate, 75'000);
}

TEST_F(CongestionTest, RateComesBackWhenThePathDoes) {
  (void)play({.capacity = 30'000}, seconds{20});
  ASSERT_LT(control.rate(), 60'000u);
  (void)play({}, seconds{15});
  EXPECT_EQ(control.rate(), kMost);
}

TEST_F(CongestionTest, LossThatSendingLessDoesNotCureIsTheLinksOwn) {
  EXPECT_GT(play({.own_loss = 0.3}, seconds{60}), 0.5 * kMost);
}

TEST_F(CongestionTest, LinkOfItsOwnLossThatBecomesNarrowIsStillFound) {
  (void)play({.own_loss = 0.3}, seconds{40});
  EXPECT_LT(play({.capacity = 40'000, .own_loss = 0.3}, seconds{60}), 100'000);
}

TEST_F(CongestionTest, RateNeverLeavesItsBounds) {
  for (int i = 0; i < 200; ++i) {
    const Path path{.capacity = random.uniform(100, 1e6f),
                    .queue_seconds = random.uniform(0, 3),
                    .own_loss = random.uniform(),
                    .rtt = milliseconds(random.below(2000))};
    (void)play(path, milliseconds(random.below(3000)));
    ASSERT_GE(control.rate(), kLeast);
    ASSERT_LE(control.rate(), kMost);
  }
}

TEST_F(CongestionTest, PathThatCarriesNothingLeavesTheFloor) {
  (void)play({.capacity = 1}, seconds{60});
  EXPECT_EQ(control.rate(), kLeast);
}

TEST(Congestion, CutBeginsAtWhatWasSentOrAtHalfOfTheRate) {
  for (const std::size_t packet : {1000u, 4000u}) {
    CongestionControl control(kLeast, kMost, Time{});
    for (int i = 0; i < 20; ++i) {
      control.on_sent(packet);
      (i % 2 == 0) ? control.on_lost() : control.on_acknowledged();
    }
    ASSERT_TRUE(control.update(milliseconds{50}, Time{} + milliseconds{500}));
    const double begin = packet == 1000 ? kMost / 2.0 : 160'000;  // 80 kB in half a second
    EXPECT_EQ(control.rate(), static_cast<std::uint64_t>(begin * 0.75)) << "half of the loss is cut";
  }
}

TEST(Congestion, LeastAboveMostIsMost) {
  EXPECT_EQ(CongestionControl(8'000, 1'000, Time{}).rate(), 1'000u);
}

}  // namespace
}  // namespace shoal
