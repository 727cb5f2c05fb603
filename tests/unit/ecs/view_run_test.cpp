// Loops over pools that are aligned in some stretches and not in others: whatever happens to the entity at hand, at the
// first, the middle and the last place of a stretch, in any pool of the view, everyone is visited once.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

constexpr std::uint32_t kLengths[] = {1, 7, 8, 9, 63, 64, 65, 3000, 8, 1};

/// Position, Velocity and Name in stretches of kLengths that are aligned, with an entity that has only a position behind
/// each. `marked` are the first, the middle and the last of each stretch.
struct RunWorld : World {
  RunWorld() {
    for (const std::uint32_t length : kLengths) {
      const std::size_t first = matching.size();
      for (std::uint32_t i = 0; i < length; ++i) matching.push_back(create());
      for (std::size_t i = first; i < matching.size(); ++i) put(matching[i]);
      marked.insert({matching[first], matching[first + length / 2], matching.back()});
      emplace<Position>(create(), -1.0f, 0.0f);
    }
    clear_changes();
  }
  void put(Entity entity) {
    get_or_emplace<Position>(entity, static_cast<float>(entity.index), 0.0f);
    get_or_emplace<Velocity>(entity, static_cast<float>(entity.index), 0.0f);
    get_or_emplace<Name>(entity, std::to_string(entity.index));
  }
  std::vector<Entity> matching;
  std::set<Entity> marked;
};

struct Action {
  const char* name;
  std::function<void(RunWorld&, Entity)> act;
};
template <class T>
void take_and_put_back(RunWorld& world, Entity entity) {
  world.remove<T>(entity);
  world.put(entity);
}
const Action kActions[] = {
    {"nothing", [](RunWorld&, Entity) {}},
    {"destroy", [](RunWorld& world, Entity e) { world.destroy(e); }},
    {"remove the first", [](RunWorld& world, Entity e) { world.remove<Position>(e); }},
    {"remove the second", [](RunWorld& world, Entity e) { world.remove<Velocity>(e); }},
    {"remove the third", [](RunWorld& world, Entity e) { world.remove<Name>(e); }},
    {"take off and put back the first", take_and_put_back<Position>},
    {"take off and put back the second", take_and_put_back<Velocity>},
    {"take off and put back the third", take_and_put_back<Name>},
    {"take off and put back all",
     [](RunWorld& world, Entity e) {
       world.remove<Name>(e);
       world.remove<Velocity>(e);
       take_and_put_back<Position>(world, e);
     }},
    {"add to another pool", [](RunWorld& world, Entity e) { world.get_or_emplace<Health>(e); }},
    {"create, with what the view has not",
     [](RunWorld& world, Entity) {
       world.emplace<Health>(world.create(), Health{1, 1});
     }},
    {"make room",
     [](RunWorld& world, Entity) {
       world.storage<Name>().reserve(world.storage<Name>().capacity() + 1);
       world.storage<Position>().reserve(world.storage<Position>().capacity() + 1);
     }},
    {"shrink", [](RunWorld& world, Entity) { world.shrink_to_fit(); }},
};

// R6
TEST(ViewRun, EveryoneIsVisitedOnceWhateverHappensToTheEntityAtHand) {
  for (const Action& action : kActions) {
    for (const bool use_each : {true, false}) {
      for (int leader = 0; leader < 3; ++leader) {
        RunWorld world;
        std::map<Entity, int> visits;
        const auto visit = [&](Entity entity, Position& position, const Velocity& velocity,
                               const Name& name) {
          ++visits[entity];
          EXPECT_EQ(position.x, static_cast<float>(entity.index));
          EXPECT_EQ(velocity.dx, static_cast<float>(entity.index));
          EXPECT_EQ(name.text, std::to_string(entity.index));
          position.y = 1;
          if (world.marked.contains(entity)) action.act(world, entity);
        };
        const auto loop = [&](const auto& view) {
          if (use_each) {
            view.each(visit);
          } else {
            for (auto&& item : view) std::apply(visit, item);
          }
        };
        const auto view = world.view<Position, const Velocity, const Name>();
        if (leader == 0) loop(view.led_by<Position>());
        if (leader == 1) loop(view.led_by<Velocity>());
        if (leader == 2) loop(view.led_by<Name>());
        ASSERT_EQ(visits.size(), world.matching.size()) << action.name << ", led by " << leader;
        std::set<std::uint32_t> reported;
        world.storage<Position>().for_each_possibly_changed(
            [&](std::uint32_t index, const void*) { reported.insert(index); });
        for (const Entity entity : world.matching) {
          ASSERT_EQ(visits[entity], 1) << action.name << ", led by " << leader << ", entity " << entity.index
                                       << (use_each ? ", each" : ", range-for");
          if (world.all_of<Position>(entity)) {
            ASSERT_TRUE(reported.contains(entity.index)) << action.name << ": a write was lost";
          }
        }
      }
    }
  }
}

