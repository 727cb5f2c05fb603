#include "shared/ecs/events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "shared/ecs/schedule.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Damage {
  int points = 0;
  friend bool operator==(const Damage&, const Damage&) = default;
};

template <class T>
std::vector<T> read_all(const EventQueue<T>& queue) {
  const auto reading = queue.read();
  return {reading.begin(), reading.end()};
}

struct EventsTest : testing::Test {
  World world;
  Events events;
};

TEST_F(EventsTest, AreReadInTheOrderOfTheirPushesByEveryReaderOfTheTick) {
  auto& queue = events.add_queue<int>(world);
  queue.push(3);
  queue.push(1);
  EXPECT_THAT(read_all(queue), ElementsAre(3, 1));
  queue.emplace(2);
  EXPECT_THAT(read_all(queue), ElementsAre(3, 1, 2));
  EXPECT_EQ(&world.resources().get<EventQueue<int>>(), &queue);
}

TEST_F(EventsTest, AreMadeFromArgumentsAsComponentsAre) {
  auto& damage = events.add_queue<Damage>(world);
  auto& names = events.add_queue<std::string>(world);
  damage.emplace(5);
  names.emplace(std::size_t{3}, 'x');
  EXPECT_THAT(read_all(damage), ElementsAre(Damage{5}));
  EXPECT_THAT(read_all(names), ElementsAre("xxx"));
}

TEST_F(EventsTest, AreGoneAfterTheirTick) {
  auto& queue = events.add_queue<int>(world);
  queue.push(1);
  events.end_tick(world);
  EXPECT_THAT(read_all(queue), IsEmpty());
  queue.push(2);
  EXPECT_THAT(read_all(queue), ElementsAre(2));
}

TEST_F(EventsTest, PushedDuringAReadingBelongToTheNextTickAndComeFirstInIt) {
  auto& queue = events.add_queue<int>(world);
  queue.push(1);
  queue.push(2);
  std::vector<int> seen;
  for (const int event : queue.read()) {
    seen.push_back(event);
    for (int i = 0; i < 100; ++i) queue.push(event * 100 + i);  // enough to move any vector
  }
  EXPECT_THAT(seen, ElementsAre(1, 2));
  queue.push(3);
  EXPECT_THAT(read_all(queue), ElementsAre(1, 2, 3)) << "the rest of the tick";
  events.end_tick(world);
  queue.push(4);
  const std::vector<int> next = read_all(queue);
  ASSERT_EQ(next.size(), 201u);
  EXPECT_EQ(next.front(), 100);
  EXPECT_EQ(next[199], 299);
  EXPECT_EQ(next.back(), 4);
  events.end_tick(world);
  EXPECT_THAT(read_all(queue), IsEmpty());
}

TEST_F(EventsTest, PushedBetweenTwoReadingsOneInsideTheOtherWaitForTheOuterOne) {
  auto& queue = events.add_queue<int>(world);
  queue.push(1);
  {
    const auto outer = queue.read();
    EXPECT_EQ(queue.read().size(), 1u);
    queue.push(2);
    EXPECT_EQ(outer.size(), 1u);
    EXPECT_EQ(queue.read().size(), 1u);
  }
  events.end_tick(world);
  EXPECT_THAT(read_all(queue), ElementsAre(2));
}

TEST_F(EventsTest, LoopThatIsLeftEarlyEndsItsReading) {
  auto& queue = events.add_queue<int>(world);
  queue.push(1);
  for ([[maybe_unused]] const int event : queue.read()) break;
  queue.push(2);
  EXPECT_THAT(read_all(queue), ElementsAre(1, 2));
}

