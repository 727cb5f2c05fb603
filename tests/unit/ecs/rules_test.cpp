// The tables of docs/ecs.md, executed. A test of the suite Rules has the name of a row of "What is allowed when" and
// goes through the columns; one of WhatEnds has the name of a row of "What ends references". tests/tools/ecs_page_test.py
// compares the names.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

#include "shared/ecs/schedule.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {

struct Anchored {  // with stable addresses
  std::uint32_t index = 0;
};

}  // namespace shoal::test

template <>
inline constexpr bool shoal::kStableAddress<shoal::test::Anchored> = true;

namespace shoal::test {
namespace {

struct Speed {
  float value = 0;
};
struct Mass {
  float value = 0;
};
struct Frozen {};  // out of the group

constexpr std::uint32_t kEntities = 100;

/// Entities 0 to 99 have Position, Velocity, Speed and Mass, the even ones Health. 100 to 109 have Health alone, 110 to
/// 119 Speed alone. The group has the first hundred. Position and Velocity are aligned in the first sixty only, so loops
/// go both ways.
struct RulesWorld : Registry {
  RulesWorld() {
    register_component<Position>("test.Position");
    register_component<Velocity>("test.Velocity");
    register_component<Health>("test.Health");
    register_component<Burning>("test.Burning");
    register_component<Speed>("test.Speed");
    register_component<Mass>("test.Mass");
    register_component<Frozen>("test.Frozen");
    register_component<Anchored>("test.Anchored");
    declare_group<Speed, Mass>(observe<>, exclude<Frozen>);
    freeze();
    for (std::uint32_t i = 0; i < kEntities; ++i) {
      const Entity entity = create();
      emplace<Position>(entity, static_cast<float>(i), 0.0f);
      emplace<Speed>(entity);
      emplace<Mass>(entity);
      if (i % 2 == 0) emplace<Health>(entity);
      if (i < 60) emplace<Velocity>(entity);
    }
    for (std::uint32_t i = kEntities; i-- > 60;) emplace<Velocity>(first(i));
    for (int i = 0; i < 10; ++i) emplace<Health>(create());
    for (int i = 0; i < 10; ++i) emplace<Speed>(create());
  }
  /// The first one that had this index.
  static Entity first(std::uint32_t index) { return {index, 1}; }
  auto speeds() { return group<Speed, Mass>(observe<>, exclude<Frozen>); }
};

using Change = std::function<void(RulesWorld&, Entity)>;

Entity another_than(Entity entity) {
  return RulesWorld::first((entity.index + 37) % kEntities);
}

/// Who was there and stays must be visited once, who leaves once at most, who comes not at all.
template <class Contains>
void expect_each_once(const std::vector<int>& visits, Contains contains) {
  for (std::uint32_t i = 0; i < kEntities; ++i) {
    EXPECT_LE(visits[i], 1) << i;
    if (contains(RulesWorld::first(i))) {
      EXPECT_EQ(visits[i], 1) << i;
    }
  }
}

// --- The columns

void in_view_loop(const Change& change) {
  for (const bool use_each : {true, false}) {
    SCOPED_TRACE(use_each ? "view, each" : "view, range-for");
    RulesWorld world;
    std::vector<int> visits(kEntities);
    const auto view = world.view<Position, Velocity>();  // Position leads: of two equal ones the first
    const auto visit = [&](Entity entity) {
      ++visits.at(entity.index);
      change(world, entity);
    };
    if (use_each) {
      view.each([&](Entity entity, Position&, Velocity&) { visit(entity); });
    } else {
      for (auto [entity, position, velocity] : view) visit(entity);
    }
    expect_each_once(visits, [&](Entity entity) { return view.contains(entity); });
  }
}
void in_group_each(const Change& change) {
  SCOPED_TRACE("group.each");
  RulesWorld world;
  std::vector<int> visits(kEntities);
  const auto group = world.speeds();
  group.each([&](Entity entity, Speed&, Mass&) {
    ++visits.at(entity.index);
    change(world, entity);
  });
  expect_each_once(visits, [&](Entity entity) { return group.contains(entity); });
}

enum class Moment { OnConstruct, OnUpdate, OnDestroyOfOne, OnDestroyOfAll };
constexpr Moment kMoments[] = {Moment::OnConstruct, Moment::OnUpdate, Moment::OnDestroyOfOne,
                               Moment::OnDestroyOfAll};

using Check = std::function<void(RulesWorld&, Entity, Moment)>;

/// The change is made by a listener of Position of entity 4; then `check` is called.
void in_signal(Moment moment, const Change& change, const Check& check = {}) {
  SCOPED_TRACE(testing::Message() << "moment " << static_cast<int>(moment));
  RulesWorld world;
  const Entity entity = RulesWorld::first(4);
  if (moment == Moment::OnConstruct) world.remove<Position>(entity);
  int heard = 0;
  const auto listener = [&](Registry&, Entity who) {
    if (who == entity && ++heard == 1) change(world, entity);
  };
  ScopedConnection connection;
  switch (moment) {
    case Moment::OnConstruct:
      connection = world.on_construct<Position>().connect_scoped(listener);
      world.emplace<Position>(entity).x =
          5;  // also when a listener took it: some value that belongs to nobody
      break;
    case Moment::OnUpdate:
      connection = world.on_update<Position>().connect_scoped(listener);
      world.patch<Position>(entity, [](Position& position) { position.x = 5; });
      break;
    case Moment::OnDestroyOfOne:
      connection = world.on_destroy<Position>().connect_scoped(listener);
      world.remove<Position>(entity);
      break;
    case Moment::OnDestroyOfAll:
      connection = world.on_destroy<Position>().connect_scoped(listener);
      world.destroy(entity);
      EXPECT_FALSE(world.alive(entity));
      break;
  }
  EXPECT_GE(heard, 1);
  if (check) check(world, entity, moment);
}
void in_signals(const Change& change, const Check& check = {}) {
  for (const Moment moment : kMoments) in_signal(moment, change, check);
}

/// A system that declares every type and so runs beside others. Entity 4 is at hand.
void in_parallel_system(const Change& change) {
  SCOPED_TRACE("parallel system");
  RulesWorld world;
  Schedule schedule;
  Schedule::Handle rash = schedule.add("rash", [&](Registry&, Tick) { change(world, RulesWorld::first(4)); });
  rash.writes<Position, Velocity, Health, Burning, Speed, Mass, Frozen, Anchored>();
  schedule.run(world, Tick{1});
}

void everywhere(const Change& change) {
  in_view_loop(change);
  in_group_each(change);
  in_signals(change);
}

#if SHOAL_DEBUG_ASSERTS
#define EXPECT_CAUGHT(statement) EXPECT_DEATH(statement, "the entity at hand")
#define EXPECT_NO_SYSTEM(change) EXPECT_DEATH(in_parallel_system(change), "while other systems run beside it")
#else
#define EXPECT_NO_SYSTEM(change) static_cast<void>(change)
#define EXPECT_CAUGHT(statement) static_cast<void>(0)
#endif

// --- What is allowed when

TEST(Rules, Create) {
  const Change create = [](RulesWorld& world, Entity) { world.create(); };
  everywhere(create);
  EXPECT_NO_SYSTEM(create);
}

TEST(Rules, DestroyTheEntityAtHand) {
  const Change destroy = [](RulesWorld& world, Entity entity) {
    if (entity.index % 3 == 1) world.destroy(entity);
  };
  in_view_loop(destroy);
  in_group_each(destroy);
  EXPECT_NO_SYSTEM(destroy);
  in_signals([](RulesWorld& world, Entity entity) { world.destroy(entity); },
             [](RulesWorld& world, Entity entity, Moment) { EXPECT_FALSE(world.alive(entity)); });
  // In on_destroy it does not happen twice, nor before the removal has ended.
  in_signal(Moment::OnDestroyOfOne, [](RulesWorld& world, Entity entity) {
    world.destroy(entity);
    EXPECT_TRUE(world.alive(entity));
    EXPECT_TRUE(world.all_of<Position>(entity));
  });
}

TEST(Rules, DestroyAnother) {
  const Change outsider = [](RulesWorld& world, Entity entity) {
    const Entity other = RulesWorld::first(kEntities + entity.index % 20);
    if (world.alive(other)) world.destroy(other);
  };
  everywhere(outsider);
  EXPECT_NO_SYSTEM(outsider);
  const Change insider = [](RulesWorld& world, Entity entity) { world.destroy(another_than(entity)); };
  EXPECT_CAUGHT(in_view_loop(insider));
  EXPECT_CAUGHT(in_group_each(insider));
  in_signals(insider, [](RulesWorld& world, Entity entity, Moment) {
    EXPECT_FALSE(world.alive(another_than(entity)));
  });
}

TEST(Rules, EmplaceOrRemoveOnTheEntityAtHand) {
  for (const bool back : {false, true}) {
    const Change change = [back](RulesWorld& world, Entity entity) {
      if (entity.index % 3 == 0) return;
      world.remove<Position>(entity);
      world.remove<Velocity>(entity);
      world.emplace_or_replace<Health>(entity);
      if (!back) return;
      world.emplace<Velocity>(entity);
      world.emplace<Position>(entity);
    };
    in_view_loop(change);
    in_group_each(change);
    in_signal(Moment::OnConstruct, change);
    in_signal(Moment::OnUpdate, change);
    EXPECT_NO_SYSTEM(change);
  }
  for (const bool back : {false, true}) {
    in_group_each([back](RulesWorld& world, Entity entity) {
      if (entity.index % 3 == 0) world.remove<Speed>(entity);
      if (entity.index % 3 == 1) world.emplace<Frozen>(entity);
      if (back && entity.index % 3 == 0) world.emplace<Speed>(entity);
      if (back && entity.index % 3 == 1) world.remove<Frozen>(entity);
    });
  }
  // While one component is being removed the others may come and go; a dying entity is left alone.
  in_signal(Moment::OnDestroyOfOne, [](RulesWorld& world, Entity entity) {
    EXPECT_FALSE(world.remove<Position>(entity)) << "its removal is under way";
    EXPECT_TRUE(world.remove<Velocity>(entity));
    world.emplace<Burning>(entity);
  });
  in_signal(Moment::OnDestroyOfAll, [](RulesWorld& world, Entity entity) {
    EXPECT_FALSE(world.remove<Velocity>(entity));
    EXPECT_DEATH(world.emplace<Burning>(entity), "dying");
  });
}

TEST(Rules, EmplaceOrRemoveOnAnotherInThePool) {
  const Change remove = [](RulesWorld& world, Entity entity) {
    world.remove<Position>(another_than(entity));
  };
  const Change emplace = [](RulesWorld& world, Entity) { world.emplace<Position>(world.create()); };
  EXPECT_CAUGHT(in_view_loop(remove));
  EXPECT_CAUGHT(in_view_loop(emplace));
  EXPECT_NO_SYSTEM(remove);
  in_signals(remove);
  in_signals(emplace);
  // Of a group: who is not in it may gain and lose what it owns; who is in it stays in it.
  in_group_each([](RulesWorld& world, Entity) { world.emplace<Speed>(world.create()); });
  in_group_each([](RulesWorld& world, Entity entity) {
    world.remove<Speed>(RulesWorld::first(110 + entity.index % 10));
  });
  EXPECT_CAUGHT(
      in_group_each([](RulesWorld& world, Entity entity) { world.remove<Speed>(another_than(entity)); }));
}

TEST(Rules, EmplaceOrRemoveOnAnotherInAnotherPool) {
  everywhere([](RulesWorld& world, Entity entity) {
    const Entity other = another_than(entity);
    world.remove<Health>(other);
    world.emplace_or_replace<Burning>(other);
    world.emplace<Health>(world.create());
  });
  const Change emplace = [](RulesWorld& world, Entity entity) {
    world.emplace<Burning>(another_than(entity));
  };
  EXPECT_NO_SYSTEM(emplace);
  // Of the view, but not the one in the lead: who loses it is not visited any more.
  in_view_loop([](RulesWorld& world, Entity entity) { world.remove<Velocity>(another_than(entity)); });
}

TEST(Rules, WriteAValue) {
  const Change write = [](RulesWorld& world, Entity entity) {
    const Entity other = another_than(entity);
    world.get<Position>(other).x += 1;
    world.replace<Velocity>(other, 1.0f, 2.0f);
    world.patch<Position>(entity, [](Position& position) { position.y += 1; });
    world.storage<Position>().mark_dirty(other);
  };
  everywhere(write);
  in_parallel_system(write);
  // The signal waits for the end of the stage.
  RulesWorld world;
  int heard = 0;
  const ScopedConnection connection =
      world.on_update<Position>().connect_scoped([&](Registry&, Entity) { ++heard; });
  Schedule schedule;
  schedule.add("patch", [&](Pool<Position> pool) {
    pool.patch(RulesWorld::first(4), [](Position& position) { position.y = 1; });
    EXPECT_EQ(pool.get(RulesWorld::first(4)).y, 1);
    EXPECT_EQ(heard, 0);
  });
  schedule.run(world, Tick{1});
  EXPECT_EQ(heard, 1);
}

TEST(Rules, Sort) {
  const auto falling = [](Entity a, Entity b) { return a > b; };
  // A pool that does not lead and no signal of which runs.
  everywhere([&](RulesWorld& world, Entity) {
    world.sort<Velocity>(falling);
    world.sort_as<Health, Velocity>();
  });
  const Change sort = [&](RulesWorld& world, Entity) { world.sort<Position>(falling); };
  EXPECT_NO_SYSTEM(sort);
  EXPECT_CAUGHT(in_view_loop(sort));
  for (const Moment moment : kMoments) EXPECT_DEATH(in_signal(moment, sort), "a signal of this pool runs");
  in_group_each(sort);
  // What a group owns it alone sorts, and not while it is walked.
  RulesWorld world;
  EXPECT_DEATH(world.sort<Speed>(falling), "the group .* keeps its order");
  const Change sort_group = [&](RulesWorld& other, Entity) { other.speeds().sort(falling); };
  in_view_loop(sort_group);
  in_signals(sort_group);
  EXPECT_NO_SYSTEM(sort_group);
  EXPECT_CAUGHT(in_group_each(sort_group));
  EXPECT_CAUGHT(world.view<Speed>().each([&](Entity, Speed&) { world.speeds().sort(falling); }));
}

TEST(Rules, Reserve) {
  everywhere([](RulesWorld& world, Entity) {
    world.storage<Position>().reserve(world.storage<Position>().capacity() + 100);
    world.storage<Speed>().reserve(world.storage<Speed>().capacity() + 100);
    world.storage<Velocity>().reserve(world.storage<Velocity>().capacity() + 100);
    world.reserve_entities(world.alive_count() + 1000);
  });
  const Change reserve_values = [](RulesWorld& world, Entity) { world.storage<Position>().reserve(1); };
  const Change reserve_entities = [](RulesWorld& world, Entity) { world.reserve_entities(1); };
  EXPECT_NO_SYSTEM(reserve_values);
  EXPECT_NO_SYSTEM(reserve_entities);
  // A list of entities alone, of which no value tells that it moved.
  RulesWorld world;
  for (std::uint32_t i = 0; i < kEntities; ++i) world.emplace<Burning>(RulesWorld::first(i));
  std::vector<int> visits(kEntities);
  world.view<Burning>().each([&](Entity entity) {
    ++visits.at(entity.index);
    const std::uint32_t before = world.entity_table().structure_version();
    world.storage<Burning>().reserve(world.storage<Burning>().capacity() + 100);
    EXPECT_NE(world.entity_table().structure_version(), before);
  });
  expect_each_once(visits, [](Entity) { return true; });
}

TEST(Rules, Shrink) {
  const Change shrink = [](RulesWorld& world, Entity) { world.shrink_to_fit(); };
  const Change shrink_one = [](RulesWorld& world, Entity) { world.storage<Position>().shrink_to_fit(); };
  EXPECT_NO_SYSTEM(shrink);
  EXPECT_NO_SYSTEM(shrink_one);
  everywhere([](RulesWorld& world, Entity entity) {
    world.shrink_to_fit();
    if (entity.index % 2 == 0) world.storage<Position>().reserve(1000);
  });
  RulesWorld world;
  for (std::uint32_t i = 0; i < kEntities; ++i) world.emplace<Burning>(RulesWorld::first(i));
  std::vector<int> visits(kEntities);
  world.view<Burning>().each([&](Entity entity) {
    ++visits.at(entity.index);
    const std::uint32_t before = world.entity_table().structure_version();
    world.storage<Burning>().shrink_to_fit();
    EXPECT_NE(world.entity_table().structure_version(), before);
  });
  expect_each_once(visits, [](Entity) { return true; });
}

TEST(Rules, ConnectOrDisconnect) {
  everywhere([](RulesWorld& world, Entity) {
    int heard = 0;
    const ListenerId listener = world.on_update<Position>().connect([&](Registry&, Entity) { ++heard; });
    world.on_construct<Position>().connect([](Registry&, Entity) {});
    world.on_destroy<Position>().connect([](Registry&, Entity) {});
    EXPECT_EQ(heard, 0) << "who connects during an event hears the next one";
    EXPECT_TRUE(world.on_update<Position>().disconnect(listener));
  });
}

TEST(Rules, JoinOrLeaveAGroup) {
  const Change others_join = [](RulesWorld& world, Entity) {
    const Entity entity = world.create();
    world.emplace<Mass>(entity);
    world.emplace<Speed>(entity);
  };
  const Change another_leaves = [](RulesWorld& world, Entity entity) {
    world.emplace_or_replace<Frozen>(another_than(entity));
  };
  in_view_loop(others_join);  // led by a pool that no group owns
  in_view_loop(another_leaves);
  in_signals(others_join);
  in_signals(another_leaves);
  in_group_each(others_join);
  in_group_each([](RulesWorld& world, Entity entity) { world.emplace<Frozen>(entity); });
  EXPECT_CAUGHT(in_group_each(another_leaves));
  // A view led by what the group owns: not even the entity at hand may join or leave.
  RulesWorld world;
  const auto leave = [&](Entity entity, Speed&) { world.emplace_or_replace<Frozen>(entity); };
  EXPECT_CAUGHT(world.view<Speed>().each(leave));
  EXPECT_CAUGHT(world.view<Speed>().each([&](Entity entity, Speed&) { world.destroy(entity); }));
  // (Unless it stands already where it comes to stand, which 110 does.)
  const auto join = [&](Entity entity, Speed&) { world.emplace_or_replace<Mass>(entity); };
  EXPECT_CAUGHT(world.view<Speed>().each([&](Entity entity, Speed& speed) {
    if (entity.index > 110) join(entity, speed);
  }));
}

TEST(Rules, Clear) {
  const Change clear = [](RulesWorld& world, Entity) { world.clear<Health>(); };
  everywhere(clear);
  EXPECT_NO_SYSTEM(clear);
  const Change all = [](RulesWorld& world, Entity) { world.clear(); };
  EXPECT_CAUGHT(in_view_loop(all));
  EXPECT_CAUGHT(in_group_each(all));
  EXPECT_CAUGHT(in_view_loop([](RulesWorld& world, Entity) { world.clear<Position>(); }));
  EXPECT_CAUGHT(in_group_each([](RulesWorld& world, Entity) { world.clear<Speed>(); }));
  in_signals(all, [](RulesWorld& world, Entity, Moment) { EXPECT_EQ(world.alive_count(), 0u); });
  in_signals([](RulesWorld& world, Entity) { world.clear<Position>(); },
             [](RulesWorld& world, Entity, Moment) { EXPECT_TRUE(world.storage<Position>().empty()); });
  // It takes the type from everyone who has it at first, also where a group moves them meanwhile.
  RulesWorld world;
  const std::vector<Entity> members = [&] {
    std::vector<Entity> found;
    world.speeds().each([&](Entity entity, Speed&, Mass&) { found.push_back(entity); });
    return found;
  }();
  Entity added;
  const ScopedConnection heard = world.on_destroy<Speed>().connect_scoped([&](Registry&, Entity) {
    if (added.is_null()) {
      added = world.create();
      world.emplace<Mass>(added);
      world.emplace<Speed>(added);
    }
    world.speeds().sort([](Entity a, Entity b) { return a > b; });
  });
  world.clear<Speed>();
  for (const Entity member : members) EXPECT_FALSE(world.all_of<Speed>(member)) << member.index;
  EXPECT_TRUE(world.all_of<Speed>(added)) << "what signals add meanwhile stays";
}

TEST(Rules, MakeViewsAndLoopAgain) {
  const Change loop = [](RulesWorld& world, Entity) {
    std::size_t count = 0;
    for ([[maybe_unused]] auto [entity, velocity] : world.view<Velocity>()) ++count;
    EXPECT_EQ(count, world.storage<Velocity>().size());
    count = 0;
    world.speeds().each([&](Speed&, Mass&) { ++count; });
    EXPECT_EQ(count, world.speeds().size());
  };
  everywhere(loop);
  in_parallel_system(loop);
}

// --- What ends references

struct WhatEnds : testing::Test {
  WhatEnds() {
    for (std::uint32_t i = 0; i < kEntities; ++i) world.emplace<Anchored>(RulesWorld::first(i), i);
    for (std::uint32_t i = 0; i < kEntities; ++i)
      pinned.push_back(&world.get<const Anchored>(RulesWorld::first(i)));
    positions = std::as_const(world).storage<Position>().values();
  }
  /// Addresses of values of this type never change while the values live.
  void expect_pinned(const std::set<std::uint32_t>& ended = {}) {
    for (std::uint32_t i = 0; i < kEntities; ++i) {
      if (ended.contains(i)) continue;
      EXPECT_EQ(&world.get<const Anchored>(RulesWorld::first(i)), pinned[i]);
      EXPECT_EQ(pinned[i]->index, i);
    }
  }
  /// References and spans of ordinary values.
  void expect_all_hold() {
    const std::span<const Position> now = std::as_const(world).storage<Position>().values();
    EXPECT_EQ(now.data(), positions.data());
    EXPECT_EQ(now.size(), positions.size());
    for (std::uint32_t i = 0; i < kEntities; ++i) EXPECT_EQ(positions[i].x, static_cast<float>(i));
    expect_pinned();
  }

