#include "shared/game/ai.hpp"

#include <gtest/gtest.h>

#include "tests/unit/game/game_world.hpp"

namespace shoal::demo {
namespace {

class AiTest : public testing::Test {
 protected:
  // Long enough for everyone to decide at least once, without anybody shooting or dying.
  void decide() {
    const std::uint32_t period = world.ticks(kDecisionPeriod);
    for (std::uint32_t i = 0; i <= period; ++i) {
      ++world.tick;
      world.run_system(index_bodies);
      world.run_each(think);
    }
  }
  const AI& ai(Entity entity) const { return world.registry.get<AI>(entity); }

  GameWorld world{{.entities = 0}};
};

TEST_F(AiTest, ChasesAnEnemyInSight) {
  const Entity hunter = world.creature({0, 0}, 0);
  const Entity prey = world.creature({15, 0}, 1, 1);
  decide();
  EXPECT_EQ(ai(hunter).state, AiState::Chase);
  EXPECT_EQ(ai(hunter).target, prey);
  EXPECT_NEAR(world.registry.get<const Velocity>(hunter).x, kChaseSpeed, 1e-3f);
  EXPECT_NEAR(world.registry.get<const Heading>(hunter).degrees, 0, 0.01f);
  EXPECT_FALSE(world.registry.get<const Weapon>(hunter).trigger);
  EXPECT_EQ(ai(prey).state, AiState::Idle) << "it sees one metre far";
}

TEST_F(AiTest, AttacksTheNearestEnemyInReachAndStandsStill) {
  const Entity hunter = world.creature({0, 0}, 0);
  world.creature({0, 6}, 1);
  const Entity nearest = world.creature({0, -5}, 2);
  decide();
  EXPECT_EQ(ai(hunter).state, AiState::Attack);
  EXPECT_EQ(ai(hunter).target, nearest);
  EXPECT_FALSE(world.registry.all_of<Velocity>(hunter));
  EXPECT_NEAR(world.registry.get<const Heading>(hunter).degrees, -90, 0.01f);
  EXPECT_TRUE(world.registry.get<const Weapon>(hunter).trigger);
}

TEST_F(AiTest, FleesWhenHurtUntilItHasRecovered) {
  const Entity hurt = world.creature({0, 0}, 0);
  world.creature({5, 0}, 1, 0);
  world.registry.patch<Health>(hurt, [](Health& health) { health.current = 24; });
  decide();
  EXPECT_EQ(ai(hurt).state, AiState::Flee);
  EXPECT_LT(world.registry.get<const Velocity>(hurt).x, 0);
  world.registry.patch<Health>(hurt, [](Health& health) { health.current = 50; });
  decide();
  EXPECT_EQ(ai(hurt).state, AiState::Flee);
  world.registry.patch<Health>(hurt, [](Health& health) { health.current = 51; });
  decide();
  EXPECT_EQ(ai(hurt).state, AiState::Attack);
}

TEST_F(AiTest, ForgetsATargetThatDied) {
  const Entity hunter = world.creature({0, 0}, 0);
  const Entity prey = world.creature({5, 0}, 1);
  decide();
  ASSERT_EQ(ai(hunter).target, prey);
  world.registry.destroy(prey);
  decide();
  EXPECT_EQ(ai(hunter).state, AiState::Idle);
  EXPECT_TRUE(ai(hunter).target.is_null());
  EXPECT_FALSE(world.registry.get<const Weapon>(hunter).trigger);
}

TEST_F(AiTest, IgnoresItsOwnTeamAndWhatIsOutOfSight) {
  const Entity one = world.creature({0, 0}, 0);
  world.creature({2, 0}, 0);
  world.creature({21, 0}, 1, 1);
  decide();
  EXPECT_EQ(ai(one).state, AiState::Idle);
  EXPECT_TRUE(ai(one).target.is_null());
}

TEST_F(AiTest, IdleCreaturesRestForLongAndSometimesWalk) {
  const Entity lonely = world.creature({0, 0}, 0);
  int resting = 0, walking = 0, longest_rest = 0, rest = 0;
  for (int tick = 0; tick < 9000; ++tick) {
    ++world.tick;
    world.run_system(index_bodies);
    world.run_each(think);
    const bool walks = world.registry.all_of<Velocity>(lonely);
    rest = walks ? 0 : rest + 1;
    longest_rest = std::max(longest_rest, rest);
    ++(walks ? walking : resting);
  }
  EXPECT_GT(walking, 300);
  EXPECT_GT(resting, walking);
  EXPECT_GT(longest_rest, 300) << "ten seconds";
}

TEST_F(AiTest, UnchangedMindIsNoChange) {
  const Entity hunter = world.creature({0, 0}, 0);
  world.creature({5, 0}, 1, 0);
  decide();
  world.registry.clear_changes();
  decide();
  EXPECT_EQ(ai(hunter).state, AiState::Attack);
  EXPECT_FALSE(world.registry.storage<AI>().any_changes());
}

}  // namespace
}  // namespace shoal::demo
