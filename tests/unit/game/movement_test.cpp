#include "shared/game/movement.hpp"

#include <gtest/gtest.h>

#include "tests/unit/game/game_world.hpp"

namespace shoal::demo {
namespace {

// R13
TEST(Movement, WritesThroughAPlainReferenceAndIsNoticedByTheTouchedRunAlone) {
  GameWorld world({.entities = 0});
  const Entity entity = world.creature({0, 0}, 0);
  set_velocity(world.registry, entity, {3, 0});
  world.registry.clear_changes();
  int signals = 0;
  world.registry.on_update<Position>().connect([&](Registry&, Entity) { ++signals; });
  world.tick = Tick{1};
  world.run_each(move);
  EXPECT_NEAR(world.place(entity).x, 0.1f, 1e-6f);
  EXPECT_EQ(signals, 0);
  EXPECT_FALSE(world.registry.storage<Position>().is_dirty(entity));
  int noticed = 0;
  world.registry.storage<Position>().for_each_possibly_changed(
      [&](std::uint32_t index, const void*) { noticed += index == entity.index; });
  EXPECT_EQ(noticed, 1);
}

TEST(Movement, WhoRestsHasNoVelocity) {
  GameWorld world({.entities = 0});
  const Entity entity = world.creature({0, 0}, 0);
  set_velocity(world.registry, entity, {1, 2});
  EXPECT_EQ(world.registry.get<Velocity>(entity).y, 2);
  set_velocity(world.registry, entity, {});
  EXPECT_FALSE(world.registry.all_of<Velocity>(entity));
  set_velocity(world.registry, entity, {});
}

TEST(Movement, UnchangedVelocityIsNoChange) {
  GameWorld world({.entities = 0});
  const Entity entity = world.creature({0, 0}, 0);
  set_velocity(world.registry, entity, {1, 2});
  world.registry.clear_changes();
  set_velocity(world.registry, entity, {1, 2});
  EXPECT_FALSE(world.registry.storage<Velocity>().any_changes());
}

TEST(Movement, BodiesStopAtTheBorder) {
  GameWorld world({.entities = 0});
  const Entity entity = world.creature({31.9f, -31.9f}, 0);
  set_velocity(world.registry, entity, {60, -60});
  world.tick = Tick{1};
  world.run_each(move);
  EXPECT_EQ(world.place(entity), (Vector2{32, -32}));
}

TEST(Movement, DropFliesUpFallsAndComesToRest) {
  GameWorld world({.entities = 0});
  const Entity drop = *spawn_drop(world.registry, Random(1), {0, 0}, world.tick);
  float highest = 0;
  for (int i = 0; i < 60; ++i) {
    world.run();
    highest = std::max(highest, world.registry.get<const Position>(drop).z);
  }
  EXPECT_NEAR(highest, 2.7f, 0.3f);
  EXPECT_EQ(world.registry.get<const Position>(drop).z, 0);
  EXPECT_FALSE(world.registry.all_of<Velocity>(drop));
}

}  // namespace
}  // namespace shoal::demo