  RulesWorld world;
  std::vector<const Anchored*> pinned;
  std::span<const Position> positions;
};

TEST_F(WhatEnds, Create) {
  for (int i = 0; i < 10'000; ++i) world.create();
  expect_all_hold();
}

TEST_F(WhatEnds, EmplaceOrInsert) {
  for (int i = 0; i < 10'000; ++i) {
    const Entity entity = world.create();
    world.emplace<Anchored>(entity, entity.index);
    world.emplace<Position>(entity);
  }
  EXPECT_NE(std::as_const(world).storage<Position>().values().data(), positions.data());
  expect_pinned();
}

TEST_F(WhatEnds, EmplaceOrRemoveOfAnotherType) {
  for (int i = 0; i < 10'000; ++i) world.emplace<Health>(world.create());
  for (std::uint32_t i = 0; i < kEntities; ++i) world.remove<Velocity>(RulesWorld::first(i));
  expect_all_hold();
  // Unless that makes it join or leave a group which owns the type.
  const std::span<const Speed> speeds = std::as_const(world).storage<Speed>().values();
  const Speed* last = &world.get<const Speed>(RulesWorld::first(99));
  world.emplace<Frozen>(RulesWorld::first(0));
  EXPECT_NE(&world.get<const Speed>(RulesWorld::first(99)), last);
  EXPECT_EQ(std::as_const(world).storage<Speed>().values().data(), speeds.data());
}

TEST_F(WhatEnds, RemoveOrDestroy) {
  const Position* last = &world.get<const Position>(RulesWorld::first(99));
  world.remove<Position>(RulesWorld::first(7));
  EXPECT_NE(&world.get<const Position>(RulesWorld::first(99)), last) << "the last one fills the hole";
  world.remove<Anchored>(RulesWorld::first(7));
  world.destroy(RulesWorld::first(8));
  world.emplace<Anchored>(world.create());
  expect_pinned({7, 8});
}

TEST_F(WhatEnds, WriteAValue) {
  world.patch<Position>(RulesWorld::first(3), [](Position& position) { position.y = 1; });
  world.replace<Position>(RulesWorld::first(3), 3.0f, 2.0f);
  world.get<Position>(RulesWorld::first(4)).y = 1;
  EXPECT_EQ(positions[3].y, 2.0f);
  world.clear_changes();
  expect_all_hold();
}

TEST_F(WhatEnds, Sort) {
  const auto falling = [](Entity a, Entity b) { return a > b; };
  world.sort<Anchored>(falling);
  expect_pinned();
  world.sort<Position>(falling);
  EXPECT_EQ(std::as_const(world).storage<Position>().values()[0].x, 99.0f);
}

TEST_F(WhatEnds, ReserveOrShrink) {
  world.storage<Anchored>().reserve(100'000);
  world.storage<Position>().reserve(100'000);
  EXPECT_NE(std::as_const(world).storage<Position>().values().data(), positions.data());
  world.shrink_to_fit();
  expect_pinned();
}

TEST_F(WhatEnds, Clear) {
  world.clear<Health>();
  expect_all_hold();
  const auto view = world.view<const Position>();
  world.clear<Position>();
  EXPECT_TRUE(view.empty()) << "a view goes on to mean the same types";
  world.emplace<Position>(RulesWorld::first(1));
  EXPECT_EQ(view.front(), RulesWorld::first(1));
}

TEST_F(WhatEnds, ConnectOrDisconnect) {
  world.on_update<Position>().disconnect(world.on_update<Position>().connect([](Registry&, Entity) {}));
  expect_all_hold();
}

}  // namespace
}  // namespace shoal::test
