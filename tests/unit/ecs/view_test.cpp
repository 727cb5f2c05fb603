#include "shared/ecs/view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct ViewTest : testing::Test {
  ViewTest() {
    for (std::uint32_t i = 0; i < 6; ++i) {
      const Entity entity = world.create();
      world.emplace<Position>(entity, static_cast<float>(i), 0.0f);
      if (i % 2 == 0) world.emplace<Velocity>(entity, 1.0f, 1.0f);
      if (i == 4) world.emplace<Burning>(entity);
    }
  }
  template <class V>
  static std::vector<std::uint32_t> visited(const V& view) {
    std::vector<std::uint32_t> indices;
    for (auto&& item : view) indices.push_back(std::get<0>(item).index);
    std::vector<std::uint32_t> by_each;
    view.each([&](Entity entity, auto&...) { by_each.push_back(entity.index); });
    EXPECT_EQ(indices, by_each) << "each and range-for must agree";
    return indices;
  }

  World world;
};

TEST_F(ViewTest, VisitsWhoHasAllAndNoneOfTheExcluded) {
  EXPECT_THAT(visited(world.view<Position>()), ElementsAre(0, 1, 2, 3, 4, 5))
      << "from the start of the packed list";
  EXPECT_THAT(visited(world.view<Position, Velocity>()), ElementsAre(0, 2, 4));
  EXPECT_THAT(visited(world.view<Position>(exclude<Velocity>)), ElementsAre(1, 3, 5));
  EXPECT_THAT(visited(world.view<Position, Velocity>(exclude<Burning>)), ElementsAre(0, 2));
  EXPECT_THAT(visited(world.view<Position>(exclude<Velocity, Burning>)), ElementsAre(1, 3, 5));
  EXPECT_THAT(visited(world.view<Burning>()), ElementsAre(4));
  EXPECT_THAT(visited(world.view<Position, Health>()), IsEmpty());
  EXPECT_THAT(visited(std::as_const(world).view<Position, Burning>()), ElementsAre(4));
}

TEST_F(ViewTest, HandsOutReferencesAndLeavesTagsOut) {
  using Mixed = decltype(world.view<Position, const Velocity, Burning>());
  static_assert(std::is_same_v<Mixed::Value, std::tuple<Entity, Position&, const Velocity&>>);
  using Const = decltype(std::as_const(world).view<Position>());
  static_assert(std::is_same_v<Const::Value, std::tuple<Entity, const Position&>>);
  for (auto [entity, position, velocity] : world.view<Position, const Velocity>())
    position.y = velocity.dx + 1;
  EXPECT_EQ(world.get<Position>(world.entity_at(2)).y, 2.0f);
  EXPECT_EQ(world.get<Position>(world.entity_at(1)).y, 0.0f);
  world.view<Position, Velocity>().each(
      [](Position& position, Velocity& velocity) { position.y = velocity.dy * 5; });
  EXPECT_EQ(world.get<Position>(world.entity_at(4)).y, 5.0f);
}

TEST_F(ViewTest, AnswersForSingleEntities) {
  const auto view = world.view<Position, const Velocity>(exclude<Burning>);
  EXPECT_TRUE(view.contains(world.entity_at(2)));
  EXPECT_FALSE(view.contains(world.entity_at(1)));
  EXPECT_FALSE(view.contains(world.entity_at(4)));
  EXPECT_FALSE(view.contains(kNullEntity));
  auto [position, velocity] = view.get(world.entity_at(2));
  position.x = velocity.dx * 9;
  EXPECT_EQ(world.get<Position>(world.entity_at(2)).x, 9.0f);
  EXPECT_EQ(view.size_hint(), 3u);
  EXPECT_EQ(view.front(), world.entity_at(0));
  EXPECT_EQ(view.back(), world.entity_at(2));
  EXPECT_FALSE(view.find(world.entity_at(4)).has_value());
  EXPECT_FALSE(view.empty());
  EXPECT_TRUE((world.view<Health>().empty()));
}

