#include "shared/ecs/command_buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;

struct CommandBufferTest : testing::Test {
  std::vector<std::string> heard;
  CommandBuffer commands;
  World world;  // last: its end fires on_destroy
};

TEST_F(CommandBufferTest, ChangesNothingUntilApplied) {
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  commands.emplace<Health>(entity, Health{1, 2});
  commands.remove<Position>(entity);
  const Entity temporary = commands.create();
  commands.emplace<Name>(temporary, "new");
  EXPECT_FALSE(world.alive(temporary));
  EXPECT_TRUE(world.all_of<Position>(entity));
  EXPECT_EQ(world.alive_count(), 1u);

  const auto applied = commands.apply(world);
  EXPECT_EQ(applied.done, 4u);
  EXPECT_EQ(applied.skipped, 0u);
  EXPECT_TRUE(commands.empty());
  EXPECT_FALSE(world.all_of<Position>(entity));
  EXPECT_EQ(world.get<Health>(entity).maximum, 2);
  ASSERT_EQ(commands.created().size(), 1u);
  EXPECT_EQ(world.get<Name>(commands.created()[0]).text, "new");
}

TEST_F(CommandBufferTest, AppliesInTheOrderOfRecording) {
  world.on_construct<Position>().connect([&](Registry&, Entity) { heard.push_back("added"); });
  world.on_update<Position>().connect([&](Registry&, Entity) { heard.push_back("updated"); });
  world.on_destroy<Position>().connect([&](Registry&, Entity) { heard.push_back("removed"); });
  const Entity entity = world.create();
  commands.emplace<Position>(entity, 1.0f, 1.0f);
  commands.replace<Position>(entity, 2.0f, 2.0f);
  commands.emplace<Position>(entity, 3.0f, 3.0f);  // it has one by then
  commands.remove<Position>(entity);
  commands.emplace<Position>(entity, 4.0f, 4.0f);
  commands.apply(world);
  EXPECT_THAT(heard, ElementsAre("added", "updated", "updated", "removed", "added"));
  EXPECT_EQ(world.get<Position>(entity).x, 4.0f);
}

TEST_F(CommandBufferTest, CommandsThatLostTheirObjectAreSkippedAndCounted) {
  const Entity entity = world.create();
  commands.destroy(entity);
  commands.destroy(entity);  // two systems killed it
  commands.emplace<Position>(entity);
  commands.remove<Position>(entity);
  const Entity bare = world.create();
  commands.replace<Position>(bare);
  commands.remove<Position>(bare);
  const auto applied = commands.apply(world);
  EXPECT_EQ(applied.done, 1u);
  EXPECT_EQ(applied.skipped, 5u);
  EXPECT_EQ(world.alive_count(), 1u);
}

TEST_F(CommandBufferTest, CreationBeyondTheLimitSkipsWhatDependsOnIt) {
  World small({.max_entities = 1});
  const Entity first = commands.create();
  const Entity second = commands.create();
  commands.emplace<Position>(second);
  commands.emplace<Position>(first);
  const auto applied = commands.apply(small);
  EXPECT_EQ(applied.done, 2u);
  EXPECT_EQ(applied.skipped, 2u);
  EXPECT_THAT(commands.created(), ElementsAre(Entity{0, 1}, kNullEntity));
}

TEST_F(CommandBufferTest, WhatSignalsRecordMeanwhileIsAppliedToo) {
  world.on_destroy<Position>().connect([&](Registry&, Entity) {
    const Entity wreck = commands.create();
    for (int i = 0; i < 100; ++i) commands.emplace<Health>(wreck);
  });
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  commands.destroy(entity);
  commands.apply(world);
  EXPECT_EQ(world.storage<Health>().size(), 1u);
  EXPECT_TRUE(commands.empty());
}

TEST_F(CommandBufferTest, OwningValuesAreMovedInOrDiscardedOnce) {
  struct Owner {
    std::shared_ptr<int> value;
  };
  Registry registry;
  registry.register_component<Owner>("test.Owner");
  registry.freeze();
  const auto shared = std::make_shared<int>(1);
  const Entity entity = registry.create();
  commands.emplace<Owner>(entity, shared);
  commands.emplace<Owner>({77, 1}, shared);
  EXPECT_EQ(shared.use_count(), 3);
  commands.apply(registry);
  EXPECT_EQ(shared.use_count(), 2);
  commands.replace<Owner>(entity, shared);
  commands.clear();
  EXPECT_EQ(shared.use_count(), 2);
  {
    CommandBuffer dropped;
    dropped.emplace<Owner>(entity, shared);
  }
  EXPECT_EQ(shared.use_count(), 2);
}

TEST_F(CommandBufferTest, HoldsValuesLargerThanABlock) {
  struct alignas(64) Large {
    char bytes[40'000] = {};
  };
  Registry registry;
  registry.register_component<Large>("test.Large");
  registry.freeze();
  for (int i = 0; i < 3; ++i) {
    auto value = std::make_unique<Large>();
    value->bytes[39'999] = static_cast<char>(i);
    commands.emplace<Large>(registry.create(), *value);
  }
  commands.apply(registry);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(registry.get<Large>(registry.entity_at(i)).bytes[39'999], static_cast<char>(i));
  }
}

TEST_F(CommandBufferTest, LetsALoopSpawnAndKillOthers) {
  for (int i = 0; i < 10; ++i) world.emplace<Position>(world.create());
  for (auto [entity, position] : world.view<Position>()) {
    commands.destroy(world.entity_at((entity.index + 1) % 10));
    commands.emplace<Position>(commands.create(), 9.0f, 9.0f);
  }
  commands.apply(world);
  EXPECT_EQ(world.alive_count(), 10u);
  for (const Position& position : std::as_const(world).storage<Position>().values())
    EXPECT_EQ(position.x, 9.0f);
}

}  // namespace
}  // namespace shoal::test
