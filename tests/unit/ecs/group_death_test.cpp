// Groups that cannot be are refused when they are declared, by name.
#include <gtest/gtest.h>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

struct Unregistered {
  int value = 0;
};

template <class F>
void declare(F before_freeze) {
  const World world({}, before_freeze);
}

// R7
TEST(GroupDeathTest, TwoGroupsThatOwnOnePoolAreRefusedAndBothAreNamed) {
  EXPECT_DEATH(declare([](Registry& registry) {
                 registry.declare_group<Position, Velocity>(observe<Health>, exclude<Burning>);
                 registry.declare_group<Name, Velocity>();
               }),
               "group of test.Name, test.Velocity: test.Velocity is owned by the group of test.Position, "
               "test.Velocity with test.Health without test.Burning already.*Observe");
  EXPECT_DEATH(declare([](Registry& registry) {
                 registry.declare_group<Position>();
                 registry.declare_group<Position>();
               }),
               "group of test.Position: test.Position is owned by the group of test.Position already");
}

TEST(GroupDeathTest, ATypeStandsInAGroupOnce) {
  EXPECT_DEATH(declare([](Registry& registry) { registry.declare_group<Position, Position>(); }),
               "test.Position stands there twice");
  EXPECT_DEATH(declare([](Registry& registry) { registry.declare_group<Position>(observe<Position>); }),
               "twice");
  EXPECT_DEATH(declare([](Registry& registry) { registry.declare_group<Position>({}, exclude<Position>); }),
               "twice");
  EXPECT_DEATH(
      declare([](Registry& registry) { registry.declare_group<Position>(observe<Health>, exclude<Health>); }),
      "group of test.Position with test.Health without test.Health: test.Health stands there twice");
}

// R8
TEST(GroupDeathTest, GroupsAreDeclaredBeforeFreezeOfTypesThatAreRegistered) {
  World world;
  EXPECT_DEATH(world.declare_group<Position>(), "declare_group after freeze");
  EXPECT_DEATH(declare([](Registry& registry) { registry.declare_group<Unregistered>(); }),
               "not registered.*registered are: .*test.Position");
}

TEST(GroupDeathTest, AGroupIsUsedWithTheListsOfItsDeclaration) {
  World world({}, [](Registry& registry) {
    registry.declare_group<Position, Velocity>(observe<Health>, exclude<Burning>);
    registry.declare_group<Name>();
  });
  world.group<Position, const Velocity>(observe<const Health>, exclude<Burning>).each([](auto&&...) {});
  EXPECT_DEATH(
      (world.group<Velocity, Position>(observe<Health>, exclude<Burning>)),
      "no group was declared with these components in this order .the first one owned is test.Velocity.; "
      "declared are: test.Position, test.Velocity with test.Health without test.Burning; test.Name");
  EXPECT_DEATH((world.group<Position, Velocity>()), "no group was declared");
  EXPECT_DEATH(World().group<Position>(), "declared are: none");
}

TEST(GroupDeathTest, ThePoolOfAGroupIsNotSortedAlone) {
  World world({}, [](Registry& registry) { registry.declare_group<Position>(observe<Health>); });
  world.emplace<Position>(world.create());
  world.emplace<Health>(world.entity_at(0), Health{1, 1});
  EXPECT_DEATH(world.sort<Position>([](Entity a, Entity b) { return a < b; }),
               "sort of test.Position: the group test.Position with test.Health keeps its order");
  EXPECT_DEATH((world.sort_as<Position, Health>()), "keeps its order");
  world.sort<Health>([](Entity a, Entity b) { return a < b; });
  world.sort_as<Health, Position>();
  EXPECT_EQ(world.group<Position>(observe<Health>).size(), 1u) << "observed ones may be sorted";
}

}  // namespace
}  // namespace shoal::test