// R6
TEST_F(ViewTest, DestroyingTheEntityAtHandVisitsEveryoneOnce) {
  for (const bool use_each : {false, true}) {
    World fresh;
    for (int i = 0; i < 500; ++i) fresh.emplace<Position>(fresh.create());
    std::vector<int> visits(500);
    const auto visit = [&](Entity entity) {
      ++visits[entity.index];
      if (entity.index % 3 != 0) fresh.destroy(entity);
    };
    if (use_each) {
      fresh.view<Position>().each([&](Entity entity, Position&) { visit(entity); });
    } else {
      for (auto [entity, position] : fresh.view<Position>()) visit(entity);
    }
    EXPECT_THAT(visits, testing::Each(1)) << (use_each ? "each" : "range-for");
    EXPECT_EQ(fresh.alive_count(), 167u);
  }
}

// R6
TEST_F(ViewTest, RemovingTheLeadingComponentOfTheEntityAtHandVisitsEveryoneOnce) {
  std::vector<std::uint32_t> order;
  for (auto [entity, position, velocity] : world.view<Position, Velocity>()) {
    order.push_back(entity.index);
    world.remove<Velocity>(entity);
  }
  EXPECT_THAT(order, ElementsAre(0, 4, 2)) << "the last one comes to the place of who left";
}

// R6
TEST_F(ViewTest, TakingOffAndPuttingBackOnTheEntityAtHandDoesNotVisitItTwice) {
  std::vector<std::uint32_t> order;
  world.view<Position, Velocity>().each([&](Entity entity, Position&, Velocity&) {
    order.push_back(entity.index);
    world.remove<Velocity>(entity);
    world.emplace<Velocity>(entity);
  });
  EXPECT_THAT(order, UnorderedElementsAre(4, 2, 0));
}

// R6
TEST_F(ViewTest, OtherPoolsMayChangeForAnyoneDuringTheLoop) {
  std::vector<std::uint32_t> order;
  for (auto [entity, velocity] : world.view<Velocity>()) {
    order.push_back(entity.index);
    world.emplace<Health>(world.create());
    world.remove<Position>(world.entity_at(5 - entity.index));
  }
  EXPECT_THAT(order, ElementsAre(0, 2, 4));
}

// R6
TEST_F(ViewTest, NestedLoopsOverOnePoolSeeAllPairs) {
  int pairs = 0;
  for (auto [first, a] : world.view<const Position>()) {
    for (auto [second, b] : world.view<const Position>()) pairs += first != second;
  }
  EXPECT_EQ(pairs, 30);
}

#if !defined(NDEBUG) || defined(SHOAL_ENABLE_FAULTS)
using ViewDeathTest = ViewTest;

// R6
TEST_F(ViewDeathTest, DestroyingAnotherEntityOfTheLeadingPoolIsCaught) {
  EXPECT_DEATH(
      {
        for ([[maybe_unused]] auto item : world.view<Position>()) world.destroy(world.entity_at(5));
      },
      "CommandBuffer");
  EXPECT_DEATH(world.view<Position>().each([&](Entity, Position&) { world.destroy(world.entity_at(5)); }),
               "entity at hand only");
}

// R6
TEST_F(ViewDeathTest, AddingTheLeadingComponentToAnotherEntityIsCaught) {
  EXPECT_DEATH(
      {
        for ([[maybe_unused]] auto item : world.view<Velocity>()) world.emplace<Velocity>(world.create());
      },
      "CommandBuffer");
}

// R6
TEST_F(ViewDeathTest, HidingAForeignChangeBehindOneOfOnesOwnIsCaught) {
  EXPECT_DEATH(
      {
        for (auto [entity, velocity] : world.view<Velocity>()) {
          world.remove<Velocity>(world.entity_at(4));
          world.remove<Velocity>(entity);
        }
      },
      "CommandBuffer");
}
#endif

}  // namespace
}  // namespace shoal::test
