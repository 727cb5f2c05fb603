#include "server/service/watchdog.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "shared/ecs/registry.hpp"
#include "shared/ecs/schedule.hpp"

namespace shoal {
namespace {

using Verdict = StallDetector::Verdict;

Time at(double when) {
  return Time{} + Duration(static_cast<std::int64_t>(when * 1e9));
}

TEST(StallDetector, SaysAStallOnceThenNowAndThenAndThatItIsOver) {
  StallDetector detector({.limit = seconds(2), .repeat = seconds(10)});
  EXPECT_EQ(detector.look(at(10), at(11)), Verdict::Fine);
  EXPECT_EQ(detector.look(at(10), at(12)), Verdict::Stalls);
  EXPECT_EQ(detector.length(), seconds(2));
  EXPECT_EQ(detector.look(at(10), at(13)), Verdict::Fine);
  EXPECT_EQ(detector.look(at(10), at(21.9)), Verdict::Fine);
  EXPECT_EQ(detector.look(at(10), at(22)), Verdict::Stalls);
  EXPECT_EQ(detector.length(), seconds(12));
  EXPECT_EQ(detector.look(at(23), at(23.5)), Verdict::Resumed);
  EXPECT_EQ(detector.look(at(24), at(24.5)), Verdict::Fine);
  EXPECT_EQ(detector.look(at(25), at(27)), Verdict::Stalls) << "another one";
}

TEST(StallDetector, GivesUpAfterThatTimeAndNotBefore) {
  StallDetector detector({.limit = seconds(2), .abort_after = seconds(5)});
  EXPECT_EQ(detector.look(at(0), at(2)), Verdict::Stalls);
  EXPECT_EQ(detector.look(at(0), at(4.9)), Verdict::Fine);
  EXPECT_EQ(detector.look(at(0), at(5)), Verdict::Hopeless);
}

TEST(StallDetector, MachineThatStoodStillIsNotHopelessAtTheFirstLook) {
  StallDetector detector({.limit = seconds(2), .abort_after = seconds(5)});
  EXPECT_EQ(detector.look(at(10), at(10.5)), Verdict::Fine);
  EXPECT_EQ(detector.look(at(10), at(70)), Verdict::Stalls);
  EXPECT_EQ(detector.look(at(70.1), at(70.5)), Verdict::Resumed);
}

TEST(Watchdog, CountsAStallOnceAndKnowsWhoIsAlive) {
  SteadyClock clock;
  std::atomic<int> descriptions{0};
  Watchdog watchdog(clock, {.limit = milliseconds(20), .repeat = milliseconds(5)}, [&] {
    ++descriptions;
    return std::string("a test");
  });
  const Time deadline = clock.now() + seconds(60);
  while (descriptions < 3 && clock.now() < deadline) std::this_thread::yield();
  EXPECT_FALSE(watchdog.is_alive());
  EXPECT_EQ(watchdog.stalls(), 1u);
  watchdog.stop();
  watchdog.beat();
  const int so_far = descriptions;
  EXPECT_GE(so_far, 3);
}

TEST(Watchdog, WithoutALimitNobodyLooks) {
  SteadyClock clock;
  Watchdog watchdog(clock, {.limit = {}}, [] { return std::string(); });
  EXPECT_TRUE(watchdog.is_alive());
  EXPECT_EQ(watchdog.stalls(), 0u);
}

TEST(Schedule, SystemsThatRunAreNamedToOtherThreads) {
  Registry registry;
  registry.freeze();
  Schedule schedule;
  std::atomic<bool> may_end{false};
  schedule.add("first", [](Registry&, Tick) {});
  schedule.add("second", [&](Registry&, Tick) { may_end.wait(false); });
  schedule.build(registry);
  const auto running = [&] {
    std::vector<std::string> names;
    schedule.for_each_running([&](const std::string& name) { names.push_back(name); });
    return names;
  };
  EXPECT_TRUE(running().empty());
  std::thread other([&] {
    // Another thread than the one that runs them.
    while (running() != std::vector<std::string>{"second"}) std::this_thread::yield();
    may_end = true;
    may_end.notify_all();
  });
  schedule.run(registry, Tick{1});
  other.join();
  EXPECT_TRUE(running().empty());
}

}  // namespace
}  // namespace shoal
