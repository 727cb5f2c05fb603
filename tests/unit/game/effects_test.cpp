#include "shared/game/effects.hpp"

#include <gtest/gtest.h>

#include "tests/unit/game/game_world.hpp"

namespace shoal::demo {
namespace {

class EffectsTest : public testing::Test {
 protected:
  std::uint16_t health(Entity entity) const { return world.registry.get<Health>(entity).current; }
  void set_health(Entity entity, std::uint16_t current) {
    world.registry.patch<Health>(entity, [&](Health& changed) { changed.current = current; });
  }

  GameWorld world{{.entities = 0}};
};

TEST_F(EffectsTest, HealthComesBackOnceASecondUpToTheMaximum) {
  const Entity entity = world.creature({0, 0}, 0);
  set_health(entity, 97);
  world.run(30);
  EXPECT_EQ(health(entity), 99);
  world.run(30);
  EXPECT_EQ(health(entity), 100);
  world.registry.clear_changes();
  world.run_each(regenerate_health);
  EXPECT_FALSE(world.registry.storage<Health>().any_changes()) << "a healthy world costs nothing";
}

TEST_F(EffectsTest, BurningTakesHealthForAWhileAndEnds) {
  const Entity entity = world.creature({0, 0}, 0);
  ignite(world.registry, entity, world.tick);
  world.run(world.ticks(kBurnTime) - 1);
  EXPECT_TRUE(world.registry.all_of<Burning>(entity));
  world.run(1);
  EXPECT_FALSE(world.registry.all_of<Burning>(entity));
  EXPECT_EQ(health(entity), 100 - 6 * kBurnDamage);
}

TEST_F(EffectsTest, SecondFireLastsLongerAndIsTheSameTag) {
  const Entity entity = world.creature({0, 0}, 0);
  ignite(world.registry, entity, world.tick);
  world.run(30);
  ignite(world.registry, entity, world.tick);
  world.run(world.ticks(kBurnTime) - 1);
  EXPECT_TRUE(world.registry.all_of<Burning>(entity));
}

TEST_F(EffectsTest, ShieldPutsOutAFireAndEnds) {
  const Entity entity = world.creature({0, 0}, 0);
  ignite(world.registry, entity, world.tick);
  shield(world.registry, entity, world.tick, 1);
  EXPECT_FALSE(world.registry.all_of<Burning>(entity));
  world.run(29);
  EXPECT_TRUE(world.registry.all_of<Invulnerable>(entity));
  world.run(1);
  EXPECT_FALSE(world.registry.all_of<Invulnerable>(entity));
  EXPECT_EQ(health(entity), 100);
}

TEST_F(EffectsTest, HasteMakesAPlayerTwiceAsFast) {
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  hasten(world.registry, player, world.tick);
  apply_input(world.registry, player, {.move_x = 1});
  EXPECT_EQ(world.registry.get<const Velocity>(player).x, kPlayerSpeed * kHasteFactor);
  world.run(world.ticks(kHasteTime));
  apply_input(world.registry, player, {.move_x = 1});
  EXPECT_EQ(world.registry.get<const Velocity>(player).x, kPlayerSpeed);
}

}  // namespace
}  // namespace shoal::demo