TEST_F(EventsTest, TheOrderOfSystemsDecidesWhoSeesAnEventInItsTick) {
  auto& queue = events.add_queue<int>(world);
  std::vector<std::string> told;
  const auto reader = [&](const char* name) {
    return [&, name](Registry&, Tick tick) {
      for (const int event : queue.read())
        told.push_back(name + std::to_string(tick.value) + ":" + std::to_string(event));
    };
  };
  Schedule schedule;
  schedule.add("before", reader("before"));
  schedule.add("write", [&](Registry&, Tick tick) { queue.push(static_cast<int>(tick.value) * 10); });
  schedule.add("after", reader("after"));
  for (std::uint32_t tick = 1; tick <= 2; ++tick) {
    schedule.run(world, Tick{tick});
    events.end_tick(world);
  }
  EXPECT_THAT(told, ElementsAre("after1:10", "after2:20"));
}

TEST_F(EventsTest, QueueThatWasErasedIsPassedOver) {
  events.add_queue<int>(world);
  auto& names = events.add_queue<std::string>(world);
  names.push("gone");
  world.resources().erase<EventQueue<int>>();
  events.end_tick(world);
  EXPECT_TRUE(names.read().empty());
}

TEST_F(EventsTest, ASteadyTickAllocatesNothing) {
  auto& queue = events.add_queue<int>(world);
  events.add_one_tick<Burning>(world);
  std::vector<Entity> entities;
  for (int i = 0; i < 100; ++i) entities.push_back(world.create());
  const auto tick = [&] {
    for (int i = 0; i < 100; ++i) queue.push(i);
    for (const int event : queue.read()) {
      if (event % 2 == 0) queue.push(event + 1);  // odd, so that it comes back once
    }
    for (const Entity entity : entities) world.emplace<Burning>(entity);
    events.end_tick(world);
    world.log().clear();
    world.clear_changes();
  };
  for (int i = 0; i < 10; ++i) tick();
  const std::size_t before = allocations_so_far();
  for (int i = 0; i < 100; ++i) tick();
  EXPECT_EQ(allocations_so_far() - before, 0u) << "allocations in 100 ticks";
}

struct OneTickTest : EventsTest {
  OneTickTest() {
    events.add_one_tick<Burning>(world);
    for (Entity& entity : entities) entity = world.create();
    connection = world.on_destroy<Burning>().connect_scoped(
        [this](Registry&, Entity entity) { ended.push_back(entity.index); });
  }
  Entity entities[4];
  std::vector<std::uint32_t> ended;
  ScopedConnection connection;
};

TEST_F(OneTickTest, LeavesEveryoneInTheOrderOfItsComingWithSignals) {
  world.emplace<Burning>(entities[2]);
  world.emplace<Burning>(entities[0]);
  world.emplace<Burning>(entities[1]);
  world.emplace<Health>(entities[1]);
  events.end_tick(world);
  EXPECT_THAT(ended, ElementsAre(2, 0, 1));
  EXPECT_TRUE(world.storage<Burning>().empty());
  EXPECT_TRUE(world.all_of<Health>(entities[1])) << "a component that was not added as one-tick";
}

TEST_F(OneTickTest, ComesToNothingInTheChangeLogOfItsTick) {
  world.log().clear();
  world.emplace<Burning>(entities[0]);
  events.end_tick(world);
  ChangeSummary summary;
  EXPECT_EQ(summary.summarize(world.log().entries()).size(), 0u);
}

TEST_F(OneTickTest, AddedToAnotherByAListenerStaysForTheNextTick) {
  world.emplace<Burning>(entities[0]);
  world.emplace<Burning>(entities[1]);
  // What is near catches fire; and somebody who burns is put out, so that the pool is stirred.
  const ScopedConnection listening =
      world.on_destroy<Burning>().connect_scoped([this](Registry& registry, Entity entity) {
        if (entity != entities[0]) return;
        registry.get_or_emplace<Burning>(entities[3]);
        registry.remove<Burning>(entities[1]);
      });
  events.end_tick(world);
  EXPECT_THAT(ended, ElementsAre(0, 1));
  EXPECT_TRUE(world.all_of<Burning>(entities[3]));
  EXPECT_EQ(world.storage<Burning>().size(), 1u);
  events.end_tick(world);
  EXPECT_THAT(ended, ElementsAre(0, 1, 3));
  EXPECT_TRUE(world.storage<Burning>().empty());
}

