#include "shared/ecs/observer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "shared/ecs/write_audit.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct ObserverTest : testing::Test {
  void next_tick() {
    world.log().clear();
    world.clear_changes();
  }
  std::vector<Entity> constructed() {
    std::vector<Entity> entities;
    observer.for_each_constructed([&](Entity entity) { entities.push_back(entity); });
    return entities;
  }
  std::vector<Entity> updated() {
    std::vector<Entity> entities;
    observer.for_each_updated([&](Entity entity, const Health&) { entities.push_back(entity); });
    return entities;
  }
  std::vector<Entity> removed() {
    std::vector<Entity> entities;
    observer.for_each_removed([&](Entity entity) { entities.push_back(entity); });
    return entities;
  }
  Entity healthy() {
    const Entity entity = world.create();
    world.emplace<Health>(entity);
    return entity;
  }

  World world;
  Observer<Health> observer{world};
};

TEST_F(ObserverTest, CollectsEachOnceHoweverOftenItChanged) {
  const Entity a = healthy(), b = healthy(), c = healthy();
  EXPECT_THAT(constructed(), ElementsAre(a, b, c));
  EXPECT_THAT(updated(), IsEmpty()) << "who is new is not updated, too";
  next_tick();
  for (int i = 0; i < 3; ++i) world.patch<Health>(c, [](Health& health) { ++health.current; });
  world.replace<Health>(a);
  world.remove<Health>(b);
  EXPECT_THAT(constructed(), IsEmpty());
  EXPECT_THAT(updated(), ElementsAre(a, c));
  EXPECT_THAT(removed(), ElementsAre(b));
  next_tick();
  EXPECT_THAT(updated(), IsEmpty());
  EXPECT_THAT(removed(), IsEmpty());
}

TEST_F(ObserverTest, ConstructedAndRemovedComeInTheOrderOfTheLog) {
  const Entity a = healthy(), b = healthy(), c = healthy();
  next_tick();
  world.remove<Health>(c);
  world.remove<Health>(a);
  const Entity d = world.create();
  world.emplace<Health>(d);
  world.destroy(b);
  EXPECT_THAT(removed(), ElementsAre(c, a, b)) << "the dead, too";
  EXPECT_THAT(constructed(), ElementsAre(d));
}

// R14
TEST_F(ObserverTest, RemoveAndAddWithinATickIsBothAndAddAndRemoveIsNothing) {
  const Entity kept = healthy();
  next_tick();
  world.remove<Health>(kept);
  world.emplace<Health>(kept);
  world.patch<Health>(kept, [](Health&) {});
  EXPECT_THAT(removed(), ElementsAre(kept));
  EXPECT_THAT(constructed(), ElementsAre(kept));
  EXPECT_THAT(updated(), IsEmpty()) << "it is another one";
  next_tick();
  const Entity brief = healthy();
  world.destroy(brief);
  EXPECT_THAT(constructed(), IsEmpty());
  EXPECT_THAT(removed(), IsEmpty());
}

TEST_F(ObserverTest, SuccessorOfAnIndexIsAnotherEntity) {
  const Entity first = healthy();
  next_tick();
  world.destroy(first);
  const Entity second = healthy();
  ASSERT_EQ(first.index, second.index);
  EXPECT_THAT(removed(), ElementsAre(first));
  EXPECT_THAT(constructed(), ElementsAre(second));
  EXPECT_THAT(updated(), IsEmpty());
}

TEST_F(ObserverTest, TagIsObservedToo) {
  const Entity entity = world.create();
  world.emplace<Burning>(entity);
  next_tick();
  world.storage<Burning>().mark_dirty(entity);
  std::vector<Entity> updated;
  Observer<Burning>(world).for_each_updated([&](Entity burning) { updated.push_back(burning); });
  EXPECT_THAT(updated, ElementsAre(entity));
}

TEST(ObserverDeathTest, NeedsTheLog) {
  World world;
  world.log().set_enabled(false);
  EXPECT_DEATH(Observer<Health>{world}, "set_enabled");
}

struct WriteAuditTest : ObserverTest {};

// R13
TEST_F(WriteAuditTest, NamesTheComponentThatWasWrittenWithoutASignal) {
  const Entity a = healthy(), b = healthy(), c = healthy();
  for (const Entity entity : {a, b, c}) world.emplace<Position>(entity);
  next_tick();
  const WriteAudit audit(world);
  EXPECT_THAT(audit.report(), IsEmpty());
  world.patch<Health>(a, [](Health& health) { health.current = 5; });
  world.get<Health>(b).current = 6;
  world.get<Health>(c).current = 7;
  world.get<Position>(a).x = 0;  // handed out, and not changed
  const auto findings = audit.findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].type, world.component_type<Health>());
  EXPECT_EQ(findings[0].values, 2u);
  EXPECT_EQ(findings[0].first, b);
  EXPECT_THAT(audit.report(), HasSubstr("test.Health: 2 values written without a signal"));
}

TEST_F(WriteAuditTest, BirthsRemovalsAndMovesInThePoolAreNoWrites) {
  const Entity a = healthy(), b = healthy(), c = healthy();
  world.get<Health>(c).current = 9;
  next_tick();
  WriteAudit audit(world);
  world.remove<Health>(a);  // c moves to its place
  world.destroy(b);
  world.get<Health>(healthy()).current = 3;
  EXPECT_THAT(audit.report(), IsEmpty());
  world.get<Health>(c).current = 10;
  EXPECT_EQ(audit.findings().at(0).first, c);
  audit.remember();
  EXPECT_THAT(audit.report(), IsEmpty());
}

}  // namespace
}  // namespace shoal::test
