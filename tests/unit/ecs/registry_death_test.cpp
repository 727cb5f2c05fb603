// Mistakes of the caller end the program with a message that names the operation, the component, the entity
// and the rule.
#include <gtest/gtest.h>

#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/schedule.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

struct Unregistered {
  int value = 0;
};

struct RegistryDeathTest : testing::Test {
  RegistryDeathTest() : dead(world.create()), entity(world.create()) {
    world.emplace<Position>(entity);
    world.destroy(dead);
  }

  World world;
  Entity dead;
  Entity entity;
};

TEST_F(RegistryDeathTest, DeadHandle) {
  EXPECT_DEATH(world.destroy(dead), "destroy of entity 0:1 dead");
  EXPECT_DEATH(world.destroy(kNullEntity), "destroy of the null entity");
  EXPECT_DEATH(world.emplace<Position>(dead),
               "emplace of test.Position on entity 0:1 .dead.: the entity must be alive");
  EXPECT_DEATH(world.emplace_or_replace<Position>(dead), "must be alive");
  EXPECT_DEATH(world.get_or_emplace<Position>(dead), "must be alive");
  EXPECT_DEATH(world.replace<Position>(dead), "must be alive");
  EXPECT_DEATH(world.patch<Position>(dead, [](Position&) {}), "patch of test.Position on entity 0:1 .dead.");
  EXPECT_DEATH(world.remove<Position>(dead), "must be alive");
  EXPECT_DEATH(world.erase<Position>(dead), "must be alive");
  EXPECT_DEATH(world.get<Position>(dead), "get of test.Position on entity 0:1 .dead.");
  EXPECT_DEATH(world.get<Position>(kNullEntity), "null");
  EXPECT_DEATH(world.component_mask(dead), "not alive");
  EXPECT_DEATH(world.storage<Position>().emplace_silently(dead, nullptr), "must be alive");
}

TEST_F(RegistryDeathTest, HandleOfAnEarlierLife) {
  const Entity reborn = world.create();
  ASSERT_EQ(reborn.index, dead.index);
  world.emplace<Position>(reborn);
  EXPECT_DEATH(world.get<Position>(dead), "entity 0:1 .dead.");
}

TEST_F(RegistryDeathTest, ComponentTwice) {
  EXPECT_DEATH(world.emplace<Position>(entity), "emplace of test.Position on entity 1:1 .alive.: .* already");
  const Position position;
  EXPECT_DEATH(world.storage<Position>().emplace_silently(entity, &position), "already");
}

TEST_F(RegistryDeathTest, ComponentThatIsNotThere) {
  EXPECT_DEATH(world.get<Health>(entity),
               "get of test.Health on entity 1:1 .alive.: .*must have the component");
  EXPECT_DEATH(std::as_const(world).get<Health>(entity), "must have the component");
  EXPECT_DEATH(world.storage<Health>().get(entity), "must have the component");
  EXPECT_DEATH(world.replace<Health>(entity), "must have the component");
  EXPECT_DEATH(world.patch<Health>(entity, [](Health&) {}), "must have the component");
  EXPECT_DEATH(world.erase<Health>(entity), "must have the component");
  EXPECT_DEATH(world.storage<Health>().mark_dirty(entity), "must have the component");
  EXPECT_DEATH(world.view<Health>().get(entity), "not in the view");
}

// R8
TEST_F(RegistryDeathTest, TypeThatWasNotRegistered) {
  EXPECT_DEATH(world.emplace<Unregistered>(entity), "not registered.*test.Position");
  EXPECT_DEATH(world.view<Unregistered>(), "not registered");
  EXPECT_DEATH(world.view<Position>(exclude<Unregistered>), "not registered");
  EXPECT_DEATH(world.on_construct<Unregistered>(), "not registered");
  EXPECT_DEATH(world.storage(ComponentType{99}), "no such component type");
}

// R8
TEST_F(RegistryDeathTest, RegistrationAfterFreeze) {
  EXPECT_DEATH(world.register_component<Unregistered>("test.Unregistered"), "\"test.Unregistered\".*frozen");
  EXPECT_DEATH(world.freeze(), "twice");
}

TEST_F(RegistryDeathTest, UseBeforeFreeze) {
  Registry registry;
  registry.register_component<Position>("test.Position");
  EXPECT_DEATH(registry.create(), "before freeze");
  EXPECT_DEATH(registry.create_exact({0, 1}), "before freeze");
  EXPECT_DEATH(registry.view<Position>(), "before freeze");
}

// R9
TEST_F(RegistryDeathTest, TwoTypesWithOneNameOrOneTypeWithTwo) {
  Registry registry;
  registry.register_component<Position>("test.Position");
  EXPECT_DEATH(registry.register_component<Velocity>("test.Position"),
               "another C.. type has this name already");
  EXPECT_DEATH(registry.register_component<Position>("test.Place"),
               "\"test.Place\".*already as \"test.Position\"");
  EXPECT_DEATH(registry.register_component<Velocity>(""), "needs a name");
}

// R9
TEST_F(RegistryDeathTest, TwoNamesWithOneWireId) {
  Registry registry;
  // A known pair of FNV-1a collisions of 32 bits.
  registry.register_component<Position>("costarring");
  EXPECT_DEATH(registry.register_component<Velocity>("liquid"), "\"liquid\".*\"costarring\"");
}

// R2
TEST_F(RegistryDeathTest, LimitPassed) {
  World small({.max_entities = 1});
  small.create();
  EXPECT_DEATH(small.create(), "limit of 1 entities is reached");
  EXPECT_DEATH(World({.max_entities = 0}), "max_entities");
}

// R4
TEST_F(RegistryDeathTest, AddingToADyingEntity) {
  const ScopedConnection connection = world.on_destroy<Position>().connect_scoped(
      [](Registry& registry, Entity e) { registry.emplace<Health>(e); });
  EXPECT_DEATH(world.destroy(entity), "emplace of test.Health on entity 1:1 .*dying");
}
TEST_F(RegistryDeathTest, AddingToADyingEntitySilently) {
  const ScopedConnection connection =
      world.on_destroy<Position>().connect_scoped([](Registry& registry, Entity e) {
        const Health health;
        registry.storage<Health>().emplace_silently(e, &health);
      });
  EXPECT_DEATH(world.destroy(entity), "emplace_silently of test.Health on entity 1:1 .*dying");
}

TEST_F(RegistryDeathTest, SilentAccessToTypesThatAreNotBytes) {
  const Name name;
  EXPECT_DEATH(world.storage<Name>().emplace_silently(entity, &name), "trivially copyable");
}

TEST_F(RegistryDeathTest, ResourceTwiceOrMissing) {
  world.resources().emplace<Unregistered>();
  EXPECT_DEATH(world.resources().emplace<Unregistered>(), "already");
  EXPECT_DEATH(world.resources().get<Position>(), "no resource");
}

TEST_F(RegistryDeathTest, TemporaryHandleOfAnotherCommandBuffer) {
  CommandBuffer one;
  CommandBuffer other;
  other.destroy(one.create());
  EXPECT_DEATH(other.apply(world), "another command buffer");
}

TEST_F(RegistryDeathTest, TwoSystemsWithOneName) {
  Schedule schedule;
  schedule.add("move", [](Registry&, Tick) {});
  EXPECT_DEATH(schedule.add("move", [](Registry&, Tick) {}), "two systems have the name \"move\"");
}

}  // namespace
}  // namespace shoal::test
