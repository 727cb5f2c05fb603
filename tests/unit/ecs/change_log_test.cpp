#include "shared/ecs/change_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal {

void PrintTo(const NetChange& change, std::ostream* out) {
  *out << "{" << change.entity.index << ":" << change.entity.generation << " type " << change.type.value
       << " kind " << static_cast<int>(change.kind) << "}";
}

namespace test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct ChangeLogTest : testing::Test {
  std::span<const NetChange> net() { return summary.summarize(world.log().entries()); }

  World world;
  ChangeSummary summary;
  const ComponentType position = world.component_type<Position>();
  const ComponentType burning = world.component_type<Burning>();
};

TEST_F(ChangeLogTest, TellsEverythingInOrder) {
  const Entity entity = world.create();
  world.emplace<Burning>(entity);
  world.emplace<Position>(entity);
  world.remove<Burning>(entity);
  world.destroy(entity);
  EXPECT_THAT(
      world.log().entries(),
      ElementsAre(LogEntry{entity, {}, LogKind::Born}, LogEntry{entity, burning, LogKind::Added},
                  LogEntry{entity, position, LogKind::Added}, LogEntry{entity, burning, LogKind::Removed},
                  LogEntry{entity, position, LogKind::Removed}, LogEntry{entity, {}, LogKind::Died}));
  world.log().clear();
  EXPECT_THAT(world.log().entries(), IsEmpty());
}

TEST_F(ChangeLogTest, SwitchedOffItStaysEmpty) {
  world.log().set_enabled(false);
  world.emplace<Position>(world.create());
  EXPECT_THAT(world.log().entries(), IsEmpty());
}

TEST_F(ChangeLogTest, UpdatesAreNotInIt) {
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.log().clear();
  world.patch<Position>(entity, [](Position&) {});
  world.emplace_or_replace<Position>(entity);
  world.get<Position>(entity).x = 1;
  EXPECT_THAT(world.log().entries(), IsEmpty());
}

// R14
TEST_F(ChangeLogTest, RemoveAndAddAgainWithinOneTickIsAReset) {
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.log().clear();
  world.remove<Position>(entity);
  world.emplace<Position>(entity);
  EXPECT_THAT(net(), ElementsAre(NetChange{entity, position, NetKind::Reset}));
  world.remove<Position>(entity);
  EXPECT_THAT(net(), ElementsAre(NetChange{entity, position, NetKind::Removed}));
}

// R14
TEST_F(ChangeLogTest, AddAndRemoveWithinOneTickIsNothing) {
  const Entity entity = world.create();
  world.log().clear();
  world.emplace<Position>(entity);
  world.remove<Position>(entity);
  EXPECT_THAT(net(), IsEmpty());
  world.emplace<Position>(entity);
  EXPECT_THAT(net(), ElementsAre(NetChange{entity, position, NetKind::Added}));
}

// R14
TEST_F(ChangeLogTest, SpawnAndDespawnWithinOneTickIsNothing) {
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.emplace<Burning>(entity);
  world.destroy(entity);
  EXPECT_THAT(net(), IsEmpty());
}

TEST_F(ChangeLogTest, DeathOfWhoWasThereRemovesWhatItHadThen) {
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.log().clear();
  world.emplace<Burning>(entity);  // had it not before
  world.destroy(entity);
  EXPECT_THAT(net(), ElementsAre(NetChange{entity, position, NetKind::Removed},
                                 NetChange{entity, {}, NetKind::Died}));
}

TEST_F(ChangeLogTest, TwoLivesOfOneIndexStayApart) {
  const Entity first = world.create();
  world.emplace<Position>(first);
  world.log().clear();
  world.destroy(first);
  const Entity second = world.create();
  world.emplace<Position>(second);
  ASSERT_EQ(first.index, second.index);
  EXPECT_THAT(net(),
              ElementsAre(NetChange{first, position, NetKind::Removed}, NetChange{first, {}, NetKind::Died},
                          NetChange{second, {}, NetKind::Born}, NetChange{second, position, NetKind::Added}));
}

TEST_F(ChangeLogTest, EntitiesComeInTheOrderInWhichTheLogNamesThem) {
  const Entity a = world.create();
  const Entity b = world.create();
  world.log().clear();
  world.emplace<Burning>(b);
  world.emplace<Position>(a);
  world.emplace<Position>(b);
  EXPECT_THAT(net(),
              ElementsAre(NetChange{b, position, NetKind::Added}, NetChange{b, burning, NetKind::Added},
                          NetChange{a, position, NetKind::Added}));
}

}  // namespace
}  // namespace test
}  // namespace shoal
