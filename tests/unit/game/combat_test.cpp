#include "shared/game/combat.hpp"

#include <gtest/gtest.h>

#include "shared/game/ai.hpp"
#include "shared/game/effects.hpp"
#include "shared/game/movement.hpp"
#include "tests/unit/game/game_world.hpp"

namespace shoal::demo {
namespace {

class CombatTest : public testing::Test {
 protected:
  // Only what concerns projectiles: creatures neither think nor heal.
  void fly(int ticks = 1) {
    for (int i = 0; i < ticks; ++i) {
      ++world.tick;
      world.run_system(index_bodies);
      world.run_each(move);
      world.run_system(hit_bodies);
    }
  }
  std::uint16_t health(Entity entity) const { return world.registry.get<Health>(entity).current; }

  GameWorld world{{.entities = 0}};
};

TEST_F(CombatTest, ProjectileWoundsTheFirstEnemyOnItsWayAndEnds) {
  const Entity enemy = world.creature({5, 0}, 1);
  const Entity behind = world.creature({8, 0}, 1);
  const Entity projectile = world.projectile({0, 0}, {kProjectileSpeed, 0}, 0);
  fly(15);
  EXPECT_EQ(health(enemy), kCreatureHealth - kProjectileDamage);
  EXPECT_EQ(health(behind), kCreatureHealth);
  EXPECT_FALSE(world.registry.alive(projectile));
}

TEST_F(CombatTest, ProjectilePassesItsOwnTeam) {
  const Entity ally = world.creature({5, 0}, 0);
  const Entity projectile = world.projectile({0, 0}, {kProjectileSpeed, 0}, 0);
  fly(15);
  EXPECT_EQ(health(ally), kCreatureHealth);
  EXPECT_TRUE(world.registry.alive(projectile));
}

TEST_F(CombatTest, FastProjectileDoesNotJumpOverABodyBetweenTwoTicks) {
  GameWorld slow({.entities = 0, .tick_rate = 2});
  const Entity enemy = slow.creature({8, 0}, 1);
  slow.projectile({0, 0}, {kProjectileSpeed, 0}, 0);
  slow.tick = Tick{1};
  slow.run_system(index_bodies);
  slow.run_each(move);
  slow.run_system(hit_bodies);
  EXPECT_EQ(slow.registry.get<Health>(enemy).current, kCreatureHealth - kProjectileDamage);
}

TEST_F(CombatTest, ProjectileEndsAtTheBorderAndAtTheEndOfItsLife) {
  const Entity at_border = world.projectile({31, 0}, {kProjectileSpeed, 0}, 0);
  fly(2);
  EXPECT_FALSE(world.registry.alive(at_border));
  const Entity slow = world.projectile({0, 0}, {0.1f, 0}, 0);
  world.run(world.ticks(kProjectileLife) - 1);
  EXPECT_TRUE(world.registry.alive(slow));
  world.run(1);
  EXPECT_FALSE(world.registry.alive(slow));
}

TEST_F(CombatTest, KillGivesItsOwnerOnePointOnce) {
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  const Entity enemy = world.creature({5, 0}, 1);
  world.registry.patch<Health>(enemy, [](Health& changed) { changed.current = 1; });
  world.projectile({4, 0}, {kProjectileSpeed, 0}, 0, player);
  world.projectile({4, 0}, {kProjectileSpeed, 0}, 0, player);
  fly();
  EXPECT_EQ(health(enemy), 0);
  EXPECT_EQ(world.registry.get<const Player>(player).score, 1);
  world.run_system(bury_the_dead);
  EXPECT_FALSE(world.registry.alive(enemy));
}

TEST_F(CombatTest, ProjectileOfAnOwnerWhoLeftStillHits) {
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  const Entity enemy = world.creature({5, 0}, 1);
  world.registry.patch<Health>(enemy, [](Health& changed) { changed.current = 1; });
  const Entity projectile = world.projectile({4, 0}, {kProjectileSpeed, 0}, 0, player);
  despawn_player(world.registry, player);
  const Entity successor = spawn_player(world.registry, PlayerNumber{4}, world.tick);
  EXPECT_EQ(world.registry.get<const Projectile>(projectile).owner, player);
  fly();
  EXPECT_EQ(health(enemy), 0);
  EXPECT_EQ(world.registry.get<const Player>(successor).score, 0);
}

TEST_F(CombatTest, InvulnerableTakesNoDamageAndCatchesNoFire) {
  const Entity enemy = world.creature({5, 0}, 1);
  shield(world.registry, enemy, world.tick, 10);
  wound(world.registry, enemy, 50);
  ignite(world.registry, enemy, world.tick);
  EXPECT_EQ(health(enemy), kCreatureHealth);
  EXPECT_FALSE(world.registry.all_of<Burning>(enemy));
}

TEST_F(CombatTest, WoundsNeverGoBelowZero) {
  const Entity enemy = world.creature({5, 0}, 1);
  wound(world.registry, enemy, 60);
  wound(world.registry, enemy, 60);
  EXPECT_EQ(health(enemy), 0);
}

TEST_F(CombatTest, PlayerWithoutHealthComesToLifeWithTheSameEntity) {
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  apply_input(world.registry, player, {.move_x = 1});
  ignite(world.registry, player, world.tick);
  world.registry.patch<Health>(player, [](Health& changed) { changed.current = 0; });
  world.run_system(bury_the_dead);
  ASSERT_TRUE(world.registry.alive(player));
  EXPECT_EQ(health(player), kPlayerHealth);
  EXPECT_TRUE(world.registry.all_of<Invulnerable>(player));
  EXPECT_FALSE(world.registry.all_of<Velocity>(player));
}

TEST_F(CombatTest, WeaponNeedsTimeBetweenTwoShots) {
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  std::size_t shots = 0;
  for (std::uint32_t i = 0; i < 3 * world.ticks(kShotPeriod); ++i) {
    apply_input(world.registry, player, {.aim_degrees = 90, .fire = true});
    world.run();
    for (const LogEntry& entry : world.registry.log().entries()) {
      shots += entry.kind == LogKind::Added && entry.type == world.registry.component_type<Projectile>();
    }
  }
  EXPECT_EQ(shots, 3u);
}

TEST_F(CombatTest, ShotFliesWhereTheOwnerLooksAndNamesIt) {
  const Entity player = spawn_player(world.registry, PlayerNumber{2}, world.tick);
  apply_input(world.registry, player, {.aim_degrees = -90, .fire = true});
  world.run();
  ASSERT_EQ(world.registry.storage<Projectile>().size(), 1u);
  for (const auto [entity, projectile, velocity, team] :
       world.registry.view<const Projectile, const Velocity, const Team>()) {
    EXPECT_EQ(projectile.owner, player);
    EXPECT_NEAR(velocity.x, 0, 1e-3f);
    EXPECT_NEAR(velocity.y, -kProjectileSpeed, 1e-3f);
    EXPECT_EQ(team.id, 2);
  }
}

}  // namespace
}  // namespace shoal::demo
