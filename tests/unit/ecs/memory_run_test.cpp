// Raw memory that grows: what was written stays, wherever the memory comes from.
#include "shared/ecs/memory_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

constexpr std::size_t kBorder = MemoryRun::kLargeBytes;

void fill(const MemoryRun& run, std::size_t from, std::size_t to) {
  for (std::size_t at = from; at < to; ++at) run.data()[at] = static_cast<std::byte>(at * 31 % 251);
}
void expect_filled(const MemoryRun& run, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; ++at) {
    ASSERT_EQ(run.data()[at], static_cast<std::byte>(at * 31 % 251))
        << "byte " << at << " of " << run.bytes();
  }
}

TEST(MemoryRun, KeepsItsContentOverEachGrowthAndEachShrinking) {
  const std::size_t sizes[] = {
      1,           100,         kBorder - 1, kBorder,      kBorder + 1, 3 * kBorder, 50 * kBorder,
      5 * kBorder, kBorder + 1, kBorder,     kBorder - 64, 200,         kBorder * 2, 64,
      0,           10};
  MemoryRun run;
  std::size_t used = 0;
  for (const std::size_t bytes : sizes) {
    const std::size_t kept = std::min(used, bytes);
    run.resize(bytes, kept);
    ASSERT_GE(run.bytes(), bytes);
    ASSERT_LT(run.bytes(), bytes + 4096) << "not much more than was asked for";
    expect_filled(run, kept);
    fill(run, 0, bytes);
    used = bytes;
  }
}

TEST(MemoryRun, StartsAligned) {
  for (const std::size_t alignment : {1u, 8u, 64u, 128u, 512u, 4096u}) {
    MemoryRun run(alignment);
    for (const std::size_t bytes :
         {std::size_t{10}, std::size_t{1000}, kBorder, 4 * kBorder, std::size_t{500}}) {
      run.resize(bytes, 0);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(run.data()) % std::max<std::size_t>(alignment, 64), 0u)
          << alignment << ", " << bytes;
    }
  }
}

TEST(MemoryRun, NothingTakesNoMemory) {
  MemoryRun run;
  EXPECT_EQ(run.bytes(), 0u);
  EXPECT_EQ(run.data(), nullptr);
  for (const std::size_t bytes : {std::size_t{100}, 2 * kBorder}) {
    run.resize(bytes, 0);
    run.resize(0, 0);
    EXPECT_EQ(run.bytes(), 0u);
  }
}

TEST(MemoryRun, MovesWithItsMemory) {
  for (const std::size_t bytes : {std::size_t{640}, 2 * kBorder}) {
    MemoryRun first;
    first.resize(bytes, 0);
    fill(first, 0, bytes);
    const std::byte* data = first.data();
    MemoryRun second(std::move(first));
    EXPECT_EQ(second.data(), data);
    MemoryRun third(128);
    third.resize(64, 0);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    expect_filled(third, bytes);
    third.resize(bytes + 5000, bytes);
    expect_filled(third, bytes);
    std::vector<MemoryRun> many;
    many.push_back(std::move(third));
    for (int i = 0; i < 10; ++i) many.emplace_back();
    expect_filled(many.front(), bytes);
  }
}

TEST(MemoryRun, GrowsByHalfWhileSmallAndByLittleOnPagesOfItsOwn) {
  EXPECT_EQ(MemoryRun::grown(0, 1), 64u);
  EXPECT_EQ(MemoryRun::grown(640, 641), 960u);
  EXPECT_EQ(MemoryRun::grown(640, 5000), 5000u);
  const std::size_t large = MemoryRun::grown(16 * kBorder, 16 * kBorder + 1);
  EXPECT_TRUE(large <= 18 * kBorder || large == 24 * kBorder)
      << large << ": sanitizers see blocks of the heap only";
}

// Pages are kept by the process and handed from run to run: no two have the same ones.
TEST(MemoryRun, ManyRunsOfManySizesKeepEachItsOwnContent) {
  Random random(4);
  struct Filled {
    MemoryRun run{MemoryRun::kLeastAlignment};
    std::size_t bytes = 0;
    std::uint64_t seed = 0;
  };
  const auto byte_at = [](std::uint64_t seed, std::size_t at) {
    return static_cast<std::byte>(mix64(seed + at));
  };
  const auto check = [&](const Filled& filled, std::size_t bytes) {
    for (std::size_t at = 0; at < bytes; at += 509)
      ASSERT_EQ(filled.run.data()[at], byte_at(filled.seed, at));
  };
  std::vector<Filled> runs(12);
  for (int step = 0; step < 3000; ++step) {
    Filled& filled = runs[random.below(12)];
    check(filled, filled.bytes);
    const std::uint32_t choice = random.below(10);
    if (choice == 0) {
      filled = Filled{};
    } else if (choice == 1) {
      filled = std::exchange(runs[random.below(12)], Filled{});
      check(filled, filled.bytes);
    } else {
      const std::size_t bytes = random.below(2) == 0 ? random.below(1000) : random.below(12 * kBorder);
      const std::size_t kept = std::min(filled.bytes, bytes);
      filled.run.resize(bytes, kept);
      check(filled, kept);
      filled.bytes = bytes;
      filled.seed = random.next();
      for (std::size_t at = 0; at < bytes; at += 509) filled.run.data()[at] = byte_at(filled.seed, at);
    }
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "step " << step;
  }
}

