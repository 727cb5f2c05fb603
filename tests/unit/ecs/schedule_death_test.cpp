// What the schedule refuses, each time with the names of those concerned and with the remedy.
#include <gtest/gtest.h>

#include "shared/ecs/schedule.hpp"
#include "shared/ecs/thread_pool_executor.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

struct Score {
  int points = 0;
};
struct Unregistered {
  int value = 0;
};

struct ScheduleDeathTest : testing::Test {
  ScheduleDeathTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    entity = world.create();
    world.emplace<Position>(entity);
    world.emplace<Health>(entity);
    world.resources().emplace<Score>();
  }
  void run() { schedule.run(world, Tick{1}); }

  World world;
  Schedule schedule;
  Entity entity;
};

// --- the order

TEST_F(ScheduleDeathTest, TwoSystemsWithOneName) {
  schedule.add("move", [](Registry&, Tick) {});
  EXPECT_DEATH(schedule.add("move", [](Registry&, Tick) {}), "two systems have the name \"move\"");
}

TEST_F(ScheduleDeathTest, CircleIsNamedWhole) {
  schedule.add("outside", [](Tick) {});
  schedule.add("a", [](Tick) {}).after("outside").before("b");
  schedule.add("b", [](Tick) {}).before("c");
  schedule.add("c", [](Tick) {}).before("a");
  schedule.add("waits", [](Tick) {}).after("c");
  EXPECT_DEATH(schedule.build(world),
               "go round in a circle: \"a\" before \"b\" before \"c\" before \"a\"; take one");
}

TEST_F(ScheduleDeathTest, CircleOfOneAndCircleBehindWhoWaits) {
  Schedule one;
  one.add("a", [](Tick) {}).after("a");
  EXPECT_DEATH(one.build(world), "circle: \"a\" before \"a\"");
  schedule.add("waits", [](Tick) {}).after("b");
  schedule.add("a", [](Tick) {}).after("b");
  schedule.add("b", [](Tick) {}).after("a");
  EXPECT_DEATH(schedule.build(world),
               "circle: (\"a\" before \"b\" before \"a\"|\"b\" before \"a\" before \"b\");");
}

TEST_F(ScheduleDeathTest, UnknownNameIsRefusedWithThoseThatThereAre) {
  schedule.add("move", [](Tick) {}).after("thnik");
  schedule.add("think", [](Tick) {});
  EXPECT_DEATH(schedule.build(world),
               "\"move\" is to run after \"thnik\", which there is not; systems are: move, think");
}

TEST_F(ScheduleDeathTest, ComponentThatTheRegistryHasNot) {
  schedule.add_each("count", [](const Unregistered&) {});
  EXPECT_DEATH(schedule.build(world),
               "\"count\" takes shoal::test::.*Unregistered, which the registry has not");
}

TEST_F(ScheduleDeathTest, RunOrAdditionFromInsideASystem) {
  schedule.add("again", [&](Registry&, Tick) { run(); });
  EXPECT_DEATH(run(), "run\\(\\) from inside a system");
  Schedule other;
  other.add("add", [&](Registry&, Tick) { other.add("late", [](Tick) {}); });
  EXPECT_DEATH(other.run(world, Tick{1}), "added while the systems run");
}

// --- access that was not declared

TEST_F(ScheduleDeathTest, ReadingAComponentThatWasNotDeclared) {
  schedule.add("look", [](Registry& registry, Tick) { registry.view<const Health>(); }).reads<Position>();
  EXPECT_DEATH(run(),
               "\"look\" reads test.Health, which it did not declare: take it as a parameter, or add .reads");
}

TEST_F(ScheduleDeathTest, WritingAComponentThatWasNotDeclared) {
  schedule.add("look", [](Registry& registry, Tick) { registry.view<Health>(); }).reads<Position>();
  EXPECT_DEATH(run(), "\"look\" takes test.Health for writing, which it declared not at all: add .writes");
}

