#include "shared/ecs/schedule.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "shared/ecs/events.hpp"
#include "shared/ecs/thread_pool_executor.hpp"
#include "tests/unit/ecs/schedule_fixture.hpp"

namespace shoal::test {

// Named in messages, hence in no anonymous namespace, which each compiler spells its own way.
struct Gravity {
  float strength = 0;
};
struct Score {
  int points = 0;
};

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// --- exclusive systems

TEST_F(ScheduleTest, ExclusiveSystemsRunInTheOrderOfAdding) {
  std::vector<std::string> ran;
  schedule.add("b", [&](Registry&, Tick tick) { ran.push_back(fmt::format("b{}", tick.value)); });
  schedule.add("a", [&](Registry&, Tick tick) { ran.push_back(fmt::format("a{}", tick.value)); });
  run(7);
  EXPECT_THAT(ran, ElementsAre("b7", "a7"));
  EXPECT_THAT(stages(), ElementsAre(0, 1));
}

TEST_F(ScheduleTest, CommandsOfAnExclusiveSystemAreAppliedWhenItEnds) {
  std::size_t seen = 0;
  schedule.add("spawn", [&](Registry& registry, Tick, CommandBuffer& commands) {
    commands.emplace<Position>(commands.create());
    EXPECT_EQ(registry.alive_count(), 0u);
  });
  schedule.add("count", [&](Registry& registry, Tick) { seen = registry.storage<Position>().size(); });
  run(0);
  EXPECT_EQ(seen, 1u);
  EXPECT_EQ(schedule.systems()[0].commands_done, 2u);
}

TEST_F(ScheduleTest, GenericFunctionsTakeTheRegistryAndTheTick) {
  int ran = 0;
  schedule.add("short", [&](auto& registry, Tick) { ran += registry.frozen(); });
  schedule.add("long", [&](auto&, auto, CommandBuffer&) { ++ran; });
  run();
  EXPECT_EQ(ran, 2);
  EXPECT_THAT(stages(), ElementsAre(0, 1)) << "they are exclusive";
}

TEST(ScheduleTime, IsTakenByTheClockThatItWasGiven) {
  World world;
  ManualClock clock;
  Schedule schedule(&clock);
  schedule.add("slow", [&](Registry&, Tick tick) { clock.advance(milliseconds(tick.value)); });
  schedule.add("fast", [](Registry&, Tick) {});
  schedule.run(world, Tick{5});
  schedule.run(world, Tick{3});
  const Schedule::System& slow = schedule.systems()[0];
  EXPECT_EQ(slow.runs, 2u);
  EXPECT_EQ(slow.last, milliseconds(3));
  EXPECT_EQ(slow.longest, milliseconds(5));
  EXPECT_EQ(slow.total, milliseconds(8));
  EXPECT_EQ(schedule.systems()[1].total, Duration{0});
}

TEST(ScheduleTime, OfASystemIsTheSumOfItsPiecesAndOfItsCommands) {
  World world;
  ManualClock clock;
  for (std::uint32_t i = 0; i < 2 * kPieceValues + 1; ++i) make(world, 1);
  const ScopedConnection heard =
      world.on_update<Health>().connect_scoped([&](Registry&, Entity) { clock.advance(milliseconds(1)); });
  Schedule schedule(&clock);
  schedule.add_each("heal", [&](SystemContext& context, Entity entity, Ref<Health> health) {
    if (entity.index % kPieceValues != 0) return;
    clock.advance(milliseconds(context.piece() + 1));
    health.patch([](Health& changed) { ++changed.current; });
  });
  schedule.run(world, Tick{1});
  EXPECT_EQ(schedule.systems()[0].pieces, 3u);
  EXPECT_EQ(schedule.systems()[0].last, milliseconds(1 + 2 + 3 + 3 * 1));
}

// --- access from the signature

void declared_by_signature(ViewOf<const Position, Velocity, Burning, Exclude<Name>> view,
                           Pool<const Health> pool, Read<Gravity> gravity, Write<Score> score, Tick,
                           CommandBuffer&, SystemContext&) {
  score->points += static_cast<int>(pool.size()) + static_cast<int>(gravity->strength);
  for (auto [entity, position, velocity] : view) velocity.dx = position.x;
}

std::string access_of(const Schedule::System& system, const Registry& registry) {
  std::string text;
  for (const AccessItem& item : system.access.items())
    text += fmt::format("{}{} ", item.mode == AccessMode::Write ? "+" : "", name_of(item, registry));
  return text;
}

TEST_F(ScheduleTest, SignatureSaysWhatIsReadAndWritten) {
  world.resources().emplace<Gravity>(3.0f);
  auto& score = world.resources().emplace<Score>();
  const Entity entity = make(world, 7);
  world.emplace<Velocity>(entity);
  world.emplace<Burning>(entity);
  schedule.add("system", declared_by_signature);
  run();
  EXPECT_EQ(access_of(schedule.systems()[0], world),
            "test.Position +test.Velocity test.Burning test.Name test.Health "
            "shoal::test::Gravity +shoal::test::Score ");
  EXPECT_EQ(world.get<const Velocity>(entity).dx, 7);
  EXPECT_EQ(score.points, 1 + 3);
}

TEST_F(ScheduleTest, SignatureOfASystemPerEntitySaysWhatIsReadAndWritten) {
  schedule.add_each("system", [](Entity, Position&, const Velocity&, Ref<Health>, const Name*, With<Burning>,
                                 Without<Local>, Tick) {});
  run();
  EXPECT_EQ(access_of(schedule.systems()[0], world),
            "+test.Position test.Velocity +test.Health test.Name test.Burning shoal.Local ");
}

TEST_F(ScheduleTest, DeclaredAccessLetsASystemWithTheRegistryRunBesideOthers) {
  const Entity entity = make(world, 1);
  const auto move = [](Registry& registry, Tick) {
    for (auto [mover, position] : registry.view<Position>()) position.x += 1;
  };
  schedule.add("alone", move);
  schedule.add("declared", move).writes<Position>();
  schedule.add("beside", [](Registry& registry, Tick) { registry.view<Health>(); })
      .writes<Health>()
      .reads<Burning>();
  EXPECT_THAT(stages(), ElementsAre(0, 1, 1));
  run();
  EXPECT_EQ(world.get<const Position>(entity).x, 3);
}

// --- stages

TEST_F(ScheduleTest, SystemsInARowThatDoNotConflictShareAStage) {
  schedule.add("read a", [](ViewOf<const Position>) {});
  schedule.add("read b", [](ViewOf<const Position>, ViewOf<const Health>) {});
  schedule.add("write", [](ViewOf<Velocity>) {});
  EXPECT_THAT(stages(), ElementsAre(0, 0, 0));
}

TEST_F(ScheduleTest, WriterComesAfterReadersAndBeforeThem) {
  schedule.add("read", [](ViewOf<const Position>) {});
  schedule.add("write", [](ViewOf<Position>) {});
  schedule.add("write again", [](ViewOf<Position>) {});
  schedule.add("read again", [](ViewOf<const Velocity, Exclude<Position>>) {});
  EXPECT_THAT(stages(), ElementsAre(0, 1, 2, 3));
}

TEST_F(ScheduleTest, ResourcesConflictAsComponentsDo) {
  world.resources().emplace<Score>();
  world.resources().emplace<Gravity>();
  schedule.add("read", [](Read<Score>) {});
  schedule.add("read other", [](Write<Gravity>) {});
  schedule.add("write", [](Write<Score>) {});
  schedule.add("declared", [](Tick) {}).reads_resource<Score>();
  EXPECT_THAT(stages(), ElementsAre(0, 0, 1, 2));
}

TEST_F(ScheduleTest, ConstRegistryReadsEverything) {
  std::size_t seen = 0;
  schedule.add("look", [&](const Registry& registry) { seen = registry.storage<Position>().size(); });
  schedule.add("look too", [](const Registry& registry) { registry.view<Health>().empty(); });
  schedule.add("write", [](ViewOf<Burning, Position>) {});
  make(world, 1);
  EXPECT_THAT(stages(), ElementsAre(0, 0, 1));
  run();
  EXPECT_EQ(seen, 1u);
}

TEST_F(ScheduleTest, StageDoesNotJumpOverAnEarlierSystem) {
  // What "late" records would else be applied before "middle" runs, which was added before it.
  schedule.add("write", [](ViewOf<Position>) {});
  schedule.add("middle", [](ViewOf<const Position>) {});
  schedule.add("late", [](CommandBuffer&) {});
  EXPECT_THAT(stages(), ElementsAre(0, 1, 1));
}

TEST_F(ScheduleTest, BeforeAndAfterChangeTheOrderAndCutStages) {
  std::vector<std::string> ran;
  const auto note = [&](const char* name) { return [&ran, name](Tick) { ran.push_back(name); }; };
  schedule.add("a", note("a")).after("c");
  schedule.add("b", note("b"));
  schedule.add("c", note("c"));
  schedule.add("d", note("d")).before("b");
  EXPECT_THAT(stages(), ElementsAre(1, 2, 0, 1));
  run();
  EXPECT_THAT(ran, ElementsAre("c", "a", "d", "b"));
}

TEST_F(ScheduleTest, SystemAddedLaterIsPartOfTheNextRun) {
  int ran = 0;
  schedule.add("one", [&](Tick) { ++ran; });
  run();
  schedule.add("two", [&](Tick) { ++ran; });
  run();
  EXPECT_EQ(ran, 3);
}

// --- what happens inside a stage waits for its end

TEST_F(ScheduleTest, NobodySeesCommandsOfItsOwnStage) {
  make(world, 1);
  std::vector<std::size_t> seen;
  schedule.add("spawn", [](CommandBuffer& commands) { commands.emplace<Health>(commands.create()); });
  schedule.add("beside", [&](ViewOf<const Health> view) { seen.push_back(view.size_hint()); });
  schedule.add("later", [&](ViewOf<const Health> view) { seen.push_back(view.size_hint()); }).after("spawn");
  EXPECT_THAT(stages(), ElementsAre(0, 0, 1));
  run();
  EXPECT_THAT(seen, ElementsAre(1, 2));
}

TEST_F(ScheduleTest, DeclaringWhatItsCommandsGiveMakesLaterSystemsSeeIt) {
  std::size_t seen = 0;
  schedule.add("spawn", [](CommandBuffer& commands) { commands.emplace<Health>(commands.create()); })
      .writes<Health>();
  schedule.add("later", [&](ViewOf<const Health> view) { seen = view.size_hint(); });
  run();
  EXPECT_EQ(seen, 1u);
}

TEST_F(ScheduleTest, PatchChangesTheValueAtOnceAndSignalsAtTheEndOfTheStage) {
  const Entity entity = make(world, 1);
  tick_over(world);
  std::vector<std::string> happened;
  const ScopedConnection heard =
      world.on_update<Health>().connect_scoped([&](Registry& registry, Entity changed) {
        happened.push_back(fmt::format("heard {}", registry.get<const Health>(changed).current));
        registry.remove<Health>(changed);  // structure is free again
      });
  schedule.add("patch", [&](Pool<Health> pool) {
    pool.patch(entity, [](Health& health) { health.current = 11; });
    happened.push_back(fmt::format("is {}", pool.get(entity).current));
  });
  schedule.add("beside", [&](Tick) { happened.push_back("beside"); });
  run();
  EXPECT_THAT(happened, ElementsAre("is 11", "beside", "heard 11"));
  EXPECT_FALSE(world.all_of<Health>(entity));
}

TEST_F(ScheduleTest, PatchAndReplaceByTheRegistryWaitToo) {
  const Entity entity = make(world, 1);
  int heard = 0;
  const ScopedConnection connection =
      world.on_update<Health>().connect_scoped([&](Registry&, Entity) { ++heard; });
  schedule
      .add("patch",
           [&](Registry& registry, Tick) {
             registry.patch<Health>(entity, [](Health& health) { health.current = 11; });
             registry.replace<Health>(entity, std::uint16_t{12}, std::uint16_t{13});
             EXPECT_EQ(heard, 0);
           })
      .writes<Health>();
  run();
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(world.get<const Health>(entity).current, 12);
}

TEST_F(ScheduleTest, SignalsAndCommandsComeInTheOrderOfSystemPieceAndRecord) {
  // Three pieces; in each a few entities do something.
  for (std::uint32_t i = 0; i < 2 * kPieceValues + 10; ++i) make(world, 1);
  std::vector<std::string> happened;
  const ScopedConnection updates = world.on_update<Health>().connect_scoped(
      [&](Registry&, Entity entity) { happened.push_back(fmt::format("health {}", entity.index)); });
  const ScopedConnection burns = world.on_construct<Burning>().connect_scoped(
      [&](Registry&, Entity entity) { happened.push_back(fmt::format("burns {}", entity.index)); });
  schedule.add_each("first", [](Entity entity, Ref<Health> health, CommandBuffer& commands) {
    if (entity.index % kPieceValues != 5) return;
    commands.emplace<Burning>(entity);
    health.patch([](Health& changed) { ++changed.current; });
  });
  schedule.add_each("second", [](Entity entity, const Position&, CommandBuffer& commands) {
    if (entity.index % kPieceValues == 7) commands.emplace<Burning>(entity);
  });
  ThreadPoolExecutor threads(4);
  schedule.set_executor(&threads);
  EXPECT_THAT(stages(), ElementsAre(0, 0));
  run();
  EXPECT_THAT(happened, ElementsAre("burns 5", "health 5", "burns 1029", "health 1029", "burns 2053",
                                    "health 2053", "burns 7", "burns 1031", "burns 2055"));
}

TEST_F(ScheduleTest, UpdateOfWhatAnEarlierCommandTookAwayIsSkipped) {
  const Entity destroyed = make(world, 1), without = make(world, 2);
  int heard = 0;
  const ScopedConnection connection =
      world.on_update<Health>().connect_scoped([&](Registry&, Entity) { ++heard; });
  schedule.add("take away", [&](CommandBuffer& commands) {
    commands.destroy(destroyed);
    commands.remove<Health>(without);
  });
  schedule.add("patch", [&](Pool<Health> pool) {
    for (const Entity entity : {destroyed, without})
      pool.patch(entity, [](Health& health) { ++health.current; });
  });
  run();
  EXPECT_EQ(heard, 0);
  EXPECT_EQ(schedule.systems()[1].commands_skipped, 2u);
}

TEST_F(ScheduleTest, EventsAreSentThroughCommandsAndReadByManyAtOnce) {
  Events events;
  events.add_queue<int>(world);
  std::vector<int> one, other;
  schedule.add("send", [](CommandBuffer& commands) { commands.push_event<int>(7); });
  schedule.add("send more", [](CommandBuffer& commands) { commands.push_event<int>(8); });
  const auto read_into = [](std::vector<int>& target) {
    return [&target](Read<EventQueue<int>> queue) {
      for (const int event : queue->read()) target.push_back(event);
    };
  };
  schedule.add("read", read_into(one)).after("send");
  schedule.add("read too", read_into(other));
  EXPECT_THAT(stages(), ElementsAre(0, 0, 1, 1));
  run();
  EXPECT_THAT(one, ElementsAre(7, 8));
  EXPECT_THAT(other, ElementsAre(7, 8));
}

TEST_F(ScheduleTest, EventWithoutItsQueueIsSkipped) {
  schedule.add("send", [](CommandBuffer& commands) { commands.push_event<int>(7); });
  run();
  EXPECT_EQ(schedule.systems()[0].commands_skipped, 1u);
}

// --- exceptions

TEST_F(ScheduleTest, FirstExceptionOfAStageLeavesItAndNothingOfTheStageIsApplied) {
  for (std::uint32_t i = 0; i < 3 * kPieceValues; ++i) make(world, 1);
  std::atomic<int> ran = 0;
  bool throws = true;
  schedule.add("spawn", [&](CommandBuffer& commands) { commands.create(); });
  schedule.add_each("fail", [&](SystemContext& context, Entity entity, const Position&) {
    if (throws && entity.index % kPieceValues == 9)
      throw std::runtime_error(fmt::format("piece {}", context.piece()));
  });
  schedule.add("beside", [&](Tick) { ++ran; });
  schedule.add("later", [&](Registry&, Tick) { ++ran; });
  ThreadPoolExecutor threads(4);
  schedule.set_executor(&threads);
  try {
    run();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "piece 0");
  }
  EXPECT_EQ(ran, 1) << "the others of the stage ended, the later stages did not run";
  EXPECT_EQ(world.alive_count(), 3 * kPieceValues);
  throws = false;
  run();
  EXPECT_EQ(world.alive_count(), 3 * kPieceValues + 1) << "what was recorded before is forgotten";
  EXPECT_EQ(ran, 3);
}

