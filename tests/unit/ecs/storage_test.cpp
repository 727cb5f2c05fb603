#include "shared/ecs/storage.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

TEST(Storage, ValuesAreOneRunInTheOrderOfTheIndices) {
  World world;
  for (int i = 0; i < 500; ++i) world.emplace<Position>(world.create(), static_cast<float>(i), 0.0f);
  world.destroy(world.entity_at(3));
  const auto& pool = std::as_const(world).storage<Position>();
  ASSERT_EQ(pool.values().size(), 499u);
  ASSERT_EQ(pool.indices().size(), 499u);
  for (std::size_t at = 0; at < pool.size(); ++at) {
    EXPECT_EQ(pool.values()[at].x, static_cast<float>(pool.indices()[at]));
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.values().data()) % 64, 0u) << "runs start on a cache line";
}

// A loop that runs holds pointers to both.
TEST(Storage, WhateverMovesValuesOrIndicesRaisesTheStructureVersion) {
  World world;
  std::vector<Entity> entities(100);
  world.create(entities);
  world.insert<Position>(entities);
  world.insert<Burning>(entities);
  std::uint32_t before = world.entity_table().structure_version();
  const auto expect_raised = [&](const char* by) {
    EXPECT_NE(world.entity_table().structure_version(), before) << by;
    before = world.entity_table().structure_version();
  };
  world.storage<Position>().reserve(1000);
  expect_raised("room for values");
  world.storage<Burning>().reserve(1000);
  expect_raised("room for indices alone");
  world.storage<Position>().shrink_to_fit();
  expect_raised("shrinking");
  world.storage<Burning>().shrink_to_fit();
  expect_raised("shrinking of indices alone");
  world.sort<Burning>([](Entity a, Entity b) { return b < a; });
  expect_raised("sort");
  world.emplace<Burning>(world.create());
  expect_raised("addition");
  world.remove<Burning>(entities[3]);
  expect_raised("removal");
}

TEST(Storage, TagsTakeNoRoomForValues) {
  World world;
  world.emplace<Burning>(world.create());
  const auto& pool = world.storage<Burning>();
  EXPECT_EQ(pool.value_bytes(), 0u);
  EXPECT_EQ(pool.value_at(0), nullptr);
  EXPECT_EQ(pool.find(0), nullptr);
  EXPECT_TRUE(pool.contains_index(0));
}

TEST(Storage, EmplaceMayReferIntoThePoolThatGrows) {
  World world;
  Entity first = world.create();
  world.emplace<Name>(first, std::string(100, 'x'));
  for (int i = 0; i < 1000; ++i) world.emplace<Name>(world.create(), world.get<Name>(first));
  for (const Name& name : world.storage<Name>().values()) EXPECT_EQ(name.text, std::string(100, 'x'));
}

TEST(Storage, OwningValuesAreMovedAndDestroyedOnce) {
  struct Owner {
    std::shared_ptr<int> value;
  };
  const auto shared = std::make_shared<int>(1);
  {
    Registry registry;
    registry.register_component<Owner>("test.Owner");
    registry.freeze();
    for (int i = 0; i < 100; ++i) registry.emplace<Owner>(registry.create(), shared);
    EXPECT_EQ(shared.use_count(), 101);
    for (std::uint32_t index = 0; index < 100; index += 3) registry.destroy(registry.entity_at(index));
    EXPECT_EQ(shared.use_count(), 67);
    registry.remove<Owner>(registry.entity_at(1));
    EXPECT_EQ(shared.use_count(), 66);
    registry.replace<Owner>(registry.entity_at(2), nullptr);
    EXPECT_EQ(shared.use_count(), 65);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(Storage, ConstructorThatThrowsLeavesNothingBehind) {
  struct Thrower {
    explicit Thrower(bool throws) {
      if (throws) throw std::runtime_error("refused");
    }
  };
  struct Padded : Thrower {
    using Thrower::Thrower;
    int value = 0;
  };
  Registry registry;
  registry.register_component<Padded>("test.Padded");
  registry.freeze();
  registry.log().set_enabled(true);
  const Entity entity = registry.create();
  EXPECT_THROW(registry.emplace<Padded>(entity, true), std::runtime_error);
  EXPECT_FALSE(registry.all_of<Padded>(entity));
  EXPECT_EQ(registry.log().entries().size(), 1u) << "only the birth";
  registry.emplace<Padded>(entity, false);
  EXPECT_TRUE(registry.all_of<Padded>(entity));
}

TEST(Storage, OverAlignedValuesLieAligned) {
  struct alignas(128) Wide {
    float lanes[4] = {};
  };
  Registry registry;
  registry.register_component<Wide>("test.Wide");
  registry.freeze();
  for (int i = 0; i < 50; ++i) registry.emplace<Wide>(registry.create());
  for (const Wide& wide : registry.storage<Wide>().values()) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&wide) % 128, 0u);
  }
}