TEST_F(ScheduleDeathTest, WritingAComponentThatWasDeclaredForReading) {
  const auto dies = [&](auto access) {
    Schedule one;
    Schedule::Handle look = one.add("look", [&](Registry& registry, Tick) { access(registry); });
    look.reads<Health, Position>();
    EXPECT_DEATH(one.run(world, Tick{1}),
                 "\"look\" takes test.Health for writing, which it declared as read only");
  };
  dies([](Registry& registry) { registry.view<const Position, Health>(); });
  dies([&](Registry& registry) { registry.get<Health>(entity); });
  dies([&](Registry& registry) { registry.try_get<Health>(entity); });
  dies([&](Registry& registry) { registry.get<const Position, Health>(entity); });
  dies([&](Registry& registry) { registry.patch<Health>(entity, [](Health&) {}); });
  dies([&](Registry& registry) { registry.replace<Health>(entity); });
  dies([](Registry& registry) { registry.storage<Health>(); });
  dies([](Registry& registry) { registry.storage(registry.component_type<Health>()); });
  dies([](Registry& registry) { registry.on_update<Health>(); });
}

TEST_F(ScheduleDeathTest, AGroupIsWatchedTypeByTypeAsAViewIs) {
  World grouped({}, [](Registry& registry) {
    registry.declare_group<Position, Velocity>(observe<Health>, exclude<Name>);
  });
  const auto look = [&](auto access, bool knows_names = true) {
    Schedule one;
    Schedule::Handle handle = one.add("look", [&](Registry& registry, Tick) { access(registry); });
    handle.reads<Position, Health>().writes<Velocity>();
    if (knows_names) handle.reads<Name>();
    one.run(grouped, Tick{1});
  };
  const auto as_declared = [](Registry& registry) {
    registry.group<const Position, Velocity>(observe<const Health>, exclude<Name>);
  };
  look(as_declared);
  EXPECT_DEATH(look(as_declared, false), "\"look\" reads test.Name, which it did not declare");
  EXPECT_DEATH(look([](Registry& registry) {
                 registry.group<Position, Velocity>(observe<const Health>, exclude<Name>);
               }),
               "\"look\" takes test.Position for writing, which it declared as read only");
  EXPECT_DEATH(look([](Registry& registry) {
                 registry.group<const Position, Velocity>(observe<Health>, exclude<Name>);
               }),
               "\"look\" takes test.Health for writing, which it declared as read only");
}

TEST_F(ScheduleDeathTest, CapturedRegistryIsWatchedToo) {
  schedule.add("look", [&](ViewOf<const Position>) { world.get<Health>(entity); });
  EXPECT_DEATH(run(), "\"look\" takes test.Health for writing");
  Schedule other;
  other.add_each("each", [&](Entity at, const Position&) { world.get<const Health>(at); });
  EXPECT_DEATH(other.run(world, Tick{1}), "\"each\" reads test.Health");
}

TEST_F(ScheduleDeathTest, ResourceThatWasNotDeclared) {
  schedule.add("look", [&](Tick) { world.resources().get<const Score>(); });
  EXPECT_DEATH(run(),
               "\"look\" reads the resource shoal::test::.*Score, which it did not declare: take a Read<");
  Schedule other;
  other.add("write", [&](Read<Score>) { world.resources().get<Score>(); });
  EXPECT_DEATH(other.run(world, Tick{1}),
               "\"write\" takes the resource .*Score for writing, which it declared as read only");
}

TEST_F(ScheduleDeathTest, WhatWasDeclaredIsAllowedAndLookingIsNoWriting) {
  World other;  // of nobody's concern
  schedule
      .add("look",
           [&](Registry& registry, Tick) {
             registry.view<const Health>(exclude<Burning>);
             registry.view<Burning, Position>();  // a tag has nothing to write
             registry.get<const Health>(entity);
             registry.try_get<const Health>(entity);
             std::as_const(registry).storage<Health>();
             registry.all_of<Health>(entity);
             registry.resources().get<const Score>();
             other.emplace<Name>(other.create());
           })
      .reads<Health, Burning>()
      .writes<Position>()
      .reads_resource<Score>();
  run();
}

