#include "shared/ecs/each_system.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "shared/ecs/thread_pool_executor.hpp"
#include "tests/unit/ecs/schedule_fixture.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;

using EachSystem = ScheduleTest;

TEST_F(EachSystem, EachVisitsWhoHasAllAndNoneOfTheOthersOnce) {
  std::vector<Entity> wanted;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const Entity entity = make(world, static_cast<float>(i));
    if (i % 2 == 0) world.emplace<Velocity>(entity);
    if (i % 3 == 0) world.emplace<Burning>(entity);
    if (i % 5 == 0) world.emplace<Local>(entity);
    if (i % 6 == 0 && i % 5 != 0) wanted.push_back(entity);
  }
  schedule.add_each(
      "count", [](Position& position, const Velocity&, With<Burning>, Without<Local>) { position.y += 1; });
  ThreadPoolExecutor threads(3);
  schedule.set_executor(&threads);
  run();
  EXPECT_EQ(schedule.systems()[0].pieces, 2u) << "the pool of Burning leads, it is the smallest";
  std::vector<Entity> visited;
  for (auto [entity, position] : world.view<const Position>()) {
    ASSERT_LE(position.y, 1);
    if (position.y == 1) visited.push_back(entity);
  }
  EXPECT_THAT(visited, testing::UnorderedElementsAreArray(wanted));
}

TEST_F(EachSystem, EachVisitsInTheOrderOfAView) {
  for (int i = 0; i < 3000; ++i) {
    const Entity entity = make(world, static_cast<float>(i));
    if (i % 7 == 0) world.emplace<Velocity>(entity);
  }
  world.sort<Velocity>([](Entity a, Entity b) { return a.index * 7919 % 4001 < b.index * 7919 % 4001; });
  std::vector<Entity> of_view, of_each;
  for (auto [entity, position, velocity] : world.view<Position, const Velocity>()) of_view.push_back(entity);
  schedule.add_each("note", [&](Entity entity, Position&, const Velocity&) { of_each.push_back(entity); });
  run();
  EXPECT_EQ(of_each, of_view);
}

TEST_F(EachSystem, EachOfAnEmptyWorldHasNoPieces) {
  schedule.add_each("note", [](Position&) { FAIL(); });
  run();
  EXPECT_EQ(schedule.systems()[0].pieces, 0u);
  EXPECT_EQ(schedule.systems()[0].runs, 1u);
}

TEST_F(EachSystem, ComponentThatNeedNotBeThereIsNullWhereItIsNot) {
  const Entity with = make(world, 1);
  const Entity without = make(world, 2);
  world.emplace<Velocity>(with);
  schedule.add_each("each", [](Position& position, Velocity* velocity, const Name* name) {
    position.y = velocity != nullptr ? 1 : 2;
    if (velocity != nullptr) velocity->dx = 5;
    EXPECT_EQ(name, nullptr);
  });
  run();
  EXPECT_EQ(world.get<const Position>(with).y, 1);
  EXPECT_EQ(world.get<const Position>(without).y, 2);
  EXPECT_EQ(world.get<const Velocity>(with).dx, 5);
}

// What the change tracker would look at.
template <class T>
std::vector<std::uint32_t> possibly_changed(const Registry& registry) {
  std::vector<std::uint32_t> found;
  registry.storage<T>().for_each_possibly_changed(
      [&](std::uint32_t index, const void*) { found.push_back(index); });
  return found;
}

TEST_F(EachSystem, EachWriteIsNoticedAndNothingElse) {
  for (int i = 0; i < 1000; ++i) {
    const Entity entity = make(world, 1);
    world.emplace<Velocity>(entity);
    world.emplace<Name>(entity);
  }
  world.sort<Velocity>([](Entity a, Entity b) { return a.index > b.index; });
  for (int i = 0; i < 64; ++i) world.remove<Velocity>(world.entity_at(static_cast<std::uint32_t>(i)));
  tick_over(world);
  schedule.add_each("each",
                    [](Entity entity, const Velocity&, Position&, Ref<Health> health, Ref<Name> name) {
                      if (entity.index == 100) health.patch([](Health& changed) { ++changed.current; });
                      if (entity.index == 200) name.write().text = "written";
                    });
  run();
  EXPECT_EQ(possibly_changed<Position>(world).size(), 1000u - 64)
      << "whoever was handed out, and nobody's run else";
  EXPECT_THAT(possibly_changed<Health>(world), ElementsAre(100));
  EXPECT_THAT(possibly_changed<Name>(world), testing::SizeIs(64));
  EXPECT_THAT(possibly_changed<Name>(world), testing::Contains(200u));
  EXPECT_FALSE(world.storage<Velocity>().any_changes()) << "it was only read";
}

TEST_F(EachSystem, LeadingPoolThatIsWrittenIsMarkedInEveryPiece) {
  for (std::uint32_t i = 0; i < 3 * kPieceValues; ++i) make(world, 1);
  for (std::uint32_t i = 0; i < 64; ++i) world.emplace<Burning>(world.entity_at(128 + i));
  tick_over(world);
  ThreadPoolExecutor threads(4);
  schedule.set_executor(&threads);
  schedule.add_each("each", [](Position&, Without<Burning>) {});
  run();
  EXPECT_EQ(possibly_changed<Position>(world).size(), 3 * kPieceValues - 64)
      << "but for the run that nobody visited";
}

TEST_F(EachSystem, RandomNumbersAreKeyedBySeedTickSystemAndEntity) {
  const Entity one = make(world, 1), other = make(world, 2);
  std::vector<std::uint64_t> drawn;
  const auto draw = [&](SystemContext& context, Entity entity, const Position&) {
    if (entity == one) drawn.push_back(context.random(entity).next());
    if (entity == other) drawn.push_back(context.random(entity).next());
  };
  schedule.add_each("a", draw);
  schedule.add_each("b", draw);
  run(1);
  run(2);
  schedule.set_seed(5);
  run(1);
  ASSERT_EQ(drawn.size(), 12u);
  EXPECT_EQ(std::set<std::uint64_t>(drawn.begin(), drawn.end()).size(), 12u);
  const std::vector<std::uint64_t> first(drawn.begin(), drawn.begin() + 4);
  drawn.clear();
  schedule.set_seed(0);
  run(1);
  EXPECT_EQ(drawn, first) << "the same keys, the same numbers";
}

}  // namespace
}  // namespace shoal::test