// --- the graph

TEST_F(ScheduleTest, GraphShowsStagesAccessAndReasons) {
  world.resources().emplace<Score>();
  schedule.add("move", [](ViewOf<Position, const Velocity>) {});
  schedule.add("score", [](Write<Score>, ViewOf<const Health>) {}).after("move");
  schedule.add("draw \"all\"", [](ViewOf<const Position>) {});
  schedule.add("bury", [](Registry&, Tick) {});
  const std::string dot = schedule.dot(world);
  EXPECT_THAT(dot, testing::StartsWith("digraph schedule {\n"));
  EXPECT_THAT(dot, HasSubstr("s0 [label=\"move\\nwrites test.Position\\nreads test.Velocity\"]"));
  EXPECT_THAT(dot, HasSubstr("s2 [label=\"draw \\\"all\\\"\\nreads test.Position\"]"));
  EXPECT_THAT(dot, HasSubstr("s3 [label=\"bury\\neverything, alone\"]"));
  EXPECT_THAT(dot, HasSubstr("s0 -> s1 [label=\"stated\", style=bold]"));
  EXPECT_THAT(dot, HasSubstr("s0 -> s2 [label=\"test.Position\"]"));
  EXPECT_THAT(dot, HasSubstr("s1 -> s3 [label=\"everything\"]"));
  EXPECT_THAT(dot, testing::Not(HasSubstr("s0 -> s3"))) << "it follows from the others";
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_2 {"));
  EXPECT_THAT(dot, testing::EndsWith("}\n"));
}

}  // namespace
}  // namespace shoal::test