// R6
TEST(ViewRun, EntitiesThatAreAddedToOtherPoolsDuringTheLoopDoNotDisturbIt) {
  for (const bool use_each : {true, false}) {
    RunWorld world;
    std::size_t visits = 0;
    const auto visit = [&](Entity entity, const Velocity& velocity, const Name& name) {
      EXPECT_EQ(velocity.dx, static_cast<float>(entity.index));
      EXPECT_EQ(name.text, std::to_string(entity.index));
      ++visits;
      if (!world.marked.contains(entity)) return;
      for (int i = 0; i < 100; ++i) world.emplace<Name>(world.create(), "grows and moves");
      world.destroy(world.entity_at(static_cast<std::uint32_t>(world.alive_count()) - 1));
    };
    const auto view = world.view<const Velocity, const Name>().led_by<Velocity>();
    if (use_each) {
      view.each(visit);
    } else {
      for (auto&& item : view) std::apply(visit, item);
    }
    EXPECT_EQ(visits, world.matching.size());
  }
}

// R6: whoever is excluded before its turn comes is not visited, also when nobody was excluded as the loop began.
TEST(ViewRun, WhoIsExcludedDuringTheLoopIsNotVisited) {
  for (const bool use_each : {true, false}) {
    World world;
    for (int i = 0; i < 500; ++i) {
      const Entity entity = world.create();
      world.emplace<Position>(entity);
      world.emplace<Velocity>(entity);
    }
    std::set<std::uint32_t> visited;
    const auto visit = [&](Entity entity, const Position&, const Velocity&) {
      EXPECT_TRUE(visited.insert(entity.index).second);
      EXPECT_FALSE(world.all_of<Burning>(entity)) << entity.index;
      if (entity.index == 20) world.emplace<Burning>(entity);
      if (entity.index == 100) world.emplace<Burning>(world.entity_at(300));
    };
    const auto view = world.view<const Position, const Velocity>(exclude<Burning>);
    if (use_each) {
      view.each(visit);
    } else {
      for (auto&& item : view) std::apply(visit, item);
    }
    EXPECT_EQ(visited.size(), 499u);
    EXPECT_FALSE(visited.contains(300));
  }
}

// R6
TEST(ViewRun, ThePoolMayBeGivenRoomOrShrunkWhileItIsVisited) {
  for (const bool use_each : {true, false}) {
    World world;
    std::vector<Entity> entities(5000);
    world.create(entities);
    world.insert<Burning>(entities);  // a tag: nothing but the list of indices moves
    world.insert<Position>(entities);
    std::set<std::uint32_t> visited;
    const auto visit = [&](Entity entity) {
      EXPECT_TRUE(visited.insert(entity.index).second) << entity.index;
      if (entity.index == 10) world.shrink_to_fit();
      if (entity.index == 20) world.storage<Burning>().reserve(100'000);
      if (entity.index == 30) world.storage<Burning>().shrink_to_fit();
      if (entity.index == 40) world.insert<Burning>({});
    };
    if (use_each) {
      world.view<Burning>().each([&](Entity entity) { visit(entity); });
    } else {
      for (auto [entity] : world.view<Burning>()) visit(entity);
    }
    EXPECT_EQ(visited.size(), 5000u);
  }
}

TEST(ViewRun, RangeForMayEndEarlyAndGoesOnWhereItIs) {
  RunWorld world;
  const auto view = world.view<const Position, const Velocity>();
  auto it = view.begin();
  std::size_t visits = 0;
  for (; visits < 50; ++visits, ++it) ASSERT_FALSE(it == view.end());
  const Entity at_hand = std::get<0>(*it);
  EXPECT_EQ(std::get<0>(*it), at_hand) << "looking does not move it";
  for (; it != view.end(); it++) ++visits;
  EXPECT_EQ(visits, world.matching.size());
}

}  // namespace
}  // namespace shoal::test
