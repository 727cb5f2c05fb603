#include <gtest/gtest.h>

#include "tests/support/allocation_counter.hpp"
#include "tests/unit/game/game_world.hpp"

namespace shoal::demo {
namespace {

TEST(GameAllocations, SystemsAllocateNothingInSteadyState) {
  GameWorld world({.entities = 1000});
  const Entity player = spawn_player(world.registry, PlayerNumber{0}, world.tick);
  const auto play = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      apply_input(world.registry, player, {.move_x = i % 60 < 30 ? 1.0f : -1.0f, .fire = true});
      world.run();
    }
  };
  play(3000);  // every pool and list has seen its largest crowd
  const std::size_t before = test::allocations_so_far();
  play(600);
  EXPECT_EQ(test::allocations_so_far() - before, 0u);
}

}  // namespace
}  // namespace shoal::demo
