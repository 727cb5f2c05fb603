#include "shared/game/population.hpp"

#include <gtest/gtest.h>

#include "shared/game/ai.hpp"
#include "tests/unit/game/game_world.hpp"

namespace shoal::demo {
namespace {

class PopulationTest : public testing::Test {
 protected:
  Entity pickup(PickupKind kind, std::uint16_t amount) {
    const Entity entity = *spawn_pickup(world.registry, Random(1), world.tick);
    world.registry.replace<Pickup>(entity, kind, amount);
    world.registry.replace<Position>(entity, 0.0f, 0.0f, 0.0f);
    return entity;
  }
  void take() {
    ++world.tick;
    world.run_system(index_bodies);
    world.run_system(take_pickups);
  }

  GameWorld world{{.entities = 0}};
};

TEST_F(PopulationTest, NearestBodyTakesThePickup) {
  const Entity near = world.creature({0.5f, 0}, 0);
  const Entity far = world.creature({-1, 0}, 0);
  for (const Entity entity : {near, far}) {
    world.registry.patch<Health>(entity, [](Health& health) { health.current = 50; });
  }
  const Entity heal = pickup(PickupKind::Heal, 40);
  take();
  EXPECT_FALSE(world.registry.alive(heal));
  EXPECT_EQ(world.registry.get<const Health>(near).current, 90);
  EXPECT_EQ(world.registry.get<const Health>(far).current, 50);
}

TEST_F(PopulationTest, PickupOutOfReachStays) {
  world.creature({2, 0}, 0);
  const Entity heal = pickup(PickupKind::Heal, 40);
  take();
  EXPECT_TRUE(world.registry.alive(heal));
}

TEST_F(PopulationTest, HealingStopsAtTheMaximum) {
  const Entity entity = world.creature({0, 0}, 0);
  pickup(PickupKind::Heal, 1000);
  take();
  EXPECT_EQ(world.registry.get<const Health>(entity).current, kCreatureHealth);
}

TEST_F(PopulationTest, WhoDiedInThisTickTakesNothing) {
  const Entity dead = world.creature({0, 0}, 0);
  world.registry.patch<Health>(dead, [](Health& health) { health.current = 0; });
  const Entity heal = pickup(PickupKind::Heal, 40);
  take();
  EXPECT_TRUE(world.registry.alive(heal));
  EXPECT_EQ(world.registry.get<const Health>(dead).current, 0);
}

TEST_F(PopulationTest, EachKindHasItsEffect) {
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  world.registry.replace<Position>(player, 0.0f, 0.0f, 0.0f);
  world.registry.remove<Invulnerable>(player);
  world.registry.remove<InvulnerableTimer>(player);
  pickup(PickupKind::Points, 5);
  pickup(PickupKind::Haste, 0);
  pickup(PickupKind::Shield, 0);
  take();
  EXPECT_EQ(world.registry.get<const Player>(player).score, 5);
  EXPECT_TRUE(world.registry.all_of<HasteTimer>(player));
  EXPECT_TRUE(world.registry.all_of<Invulnerable>(player));
  EXPECT_EQ(world.registry.storage<Pickup>().size(), 0u);
}

TEST_F(PopulationTest, LivesEndAtTheirTick) {
  const Entity entity = world.creature({0, 0}, 0);
  world.registry.emplace<Lifetime>(entity, Tick{100});
  world.tick = Tick{99};
  world.run_each(end_old_lives);
  EXPECT_TRUE(world.registry.alive(entity));
  world.tick = Tick{100};
  world.run_each(end_old_lives);
  EXPECT_FALSE(world.registry.alive(entity));
}

TEST_F(PopulationTest, MassacreIsMadeGoodWithinTwoSeconds) {
  GameWorld crowd({.entities = 2000});
  std::vector<Entity> creatures;
  for (const auto [entity, ai] : crowd.registry.view<const AI>()) creatures.push_back(entity);
  crowd.registry.destroy(creatures);
  EXPECT_EQ(crowd.registry.storage<AI>().size(), 0u);
  crowd.run(60);
  EXPECT_GE(crowd.registry.storage<AI>().size(), creatures.size() * 95 / 100);
}

}  // namespace
}  // namespace shoal::demo