TEST(Storage, SilentChangesFireNoSignalUntilPublished) {
  int constructed = 0;
  int updated = 0;
  World world;
  world.on_construct<Position>().connect([&](Registry& registry, Entity entity) {
    EXPECT_EQ(registry.get<Position>(entity).x, 1.0f);
    ++constructed;
  });
  world.on_update<Position>().connect([&](Registry&, Entity) { ++updated; });
  StorageBase& pool = world.storage(world.component_type<Position>());
  const Entity entity = world.create();
  const Position first{1, 2};
  pool.emplace_silently(entity, &first);
  EXPECT_EQ(constructed, 0);
  EXPECT_EQ(world.get<const Position>(entity), first);
  EXPECT_TRUE(world.has(entity, pool.type())) << "the mask follows";
  EXPECT_EQ(world.log().entries().back(), (LogEntry{entity, pool.type(), LogKind::Added}));
  pool.publish_construct(entity);
  EXPECT_EQ(constructed, 1);

  const Position second{3, 4};
  pool.replace_silently(entity, &second);
  EXPECT_EQ(updated, 0);
  EXPECT_EQ(world.get<const Position>(entity), second);
  pool.publish_update(entity);
  EXPECT_EQ(updated, 1);

  world.storage(world.component_type<Burning>()).emplace_silently(entity, nullptr);
  EXPECT_TRUE(world.all_of<Burning>(entity));
}

TEST(Storage, PublishingForAComponentThatIsGoneCallsNobody) {
  int heard = 0;
  World world;
  world.on_construct<Position>().connect([&](Registry&, Entity) { ++heard; });
  world.on_update<Position>().connect([&](Registry&, Entity) { ++heard; });
  const Entity entity = world.create();
  world.storage<Position>().publish_construct(entity);
  world.storage<Position>().publish_update(kNullEntity);
  EXPECT_EQ(heard, 0);
}

TEST(Storage, TypeErasedAccessSeesTheSameValues) {
  World world;
  const Entity entity = world.create();
  world.emplace<Health>(entity, Health{5, 10});
  const StorageBase& pool = std::as_const(world).storage(world.component_type<Health>());
  EXPECT_EQ(pool.name(), "test.Health");
  EXPECT_EQ(pool.value_bytes(), sizeof(Health));
  EXPECT_EQ(static_cast<const Health*>(pool.find(entity.index))->current, 5);
  EXPECT_EQ(pool.find(99), nullptr);
  EXPECT_EQ(pool.entity_at(0), entity);
  EXPECT_FALSE(world.storage<Name>().copyable_as_bytes());
}

TEST(Storage, PoolHandleFindsOnlyLivingEntities) {
  World world;
  auto& pool = world.storage<Position>();
  const Entity entity = world.create();
  EXPECT_EQ(pool.try_get(entity), nullptr);
  world.emplace<Position>(entity, 1.0f, 2.0f);
  EXPECT_EQ(pool.get(entity).y, 2.0f);
  world.destroy(entity);
  EXPECT_EQ(world.create().index, entity.index);
  EXPECT_EQ(pool.try_get(entity), nullptr);
  EXPECT_EQ(std::as_const(pool).try_get(kNullEntity), nullptr);
}

}  // namespace
}  // namespace shoal::test
