#include "shared/ecs/entity_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

TEST(Entity, DefaultIsNullAndComparesWithIt) {
  EXPECT_TRUE(Entity{}.is_null());
  EXPECT_EQ(Entity{}, kNullEntity);
  EXPECT_NE((Entity{0, 1}), kNullEntity);
  EXPECT_EQ(Entity::from_bits((Entity{7, 3}.bits())), (Entity{7, 3}));
  EXPECT_FALSE((Entity{0xFFFFFFFF, 1}.is_null()));
}

TEST(EntityTable, FirstGenerationIsOne) {
  EntityTable table(10);
  EXPECT_EQ(table.try_create(), (Entity{0, 1}));
  EXPECT_EQ(table.try_create(), (Entity{1, 1}));
  EXPECT_EQ(table.alive_count(), 2u);
}

TEST(EntityTable, FreedIndicesComeBackFirstInFirstOut) {
  EntityTable table(10);
  for (int i = 0; i < 4; ++i) table.try_create();
  table.release({2, 1});
  table.release({0, 1});
  table.release({3, 1});
  EXPECT_EQ(table.try_create(), (Entity{2, 2}));
  EXPECT_EQ(table.try_create(), (Entity{0, 2}));
  EXPECT_EQ(table.try_create(), (Entity{3, 2}));
  EXPECT_EQ(table.try_create(), (Entity{4, 1}));
}

// R1
TEST(EntityTable, HandleKeptByMistakeStaysDeadOverManyReuses) {
  EntityTable table(1);
  const Entity kept = *table.try_create();
  table.release(kept);
  for (int life = 0; life < 100'000; ++life) {
    const Entity reborn = *table.try_create();
    ASSERT_FALSE(table.alive(kept)) << "after " << life << " reuses";
    table.release(reborn);
  }
}

// R1
TEST(EntityTable, IndexWithExhaustedGenerationIsRetiredNotWrapped) {
  EntityTable table(2);
  ASSERT_TRUE(table.create_exact({0, Entity::kMaxGeneration - 1}));
  table.release({0, Entity::kMaxGeneration - 1});
  const Entity last_life = *table.try_create();
  EXPECT_EQ(last_life, (Entity{0, Entity::kMaxGeneration}));
  table.release(last_life);
  EXPECT_EQ(table.retired_count(), 1u);
  EXPECT_EQ(table.try_create(), (Entity{1, 1}));
  EXPECT_EQ(table.try_create(), std::nullopt) << "the retired index must not come back";
  EXPECT_TRUE(table.create_exact(last_life)) << "a mirror may say so";
  EXPECT_EQ(table.retired_count(), 0u);
}

// R2
TEST(EntityTable, CreateBeyondTheLimitChangesNothing) {
  EntityTable table(3);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(table.try_create());
  EXPECT_EQ(table.try_create(), std::nullopt);
  EXPECT_EQ(table.alive_count(), 3u);
  EXPECT_EQ(table.index_end(), 3u);
  table.release({1, 1});
  EXPECT_EQ(table.try_create(), (Entity{1, 2}));
}

TEST(EntityTable, ForgedHandlesAreNotAlive) {
  EntityTable table(10);
  table.try_create();
  table.release({0, 1});
  // Index 0 is free and waits with generation 2, stored with the highest bit set.
  for (const Entity forged : {Entity{0, 0}, Entity{0, 2}, Entity{0, 0x80000002}, Entity{0, 0x80000000},
                              Entity{9, 1}, Entity{0xFFFFFFFF, 1}, kNullEntity}) {
    EXPECT_FALSE(table.alive(forged)) << forged.index << ":" << forged.generation;
  }
  EXPECT_EQ(table.at(0), kNullEntity);
  EXPECT_EQ(table.at(0xFFFFFFFF), kNullEntity);
}

TEST(EntityTable, CreateExactRefusesWhatCannotBe) {
  EntityTable table(10);
  ASSERT_TRUE(table.create_exact({4, 7}));
  EXPECT_FALSE(table.create_exact({4, 7})) << "alive";
  EXPECT_FALSE(table.create_exact({4, 8})) << "its index is alive";
  EXPECT_FALSE(table.create_exact({10, 1})) << "index at the limit";
  EXPECT_FALSE(table.create_exact({0xFFFFFFFF, 1}));
  EXPECT_FALSE(table.create_exact({5, 0}));
  EXPECT_FALSE(table.create_exact({5, Entity::kMaxGeneration + 1}));
  EXPECT_EQ(table.alive_count(), 1u);
}

TEST(EntityTable, CreateExactTakesAnIndexOutOfTheMiddleOfTheQueue) {
  EntityTable table(10);
  ASSERT_TRUE(table.create_exact({3, 5}));  // 0, 1, 2 wait
  ASSERT_TRUE(table.create_exact({1, 9}));
  EXPECT_EQ(table.try_create(), (Entity{0, 1}));
  EXPECT_EQ(table.try_create(), (Entity{2, 1}));
  EXPECT_EQ(table.try_create(), (Entity{4, 1}));
  table.release({1, 9});
  EXPECT_EQ(table.try_create(), (Entity{1, 10}));
}

TEST(EntityTable, CreateExactMayGoBackToAnEarlierGeneration) {
  // A mirror sees an entity leave its interest and come back: the same life, the same handle.
  EntityTable table(10);
  ASSERT_TRUE(table.create_exact({3, 5}));
  table.release({3, 5});
  EXPECT_FALSE(table.alive({3, 5}));
  EXPECT_TRUE(table.create_exact({3, 5}));
  EXPECT_TRUE(table.alive({3, 5}));
}

}  // namespace
}  // namespace shoal
