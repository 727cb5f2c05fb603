#include "shared/game/player.hpp"

#include <gtest/gtest.h>

#include "tests/unit/game/game_world.hpp"

namespace shoal::demo {
namespace {

TEST(GamePlayer, IsBornWholeShieldedAndInsideTheWorld) {
  GameWorld world({.entities = 100});
  const Entity player = spawn_player(world.registry, PlayerNumber{6}, world.tick);
  EXPECT_TRUE(
      (world.registry.all_of<Position, Heading, Health, Renderable, Team, Player, Invulnerable>(player)));
  EXPECT_FALSE(world.registry.all_of<Local>(player));
  EXPECT_EQ(world.registry.get<const Player>(player).number, 6);
  EXPECT_EQ(world.registry.get<const Team>(player).id, 6 % kTeams);
}

TEST(GamePlayer, DiagonalIsNotFasterThanStraight) {
  GameWorld world({.entities = 0});
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  apply_input(world.registry, player, {.move_x = 1, .move_y = 1});
  const auto& velocity = world.registry.get<const Velocity>(player);
  EXPECT_NEAR(length({velocity.x, velocity.y}), kPlayerSpeed, 1e-3f);
  apply_input(world.registry, player, {.move_x = 0.5f});
  EXPECT_NEAR(world.registry.get<const Velocity>(player).x, kPlayerSpeed / 2, 1e-3f);
}

TEST(GamePlayer, ReleasedControlsBringItToRest) {
  GameWorld world({.entities = 0});
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  apply_input(world.registry, player, {.move_x = 1, .fire = true});
  world.run();
  apply_input(world.registry, player, {});
  EXPECT_FALSE(world.registry.all_of<Velocity>(player));
  EXPECT_FALSE(world.registry.get<const Weapon>(player).trigger);
}

TEST(GamePlayer, LateInputOfAPlayerWhoLeftDoesNothing) {
  GameWorld world({.entities = 0});
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  despawn_player(world.registry, player);
  apply_input(world.registry, player, {.move_x = 1});
  despawn_player(world.registry, player);
  despawn_player(world.registry, kNullEntity);
  EXPECT_EQ(world.registry.alive_count(), 0u);
  const Entity creature = world.creature({0, 0}, 0);
  apply_input(world.registry, creature, {.move_x = 1});
  EXPECT_FALSE(world.registry.all_of<Velocity>(creature)) << "only players are steered";
}

TEST(GamePlayer, FullRegistryGivesNoPlayer) {
  GameWorld world({.entities = 0}, {.max_entities = 1});
  EXPECT_FALSE(spawn_player(world.registry, PlayerNumber{0}, world.tick).is_null());
  EXPECT_TRUE(spawn_player(world.registry, PlayerNumber{1}, world.tick).is_null());
}

TEST(GamePlayer, SteeringNeedsNothingThatOnlyTheServerHas) {
  Registry mirror;
  register_shared_components(mirror);
  mirror.freeze();
  const Entity player = mirror.create();
  mirror.emplace<Position>(player, 0.0f, 0.0f, 0.0f);
  mirror.emplace<Heading>(player, 0.0f);
  mirror.emplace<Player>(player, std::uint16_t{1}, 0);
  steer_player(mirror, player, {.move_y = 1, .aim_degrees = 45}, kPlayerSpeed);
  EXPECT_EQ(mirror.get<const Velocity>(player).y, kPlayerSpeed);
  EXPECT_EQ(mirror.get<const Heading>(player).degrees, 45);
}

}  // namespace
}  // namespace shoal::demo
