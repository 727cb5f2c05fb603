// Many entities at once, and indices that are kept for those who say which one they want.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "shared/base/random.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;

template <int kNumber>
struct Numbered {
  int value = 0;
};

std::vector<Entity> created(World& world, std::size_t count) {
  std::vector<Entity> entities(count);
  world.create(entities);
  return entities;
}

TEST(EntityRange, IsWhatCreateOneAfterTheOtherGives) {
  World at_once;
  World one_by_one;
  Random random(2);
  for (int round = 0; round < 50; ++round) {
    const std::size_t count = random.below(40);
    std::vector<Entity> expected;
    for (std::size_t i = 0; i < count; ++i) expected.push_back(one_by_one.create());
    ASSERT_EQ(created(at_once, count), expected);
    for (const Entity entity : expected) {
      EXPECT_TRUE(at_once.alive(entity));
      EXPECT_THAT(at_once.component_mask(entity), testing::Each(0u));
      if (random.below(3) != 0) continue;
      at_once.emplace<Position>(entity);
      at_once.destroy(entity);
      one_by_one.emplace<Position>(entity);
      one_by_one.destroy(entity);
    }
    ASSERT_EQ(at_once.alive_count(), one_by_one.alive_count());
    ASSERT_EQ(at_once.entity_table().room(), one_by_one.entity_table().room());
  }
  EXPECT_TRUE(std::ranges::equal(at_once.log().entries(), one_by_one.log().entries()))
      << "the births, in order";
}

TEST(EntityRange, OfNobodyIsNothing) {
  World world({.max_entities = 1});
  world.create({});
  EXPECT_EQ(world.alive_count(), 0u);
  world.create();
  world.create({});
}

// R2
TEST(EntityRange, FillsTheWorldToItsLimit) {
  World world({.max_entities = 10});
  world.destroy(created(world, 4)[1]);
  EXPECT_EQ(world.entity_table().room(), 7u);
  EXPECT_THAT(created(world, 7), ElementsAre(Entity{1, 2}, Entity{4, 1}, Entity{5, 1}, Entity{6, 1},
                                             Entity{7, 1}, Entity{8, 1}, Entity{9, 1}));
  EXPECT_EQ(world.entity_table().room(), 0u);
  EXPECT_EQ(world.try_create(), std::nullopt);
}

// R2
TEST(EntityRangeDeathTest, MoreThanThereIsRoomForIsRefused) {
  World world({.max_entities = 10});
  created(world, 8);
  EXPECT_DEATH(created(world, 3), "the limit of 10 entities is reached .8 alive, 0 indices retired.; raise");
  Registry unfrozen;
  std::vector<Entity> entities(1);
  EXPECT_DEATH(unfrozen.create(entities), "before freeze");
  EXPECT_DEATH(World({.max_entities = 10, .reserved_indices = 10}), "fewer than max_entities");
}

TEST(ReservedIndices, AreNeverGivenByCreate) {
  World world({.max_entities = 20, .reserved_indices = 5});
  EXPECT_EQ(world.create(), (Entity{5, 1}));
  EXPECT_EQ(created(world, 2), (std::vector<Entity>{{6, 1}, {7, 1}}));
  EXPECT_EQ(world.entity_table().room(), 12u);
  EXPECT_EQ(world.alive_count(), 3u);
  EXPECT_FALSE(world.alive({0, 1}));
  EXPECT_EQ(world.entity_at(0), kNullEntity);
  while (const auto entity = world.try_create()) EXPECT_GE(entity->index, 5u);
  EXPECT_EQ(world.alive_count(), 15u);
}

TEST(ReservedIndices, AreTakenByNameAndNotQueuedWhenTheyAreReleased) {
  World world({.max_entities = 20, .reserved_indices = 5});
  for (std::uint32_t life = 1; life < 4; ++life) {
    ASSERT_TRUE(world.create_exact({3, life}));
    EXPECT_FALSE(world.create_exact({3, life})) << "it is alive";
    world.emplace<Position>({3, life}, 1.0f, 2.0f);
    EXPECT_EQ(world.entity_at(3), (Entity{3, life}));
    world.destroy(Entity{3, life});
    EXPECT_FALSE(world.alive({3, life}));
    EXPECT_EQ(world.entity_table().room(), 15u) << "it waits for nobody but create_exact";
  }
  EXPECT_EQ(world.create(), (Entity{5, 1}));
  world.destroy(Entity{5, 1});
  EXPECT_EQ(created(world, 2), (std::vector<Entity>{{5, 2}, {6, 1}}));
}

TEST(ReservedIndices, AreThereAlsoBeyond64Types) {
  Registry registry({.max_entities = 20, .reserved_indices = 5});
  [&]<int... kNumbers>(std::integer_sequence<int, kNumbers...>) {
    (registry.register_component<Numbered<kNumbers>>("test.Numbered" + std::to_string(kNumbers)), ...);
  }(std::make_integer_sequence<int, 70>{});
  registry.freeze();
  ASSERT_TRUE(registry.create_exact({4, 9}));
  EXPECT_THAT(registry.component_mask({4, 9}), ElementsAre(0u, 0u));
  const Entity entity = registry.create();
  EXPECT_EQ(entity, (Entity{5, 1}));
  EXPECT_THAT(registry.component_mask(entity), ElementsAre(0u, 0u));
}

// R1
TEST(ReservedIndices, WhoseGenerationsAreUsedUpAreRetiredAndComeBackByName) {
  World world({.max_entities = 20, .reserved_indices = 5});
  ASSERT_TRUE(world.create_exact({2, Entity::kMaxGeneration}));
  world.destroy(Entity{2, Entity::kMaxGeneration});
  EXPECT_EQ(world.entity_table().retired_count(), 1u);
  EXPECT_EQ(world.create(), (Entity{5, 1}));
  EXPECT_TRUE(world.create_exact({2, 1})) << "whoever names it knows what it does";
  EXPECT_EQ(world.entity_table().retired_count(), 0u);
}

// R10
TEST(EntityRange, LoadedWorldGivesNoHandleThatASavedOneHas) {
  World saved;
  for (const Entity entity : created(saved, 300)) {
    if (entity.index % 3 == 0) saved.destroy(entity);
  }
  for (const Entity entity : created(saved, 50)) {
    if (entity.index % 2 == 0) saved.destroy(entity);
  }
  World loaded;
  std::set<Entity> handles;
  saved.for_each_entity([&](Entity entity) {
    ASSERT_TRUE(loaded.create_exact(entity));
    handles.insert(entity);
  });
  EXPECT_EQ(loaded.alive_count(), saved.alive_count());
  for (const Entity entity : created(loaded, 500)) {
    EXPECT_TRUE(handles.insert(entity).second)
        << entity.index << ":" << entity.generation << " lives already";
  }
}

}  // namespace
}  // namespace shoal::test
