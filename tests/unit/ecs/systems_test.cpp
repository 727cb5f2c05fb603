#include "shared/ecs/systems.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

TEST(Systems, RunInTheOrderOfAdding) {
  World world;
  std::vector<std::string> ran;
  Systems systems;
  systems.add("b", [&](Registry&, Tick tick) { ran.push_back(fmt::format("b{}", tick.value)); });
  systems.add("a", [&](Registry&, Tick tick) { ran.push_back(fmt::format("a{}", tick.value)); });
  systems.run(world, Tick{7});
  EXPECT_THAT(ran, testing::ElementsAre("b7", "a7"));
}

TEST(Systems, CommandsAreAppliedWhenTheirSystemEnds) {
  World world;
  std::size_t seen = 0;
  Systems systems;
  systems.add("spawn", [&](Registry& registry, Tick, CommandBuffer& commands) {
    commands.emplace<Position>(commands.create());
    EXPECT_EQ(registry.alive_count(), 0u);
  });
  systems.add("count", [&](Registry& registry, Tick) { seen = registry.storage<Position>().size(); });
  systems.run(world, Tick{0});
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(systems.systems()[0].commands_done, 2u);
}

TEST(Systems, AreTimedByTheClockThatTheyWereGiven) {
  World world;
  ManualClock clock;
  Systems systems(&clock);
  systems.add("slow", [&](Registry&, Tick tick) { clock.advance(milliseconds(tick.value)); });
  systems.add("fast", [](Registry&, Tick) {});
  systems.run(world, Tick{5});
  systems.run(world, Tick{3});
  const Systems::System& slow = systems.systems()[0];
  EXPECT_EQ(slow.runs, 2u);
  EXPECT_EQ(slow.last, milliseconds(3));
  EXPECT_EQ(slow.longest, milliseconds(5));
  EXPECT_EQ(slow.total, milliseconds(8));
  EXPECT_EQ(systems.systems()[1].total, Duration{0});
}

}  // namespace
}  // namespace shoal::test
