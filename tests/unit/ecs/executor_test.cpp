#include "shared/ecs/executor.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "shared/ecs/thread_pool_executor.hpp"
#include "tests/support/allocation_counter.hpp"

namespace shoal::test {
namespace {

struct ExecutorTest : testing::TestWithParam<std::uint32_t> {
  std::unique_ptr<Executor> executor = make_executor(GetParam());
};

TEST_P(ExecutorTest, HasAsManyThreadsAsWereAskedFor) {
  EXPECT_EQ(executor->threads(), GetParam());
}

TEST_P(ExecutorTest, RunsEachTaskOnceAndReturnsWhenAllHaveEnded) {
  for (std::uint32_t count : {0u, 1u, 2u, 7u, 1000u}) {
    std::vector<int> runs(count, 0);  // each is written by one task; the caller reads them afterwards
    const auto task = [&](std::uint32_t number) { ++runs[number]; };
    executor->run(count, task);
    EXPECT_EQ(runs, std::vector<int>(count, 1));
  }
}

TEST_P(ExecutorTest, RunsFollowEachOtherWithoutMixing) {
  // Short runs: helpers of one are often still on their way when the next begins.
  for (std::uint32_t round = 0; round < 5000; ++round) {
    const std::uint32_t count = 1 + round % 5;
    std::uint32_t seen[5] = {};
    const auto task = [&](std::uint32_t number) { seen[number] = round + 1; };
    executor->run(count, task);
    for (std::uint32_t i = 0; i < 5; ++i) ASSERT_EQ(seen[i], i < count ? round + 1 : 0) << "round " << round;
  }
}

TEST_P(ExecutorTest, ARunAllocatesNothing) {
  std::atomic<std::uint64_t> sum{0};
  const auto task = [&](std::uint32_t number) { sum += number; };
  for (int i = 0; i < 100; ++i) executor->run(64, task);
  const std::size_t before = allocations_so_far();
  for (int i = 0; i < 1000; ++i) executor->run(64, task);
  EXPECT_EQ(allocations_so_far() - before, 0u);
  EXPECT_EQ(sum, 1100u * (63 * 64 / 2));
}

INSTANTIATE_TEST_SUITE_P(Threads, ExecutorTest, testing::Values(1, 2, 8));

TEST(ThreadPoolExecutor, RunsTasksSideBySide) {
  ThreadPoolExecutor executor(4);
  std::atomic<int> here{0};
  std::set<std::thread::id> threads;
  std::mutex mutex;
  const auto meet = [&](std::uint32_t) {
    ++here;
    while (here < 4) std::this_thread::yield();  // ends only when all four are inside
    const std::lock_guard lock(mutex);
    threads.insert(std::this_thread::get_id());
  };
  executor.run(4, meet);
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_TRUE(threads.contains(std::this_thread::get_id())) << "the caller works along";
}

TEST(ThreadPoolExecutor, WaitsForTheTaskOfAnotherThread) {
  ThreadPoolExecutor executor(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> here{0};
    bool ended = false;  // written by the helper, read by the caller after the run
    const auto task = [&](std::uint32_t) {
      ++here;
      while (here < 2) std::this_thread::yield();
      if (std::this_thread::get_id() == caller) return;
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      ended = true;
    };
    executor.run(2, task);
    ASSERT_TRUE(ended);
  }
}

TEST(ThreadPoolExecutor, JoinsItsThreadsAtItsEnd) {
  for (int i = 0; i < 50; ++i) {
    ThreadPoolExecutor executor(3);
    const auto nothing = [](std::uint32_t) {};
    if (i % 2 == 0) executor.run(2, nothing);
  }
}

TEST(ThreadPoolExecutorDeathTest, NeedsAThread) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(ThreadPoolExecutor(0), "at least the caller's thread");
}

TEST(ThreadPoolExecutorDeathTest, RunFromInsideATask) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        ThreadPoolExecutor executor(2);
        const auto nothing = [](std::uint32_t) {};
        const auto again = [&](std::uint32_t) { executor.run(2, nothing); };
        executor.run(2, again);
      },
      "while a run goes on");
}

}  // namespace
}  // namespace shoal::test