TEST(PlainList, ElementOfTheListItselfIsAppendedWhileItGrows) {
  // The first one too: the heap writes over the start of what it gets back.
  for (const bool last : {false, true}) {
    PlainList<std::uint64_t> list;
    list.push_back(77);
    while (list.size() < 50'000)
      list.push_back(list[last ? list.size() - 1 : 0]);  // over the border of pages
    for (const std::uint64_t value : list) ASSERT_EQ(value, 77u) << (last ? "the last" : "the first");
  }
}

TEST(PlainList, NewPlacesHoldTheValueAlsoWhenItLiesInTheList) {
  PlainList<std::uint32_t> list;
  list.push_back(5);
  list.resize(list.capacity() + 100, list[0]);
  for (const std::uint32_t value : list) ASSERT_EQ(value, 5u);
  list.resize(3);
  list.resize(10);
  EXPECT_EQ(list[2], 5u);
  EXPECT_EQ(list[3], 0u) << "what stood there before is gone";
}

TEST(PlainList, GivesBackWhatItDoesNotUse) {
  PlainList<std::uint32_t> list;
  for (std::uint32_t i = 0; i < 100'000; ++i) list.push_back(i);
  list.resize(100);
  list.shrink_to_fit();
  EXPECT_EQ(list.memory_bytes(), 448u) << "whole cache lines";
  for (std::uint32_t i = 0; i < 100; ++i) ASSERT_EQ(list[i], i);
  list.clear();
  list.shrink_to_fit();
  EXPECT_EQ(list.memory_bytes(), 0u);
  list.push_back(1);
  EXPECT_EQ(list.back(), 1u);
}

TEST(PlainList, ElementsThatDoNotFillACacheLineEvenly) {
  struct Odd {
    std::uint8_t bytes[12];
  };
  PlainList<Odd> list;
  for (int i = 0; i < 10'000; ++i) {
    list.push_back({});
    list.back().bytes[11] = static_cast<std::uint8_t>(i);
    ASSERT_LE(list.size(), list.capacity());
    ASSERT_LE(list.capacity() * sizeof(Odd), list.memory_bytes());
  }
  for (int i = 0; i < 10'000; ++i)
    ASSERT_EQ(list[static_cast<std::size_t>(i)].bytes[11], static_cast<std::uint8_t>(i));
}

// Runs of several sizes give their pages back and take each other's, larger ones than they asked for, too.
TEST(MemoryRun, PagesThatAnotherRunGaveBackHoldAWholeRun) {
  Random random(5);
  std::vector<MemoryRun> runs(12);
  std::vector<std::size_t> used(runs.size());
  for (int step = 0; step < 3000; ++step) {
    const std::size_t i = random.below(static_cast<std::uint32_t>(runs.size()));
    if (random.below(6) == 0) {
      runs[i] = MemoryRun();
      used[i] = 0;
      continue;
    }
    const std::size_t bytes = 1 + random.below(static_cast<std::uint32_t>(12 * kBorder));
    const std::size_t kept = std::min(used[i], bytes);
    runs[i].resize(bytes, kept);
    ASSERT_GE(runs[i].bytes(), bytes);
    ASSERT_LT(runs[i].bytes(), bytes + 4096) << "however much the pages that it was given hold";
    expect_filled(runs[i], kept);
    fill(runs[i], kept, bytes);
    used[i] = bytes;
  }
}

TEST(MemoryRun, RunsOfSeveralThreadsTakeAndGiveBackPages) {
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([number] {
      for (std::size_t round = 0; round < 300; ++round) {
        MemoryRun run;
        run.resize(kBorder * (1 + (round + number) % 5), 0);
        fill(run, 0, kBorder);
        run.resize(kBorder * 7, kBorder);
        expect_filled(run, kBorder);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(PlainList, AppendGivesSoManyPlacesBehindWhatWasThere) {
  PlainList<std::uint32_t> list;
  EXPECT_EQ(list.append(0), list.data());
  list.push_back(1);
  std::uint32_t* added = list.append(20'000);
  for (std::uint32_t i = 0; i < 20'000; ++i) added[i] = i;
  EXPECT_EQ(list.size(), 20'001u);
  EXPECT_EQ(list[0], 1u);
  EXPECT_EQ(list[20'000], 19'999u);
}

// What was moved from would have a size and no memory.
static_assert(!std::is_move_constructible_v<PlainList<int>> && !std::is_move_assignable_v<PlainList<int>>);

}  // namespace
}  // namespace shoal