TEST_F(OneTickTest, AddedAgainToOneWhoHadItsTurnStaysForTheNextTick) {
  for (const Entity entity : entities) world.emplace<Burning>(entity);
  const ScopedConnection listening =
      world.on_destroy<Burning>().connect_scoped([this](Registry& registry, Entity entity) {
        if (entity == entities[1]) registry.emplace<Burning>(entities[0]);
      });
  events.end_tick(world);
  EXPECT_THAT(ended, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(world.all_of<Burning>(entities[0]));
  EXPECT_EQ(world.storage<Burning>().size(), 1u);
}

TEST_F(OneTickTest, AddedAgainToOneWhoseTurnIsToComeGoesInThisTick) {
  for (const Entity entity : entities) world.emplace<Burning>(entity);
  const ScopedConnection listening =
      world.on_destroy<Burning>().connect_scoped([this](Registry& registry, Entity entity) {
        if (entity != entities[0]) return;
        registry.remove<Burning>(entities[3]);
        registry.emplace<Burning>(entities[3]);
      });
  events.end_tick(world);
  EXPECT_THAT(ended, ElementsAre(0, 3, 1, 2, 3));
  EXPECT_TRUE(world.storage<Burning>().empty());
}

TEST_F(OneTickTest, HolderThatAListenerDestroysIsPassedOver) {
  for (const Entity entity : entities) world.emplace<Burning>(entity);
  const ScopedConnection listening =
      world.on_destroy<Burning>().connect_scoped([this](Registry& registry, Entity entity) {
        if (entity != entities[0]) return;
        registry.destroy(entities[0]);
        registry.destroy(entities[2]);
        const Entity reborn = registry.create();  // perhaps with an index of the dead
        registry.emplace<Burning>(reborn);
      });
  events.end_tick(world);
  EXPECT_THAT(ended, ElementsAre(0, 2, 1, 3));
  EXPECT_EQ(world.storage<Burning>().size(), 1u) << "the one that was born meanwhile";
  EXPECT_FALSE(world.alive(entities[0]));
}

TEST_F(OneTickTest, EventThatAListenerPushesIsOfTheNextTick) {
  auto& queue = events.add_queue<int>(world);
  const ScopedConnection listening =
      world.on_destroy<Burning>().connect_scoped([&](Registry&, Entity) { queue.push(7); });
  world.emplace<Burning>(entities[0]);
  queue.push(1);
  events.end_tick(world);
  EXPECT_THAT(read_all(queue), ElementsAre(7));
}

TEST_F(OneTickTest, TypesGoInTheOrderOfTheirAdding) {
  events.add_one_tick<Position>(world);
  std::optional<bool> burning;
  const ScopedConnection listening = world.on_destroy<Position>().connect_scoped(
      [&](Registry& registry, Entity entity) { burning = registry.all_of<Burning>(entity); });
  world.emplace<Position>(entities[0]);
  world.emplace<Burning>(entities[0]);
  events.end_tick(world);
  EXPECT_EQ(burning, false) << "Burning was added first";
}

using EventsDeathTest = OneTickTest;

TEST_F(EventsDeathTest, TickThatEndsDuringAReading) {
  auto& queue = events.add_queue<int>(world);
  const auto reading = queue.read();
  EXPECT_DEATH(events.end_tick(world), "while somebody reads it");
}

TEST_F(EventsDeathTest, TickThatEndsInsideItsEnd) {
  world.emplace<Burning>(entities[0]);
  const ScopedConnection listening =
      world.on_destroy<Burning>().connect_scoped([this](Registry&, Entity) { events.end_tick(world); });
  EXPECT_DEATH(events.end_tick(world), "from a listener");
}

TEST_F(EventsDeathTest, QueueOrTypeAddedTwice) {
  events.add_queue<int>(world);
  EXPECT_DEATH(events.add_queue<int>(world), "already");
  EXPECT_DEATH(events.add_one_tick<Burning>(world), "add_one_tick of test.Burning twice");
}

}  // namespace
}  // namespace shoal::test