TEST_F(ScheduleDeathTest, EverythingIsAllowedAgainBetweenStagesAndInExclusiveSystems) {
  const ScopedConnection heard =
      world.on_update<Health>().connect_scoped([&](Registry& registry, Entity changed) {
        registry.emplace_or_replace<Burning>(changed);
        registry.resources().get<Score>().points += 1;
      });
  schedule.add("patch", [&](Pool<Health> pool) { pool.patch(entity, [](Health&) {}); });
  schedule.add("alone", [](Registry& registry, Tick) { registry.create(); });
  run();
  world.create();
  EXPECT_EQ(world.resources().get<Score>().points, 1);
  EXPECT_TRUE(world.all_of<Burning>(entity));
}

// --- structure inside a stage

TEST_F(ScheduleDeathTest, StructureChangesInsideAStage) {
  const auto dies = [&](auto change, const char* message) {
    Schedule one;
    Schedule::Handle rash = one.add("rash", [&](Registry& registry, Tick) { change(registry); });
    rash.writes<Health, Burning>();
    EXPECT_DEATH(one.run(world, Tick{1}), message);
  };
  dies([](Registry& registry) { registry.create(); },
       "\"rash\" calls create while other systems .*CommandBuffer");
  dies([](Registry& registry) { registry.create_exact({77, 1}); }, "\"rash\" calls create_exact while");
  dies([&](Registry& registry) { registry.destroy(entity); }, "\"rash\" calls destroy while");
  dies([&](Registry& registry) { registry.emplace<Burning>(entity); },
       "\"rash\" calls emplace of test.Burning while");
  dies([&](Registry& registry) { registry.remove<Health>(entity); },
       "\"rash\" calls remove of test.Health while");
  dies([](Registry& registry) { registry.sort<Health>([](Entity a, Entity b) { return a < b; }); },
       "\"rash\" calls sort of test.Health while");
  dies([](Registry& registry) { registry.clear_changes(); }, "\"rash\" calls clear_changes while");
  dies([](Registry& registry) { registry.shrink_to_fit(); }, "\"rash\" calls shrink_to_fit while");
  dies([](Registry& registry) { registry.storage<Health>().shrink_to_fit(); },
       "\"rash\" calls shrink_to_fit of test.Health while");
  dies([](Registry& registry) { registry.storage<Health>().reserve(1000); },
       "\"rash\" calls reserve of test.Health while");
  dies([](Registry& registry) { registry.reserve_entities(1000); }, "\"rash\" calls reserve_entities while");
  dies([](Registry& registry) { registry.resources().emplace<int>(5); }, "\"rash\" calls emplace of .*int");
}

TEST_F(ScheduleDeathTest, SortOfAGroupInsideAStage) {
  World grouped({}, [](Registry& registry) { registry.declare_group<Position, Velocity>(observe<Health>); });
  schedule
      .add("rash",
           [](Registry& registry, Tick) {
             registry.group<Position, Velocity>(observe<Health>).sort([](Entity a, Entity b) {
               return a < b;
             });
           })
      .writes<Position, Velocity, Health>();
  EXPECT_DEATH(
      schedule.run(grouped, Tick{1}),
      "\"rash\" calls sort of the group test.Position, test.Velocity with test.Health while other systems");
}

TEST_F(ScheduleDeathTest, StructureChangesOnAnotherThread) {
  for (std::uint32_t i = 0; i < 2 * kPieceValues; ++i) world.emplace<Position>(world.create());
  EXPECT_DEATH(
      {
        ThreadPoolExecutor threads(4);
        schedule.set_executor(&threads);
        schedule.add_each("rash", [&](Entity at, const Position&) { world.destroy(at); });
        run();
      },
      "\"rash\" calls destroy while other systems");
}

TEST_F(ScheduleDeathTest, ExceptionThatLeavesATask) {
  EXPECT_DEATH(
      {
        InlineExecutor executor;
        const auto fail = [](std::uint32_t) { throw 1; };
        executor.run(1, fail);
      },
      "terminate");
}

}  // namespace
}  // namespace shoal::test
