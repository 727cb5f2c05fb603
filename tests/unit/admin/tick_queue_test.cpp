#include "server/admin/tick_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace shoal {
namespace {

constexpr Duration kLong = seconds(20);
constexpr Duration kShort = milliseconds(20);

TEST(TickQueue, WorkIsDoneOnTheThreadThatDrains) {
  TickQueue queue;
  std::thread::id worker;
  std::atomic<bool> is_over{false};
  std::thread asker([&] {
    const auto reply = queue.run(
        [&] {
          worker = std::this_thread::get_id();
          return text_reply(200, "done");
        },
        kLong);
    EXPECT_TRUE(reply && reply->body == "done\n");
    is_over = true;
  });
  while (!is_over) queue.drain(4);
  asker.join();
  EXPECT_EQ(worker, std::this_thread::get_id());
}

TEST(TickQueue, WorkThatNobodyWaitsForAnyMoreIsNotDone) {
  TickQueue queue;
  bool was_done = false;
  const auto reply = queue.run(
      [&] {
        was_done = true;
        return text_reply(200, "");
      },
      kShort);
  EXPECT_FALSE(reply) << "nobody drains";
  queue.drain(4);
  EXPECT_FALSE(was_done);
}

TEST(TickQueue, FullQueueRefusesAtOnceAndHasRoomAgainWhenItWasDrained) {
  TickQueue queue;
  const auto nothing = [] { return text_reply(200, ""); };
  for (std::size_t i = 0; i < TickQueue::kPlaces; ++i) EXPECT_FALSE(queue.run(nothing, Duration{1}));
  EXPECT_FALSE(queue.run(nothing, kLong)) << "without waiting: those who gave up still have their places";
  queue.drain(1);
  std::atomic<bool> is_over{false};
  std::thread asker([&] {
    EXPECT_TRUE(queue.run(nothing, kLong));
    is_over = true;
  });
  while (!is_over) queue.drain(4);
  asker.join();
}

TEST(TickQueue, NoMoreIsDoneAtOneGoThanAskedFor) {
  TickQueue queue;
  std::atomic<int> done{0};
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&] {
      queue.run(
          [&] {
            ++done;
            return text_reply(200, "");
          },
          kLong);
    });
  }
  for (int before = 0; before < 3;) {
    queue.drain(1);
    const int now = done;
    EXPECT_LE(now - before, 1);
    before = now;
  }
  for (std::thread& asker : askers) asker.join();
}

TEST(TickQueue, ClosedQueueTakesNothing) {
  TickQueue queue;
  queue.close();
  std::atomic<bool> is_over{false};
  std::thread tick([&] {
    while (!is_over) queue.drain(4);
  });
  EXPECT_FALSE(queue.run([] { return text_reply(200, ""); }, kLong));
  is_over = true;
  tick.join();
}

}  // namespace
}  // namespace shoal
