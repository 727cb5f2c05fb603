#include "shared/ecs/sparse_set.hpp"

#include <gtest/gtest.h>

#include <map>
#include <new>
#include <vector>

#include "shared/base/random.hpp"
#include "tests/support/allocation_counter.hpp"

namespace shoal {
namespace {

TEST(SparseSet, AnswersForAnyIndex) {
  const SparseSet set;
  for (const std::uint32_t index : {0u, 255u, 256u, 0x7FFFFFFFu, 0xFFFFFFFFu}) {
    EXPECT_FALSE(set.contains(index)) << index;
  }
}

TEST(SparseSet, EraseMovesTheLastIntoTheHole) {
  SparseSet set;
  for (const std::uint32_t index : {10u, 20u, 30u, 40u}) set.insert(index);
  EXPECT_EQ(set.erase(set.packed()[1]), 1u);
  EXPECT_EQ(std::vector(set.packed().begin(), set.packed().end()), (std::vector<std::uint32_t>{10, 40, 30}));
  EXPECT_EQ(set.position(40), 1u);
  EXPECT_EQ(set.position(20), SparseSet::kAbsent);
  EXPECT_EQ(set.erase(set.packed()[2]), 2u);
  EXPECT_FALSE(set.contains(30));
}

TEST(SparseSet, OneMemberCostsOnePage) {
  SparseSet set;
  set.insert(1'000'000);
  const std::size_t page_table = (1'000'000 / SparseSet::kPageEntries + 1) * sizeof(void*);
  EXPECT_LE(set.memory_bytes(), page_table + SparseSet::kPageEntries * sizeof(std::uint32_t) + 64);
}

TEST(SparseSet, AgreesWithAMapOverRandomOperations) {
  SparseSet set;
  std::map<std::uint32_t, bool> model;
  Random random(1);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t index = random.below(2'000);
    if (set.contains(index)) {
      set.erase(index);
      model.erase(index);
    } else {
      set.insert(index);
      model[index] = true;
    }
    ASSERT_EQ(set.size(), model.size());
  }
  for (std::uint32_t index = 0; index < 2'000; ++index) EXPECT_EQ(set.contains(index), model.contains(index));
  for (std::size_t at = 0; at < set.size(); ++at) EXPECT_EQ(set.position(set.packed()[at]), at);
  set.clear();
  for (std::uint32_t index = 0; index < 2'000; ++index) EXPECT_FALSE(set.contains(index));
}

TEST(SparseSet, ShrinkingThatFindsNoMemoryKeepsEveryMember) {
  std::size_t failures = 0;
  for (bool shrunk = false; !shrunk; ++failures) {
    SparseSet set;
    for (std::uint32_t index = 0; index < 5000; ++index) set.insert(index);
    for (std::uint32_t index = 0; index < 5000; ++index) {
      if (index % 2000 >= 100) set.erase(index);
    }
    try {
      const test::ScopedAllocationFailure failure(failures);
      set.shrink_to_fit();
      shrunk = true;
    } catch (const std::bad_alloc&) {
    }
    for (std::uint32_t index = 0; index < 5000; ++index)
      ASSERT_EQ(set.contains(index), index % 2000 < 100) << index << ", " << failures;
    for (std::uint32_t at = 0; at < set.size(); ++at) ASSERT_EQ(set.position(set.packed()[at]), at);
    // What is left can be worked with.
    for (std::uint32_t index = 0; index < 5000; ++index) {
      if (!set.contains(index)) set.insert(index);
    }
    ASSERT_EQ(set.size(), 5000u);
  }
  EXPECT_GE(failures, 4u) << "each of several allocations failed once";
}

}  // namespace
}  // namespace shoal
