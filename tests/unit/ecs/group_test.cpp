// Owning groups: who is in, that the values lie in one order, and what may happen while a loop over one runs.
#include "shared/ecs/group.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/world_copy.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

using Indices = std::vector<std::uint32_t>;

Indices indices_of(std::span<const std::uint32_t> indices) {
  return {indices.begin(), indices.end()};
}
Indices possibly_changed(const StorageBase& pool) {
  Indices indices;
  pool.for_each_possibly_changed([&](std::uint32_t index, const void*) { indices.push_back(index); });
  std::sort(indices.begin(), indices.end());
  return indices;
}

/// Position and Velocity in one order, for who has Health and does not burn.
struct GroupTest : testing::Test {
  static auto moving_of(Registry& registry) {
    return registry.group<Position, Velocity>(observe<Health>, exclude<Burning>);
  }
  auto moving() { return moving_of(world); }
  Entity member(float x = 0) {
    const Entity entity = world.create();
    world.emplace<Position>(entity, x, 0.0f);
    world.emplace<Velocity>(entity, x, 1.0f);
    world.emplace<Health>(entity);
    return entity;
  }
  void expect_aligned() {
    const auto group = moving();
    const auto& positions = world.storage<Position>();
    const auto& velocities = world.storage<Velocity>();
    ASSERT_LE(group.size(), std::min(positions.size(), velocities.size()));
    for (std::size_t at = 0; at < group.size(); ++at) {
      EXPECT_EQ(positions.indices()[at], velocities.indices()[at]) << "place " << at;
      EXPECT_EQ(group.values<const Position>()[at].x, group.values<const Velocity>()[at].dx)
          << "place " << at;
    }
  }

  World world{{}, [](Registry& registry) {
                registry.declare_group<Position, Velocity>(observe<Health>, exclude<Burning>);
              }};
};

TEST_F(GroupTest, HoldsWhoHasAllOwnedAndObservedAndNoneOfTheExcluded) {
  std::vector<Entity> members;
  for (int with = 0; with < 16; ++with) {
    const Entity entity = world.create();
    if (with & 1) world.emplace<Burning>(entity);
    if (with & 2) world.emplace<Velocity>(entity);
    if (with & 4) world.emplace<Health>(entity);
    if (with & 8) world.emplace<Position>(entity);
    const bool belongs = with == 14;
    EXPECT_EQ(moving().contains(entity), belongs) << with;
    if (belongs) members.push_back(entity);
  }
  EXPECT_EQ(moving().size(), 1u);
  EXPECT_EQ(moving().entity_at(0), members.front());
  EXPECT_FALSE(moving().contains(kNullEntity));
}

TEST_F(GroupTest, ValuesOfTheOwnedTypesLieInOneOrder) {
  for (int i = 0; i < 100; ++i) {
    const Entity entity = world.create();
    // In different orders into the two pools, and some have one only.
    if (i % 2 == 0) world.emplace<Health>(entity);
    if (i % 5 != 0) world.emplace<Position>(entity, static_cast<float>(i), 0.0f);
  }
  for (std::uint32_t i = 100; i-- > 0;) {
    if (i % 7 != 0) world.emplace<Velocity>(world.entity_at(i), static_cast<float>(i), 0.0f);
  }
  EXPECT_EQ(moving().size(), 34u);
  expect_aligned();
}

TEST_F(GroupTest, JoinsByEveryWayToGetAComponent) {
  std::map<std::string, std::function<void(Entity)>> ways{
      {"emplace", [&](Entity e) { world.emplace<Velocity>(e); }},
      {"emplace_or_replace", [&](Entity e) { world.emplace_or_replace<Velocity>(e); }},
      {"get_or_emplace", [&](Entity e) { world.get_or_emplace<Velocity>(e); }},
      {"insert of one value",
       [&](Entity e) {
         world.insert<Velocity>(std::span(&e, 1), {1, 2});
       }},
      {"insert of many values",
       [&](Entity e) {
         const Velocity value;
         world.insert<Velocity>(std::span<const Entity>(&e, 1), std::span<const Velocity>(&value, 1));
       }},
      {"emplace_silently",
       [&](Entity e) {
         const Velocity value;
         world.storage<Velocity>().emplace_silently(e, &value);
       }},
      {"command buffer",
       [&](Entity e) {
         CommandBuffer commands;
         commands.emplace<Velocity>(e);
         commands.apply(world);
       }},
  };
  for (const auto& [name, way] : ways) {
    const std::size_t before = moving().size();
    ASSERT_TRUE(world.create_exact({1000 + static_cast<std::uint32_t>(before), 7}));
    const Entity entity = world.entity_at(1000 + static_cast<std::uint32_t>(before));
    world.emplace<Position>(entity);
    world.emplace<Health>(entity);
    EXPECT_FALSE(moving().contains(entity)) << name;
    way(entity);
    EXPECT_TRUE(moving().contains(entity)) << name;
    EXPECT_EQ(moving().size(), before + 1) << name;
  }
}

TEST_F(GroupTest, LeavesByEveryWayToLoseAComponent) {
  std::map<std::string, std::function<void(Entity)>> ways{
      {"remove of an owned one", [&](Entity e) { world.remove<Position>(e); }},
      {"remove of an observed one", [&](Entity e) { world.remove<Health>(e); }},
      {"erase", [&](Entity e) { world.erase<Velocity>(e); }},
      {"remove by number", [&](Entity e) { world.remove(e, world.component_type<Velocity>()); }},
      {"an excluded one", [&](Entity e) { world.emplace<Burning>(e); }},
      {"destroy", [&](Entity e) { world.destroy(e); }},
      {"destroy of a range", [&](Entity e) { world.destroy(std::span(&e, 1)); }},
  };
  for (const auto& [name, way] : ways) {
    world.clear();
    const std::vector<Entity> members{member(1), member(2), member(3), member(4)};
    ASSERT_EQ(moving().size(), 4u);
    way(members[1]);
    EXPECT_FALSE(moving().contains(members[1])) << name;
    EXPECT_THAT(indices_of(moving().indices()),
                UnorderedElementsAre(members[0].index, members[2].index, members[3].index))
        << name;
    expect_aligned();
  }
  world.clear<Velocity>();
  EXPECT_TRUE(moving().empty());
  member();
  world.clear();
  EXPECT_TRUE(moving().empty());
}

TEST_F(GroupTest, RangesOfValuesJoinInOrder) {
  std::vector<Entity> entities(50);
  world.create(entities);
  std::vector<Position> positions;
  for (int i = 0; i < 50; ++i) positions.push_back({static_cast<float>(i), 0});
  world.insert<Health>(entities);
  world.insert<Position>(entities, std::span<const Position>(positions));
  world.insert<Burning>(std::span<const Entity>(entities).first(10));
  std::reverse(entities.begin(), entities.end());
  std::vector<Velocity> velocities;
  for (int i = 50; i-- > 0;) velocities.push_back({static_cast<float>(i), 0});
  world.insert<Velocity>(entities, std::span<const Velocity>(velocities));
  EXPECT_EQ(moving().size(), 40u);
  EXPECT_EQ(moving().entity_at(0), entities[0]) << "in the order of the last component";
  expect_aligned();
}

TEST_F(GroupTest, WhoLosesTheExcludedComponentComesBack) {
  const Entity entity = member();
  member();
  world.emplace<Burning>(entity);
  EXPECT_FALSE(moving().contains(entity));
  world.remove<Burning>(entity);
  EXPECT_TRUE(moving().contains(entity));
  world.emplace<Burning>(entity);
  world.clear<Burning>();
  EXPECT_TRUE(moving().contains(entity));
  expect_aligned();
}

TEST_F(GroupTest, EmplaceGivesTheValueWhereTheGroupPutIt) {
  for (int i = 0; i < 20; ++i) world.emplace<Velocity>(world.create());  // not in the group
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.emplace<Health>(entity);
  Velocity& velocity = world.emplace<Velocity>(entity, 7.0f, 7.0f);
  EXPECT_EQ(&velocity, &world.get<Velocity>(entity));
  EXPECT_EQ(velocity.dx, 7.0f);
}

TEST_F(GroupTest, ListenerSeesTheGroupAsItIs) {
  int heard = 0;
  world.on_construct<Velocity>().connect([&](Registry& registry, Entity entity) {
    EXPECT_TRUE(moving_of(registry).contains(entity)) << "it has joined";
    ++heard;
  });
  world.on_destroy<Velocity>().connect([&](Registry& registry, Entity entity) {
    EXPECT_TRUE(moving_of(registry).contains(entity)) << "whole";
    ++heard;
  });
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.emplace<Health>(entity);
  world.emplace<Velocity>(entity);
  world.destroy(entity);
  EXPECT_EQ(heard, 2);
}

TEST_F(GroupTest, DirtyAndTouchedFollowTheValues) {
  std::vector<Entity> members;
  for (int i = 0; i < 200; ++i) members.push_back(member(static_cast<float>(i)));
  world.clear_changes();
  world.patch<Position>(members[199], [](Position&) {});
  world.emplace<Burning>(members[0]);  // 199 moves to its place
  EXPECT_TRUE(world.storage<Position>().is_dirty(members[199]));
  EXPECT_FALSE(world.storage<Position>().is_dirty(members[0]));
  EXPECT_THAT(possibly_changed(world.storage<Position>()), ElementsAre(members[199].index));
  EXPECT_THAT(possibly_changed(world.storage<Velocity>()), IsEmpty());

  world.clear_changes();
  world.get<Velocity>(members[198]).dx = 1;  // in the last run of 64
  world.remove<Health>(members[1]);          // 198 moves into the first one
  const Indices changed = possibly_changed(world.storage<Velocity>());
  EXPECT_TRUE(std::binary_search(changed.begin(), changed.end(), members[198].index))
      << "the write before the move is not lost";
}

TEST_F(GroupTest, OnlyMutableTypesLeaveMarks) {
  for (int i = 0; i < 100; ++i) member();
  world.clear_changes();
  const auto reading = world.group<const Position, const Velocity>(observe<const Health>, exclude<Burning>);
  reading.each([](const Position&, const Velocity&, const Health&) {});
  static_cast<void>(reading.values<const Position>());
  static_cast<void>(moving().values<const Position>());
  EXPECT_FALSE(world.storage<Position>().any_changes());
  EXPECT_FALSE(world.storage<Velocity>().any_changes());
  EXPECT_FALSE(world.storage<Health>().any_changes());
  world.group<Position, const Velocity>(observe<Health>, exclude<Burning>)
      .each([](Position& position, const Velocity& velocity, Health& health) {
        position.y += velocity.dy;
        health.current = 1;
      });
  EXPECT_EQ(possibly_changed(world.storage<Position>()).size(), 100u);
  EXPECT_EQ(possibly_changed(world.storage<Health>()).size(), 100u);
  EXPECT_FALSE(world.storage<Velocity>().any_changes());
  world.clear_changes();
  moving().values<Velocity>()[5].dx = 1;
  EXPECT_EQ(possibly_changed(world.storage<Velocity>()).size(), 100u);
}

TEST_F(GroupTest, SortPutsAllOwnedPoolsInOneOrder) {
  for (int i = 0; i < 100; ++i) {
    world.emplace<Position>(world.create());  // outside
    member(static_cast<float>(i * 37 % 100));
  }
  const Indices outside = indices_of(world.storage<Position>().indices().subspan(100));
  world.clear_changes();
  world.patch<Position>(world.entity_at(5), [](Position&) {});
  moving().sort<Position>([](const Position& a, const Position& b) { return a.x < b.x; });
  const auto positions = moving().values<const Position>();
  EXPECT_TRUE(std::is_sorted(positions.begin(), positions.end(), [](auto& a, auto& b) { return a.x < b.x; }));
  expect_aligned();
  EXPECT_EQ(indices_of(world.storage<Position>().indices().subspan(100)), outside) << "the rest stays";
  EXPECT_THAT(possibly_changed(world.storage<Position>()), ElementsAre(5)) << "nothing else becomes dirty";

  moving().sort([](Entity a, Entity b) { return b < a; });
  const Indices sorted = indices_of(moving().indices());
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end(), std::greater<>()));
  expect_aligned();
}

TEST_F(GroupTest, SortKeepsTheOrderOfEquals) {
  for (int i = 0; i < 60; ++i) member(static_cast<float>(i));
  moving().sort<Velocity>([](const Velocity& a, const Velocity& b) {
    return static_cast<int>(a.dx) % 3 < static_cast<int>(b.dx) % 3;
  });
  const auto place = [](std::uint32_t index) { return std::pair(index % 3, index); };
  const Indices sorted = indices_of(moving().indices());
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); }));
}

// The excluded component of a dying entity is erased before its owned ones: it is no member in between.
TEST_F(GroupTest, WhoIsOutsideMayBeDestroyedDuringALoop) {
  World fresh{{}, [](Registry& registry) { registry.declare_group<Name>({}, exclude<Burning>); }};
  std::vector<Entity> outside;
  for (int i = 0; i < 10; ++i) {
    fresh.emplace<Name>(fresh.create(), "inside");
    outside.push_back(fresh.create());
    fresh.emplace<Name>(outside.back(), "outside");
    fresh.emplace<Burning>(outside.back());
  }
  int visits = 0;
  fresh.group<Name>({}, exclude<Burning>).each([&](const Name& name) {
    EXPECT_EQ(name.text, "inside");
    ++visits;
    fresh.destroy(outside.back());
    outside.pop_back();
  });
  EXPECT_EQ(visits, 10);
  EXPECT_EQ(fresh.alive_count(), 10u);
}

// A listener of the removal makes things that join, which changes the places of those still to be cleared.
TEST_F(GroupTest, ClearOfAnOwnedTypeTakesItFromAllWhoHadIt) {
  std::vector<Entity> had;
  for (int i = 0; i < 20; ++i) {
    had.push_back(world.create());
    world.emplace<Position>(had.back(), static_cast<float>(i), 0.0f);
  }
  std::vector<Entity> joined;
  const auto connection = world.on_destroy<Position>().connect_scoped([&](Registry& registry, Entity entity) {
    if (entity.index >= 20) return;
    joined.push_back(registry.create());
    registry.emplace<Velocity>(joined.back());
    registry.emplace<Health>(joined.back());
    registry.emplace<Position>(joined.back());
  });
  world.clear<Position>();
  for (const Entity entity : had) EXPECT_FALSE(world.all_of<Position>(entity)) << entity.index;
  EXPECT_EQ(joined.size(), 20u);
  for (const Entity entity : joined)
    EXPECT_TRUE(world.all_of<Position>(entity)) << "came meanwhile, and stays";
  EXPECT_EQ(moving().size(), 20u);
}

TEST(Group, TagsMayBeOwned) {
  World world{{}, [](Registry& registry) { registry.declare_group<Burning, Health>(); }};
  for (int i = 0; i < 30; ++i) {
    const Entity entity = world.create();
    if (i % 2 == 0) world.emplace<Burning>(entity);
    if (i % 3 == 0) world.emplace<Health>(entity, Health{static_cast<std::uint16_t>(i), 0});
  }
  const auto group = world.group<Burning, Health>();
  EXPECT_EQ(group.size(), 5u);
  Indices visited;
  group.each([&](Entity entity, const Health& health) {
    EXPECT_EQ(health.current, entity.index);
    visited.push_back(entity.index);
  });
  EXPECT_THAT(visited, ElementsAre(0, 6, 12, 18, 24));
  EXPECT_EQ(indices_of(world.storage<Burning>().indices().first(5)), visited);
}

TEST(Group, ValuesThatOwnMemoryAndValuesWithStableAddressesMoveWithTheGroup) {
  World world{{}, [](Registry& registry) {
                registry.register_component<Pinned>("test.Pinned");
                registry.declare_group<Name, Pinned>({}, exclude<Burning>);
              }};
  std::map<Entity, const Pinned*> addresses;
  for (int i = 0; i < 200; ++i) {
    const Entity entity = world.create();
    world.emplace<Name>(entity, std::to_string(i) + std::string(40, '.'));
    addresses[entity] = &world.emplace<Pinned>(entity, i, std::to_string(i) + std::string(40, '!'));
  }
  for (std::uint32_t i = 0; i < 200; i += 3) world.emplace<Burning>(world.entity_at(i));
  for (std::uint32_t i = 0; i < 200; i += 6) world.remove<Burning>(world.entity_at(i));
  for (std::uint32_t i = 1; i < 200; i += 7) world.destroy(world.entity_at(i));
  const auto group = world.group<Name, Pinned>({}, exclude<Burning>);
  group.sort<Name>([](const Name& a, const Name& b) { return a.text < b.text; });
  std::size_t visits = 0;
  group.each([&](Entity entity, const Name& name, const Pinned& pinned) {
    EXPECT_EQ(name.text, std::to_string(entity.index) + std::string(40, '.'));
    EXPECT_EQ(pinned.text, std::to_string(entity.index) + std::string(40, '!'));
    EXPECT_EQ(&pinned, addresses[entity]) << "it has not moved";
    ++visits;
  });
  EXPECT_EQ(visits, group.size());
  for (std::size_t at = 0; at < group.size(); ++at) {
    EXPECT_EQ(world.storage<Pinned>().indices()[at], world.storage<Name>().indices()[at]);
  }
}

template <class G, class T>
concept HasValues = requires(const G& group) { group.template values<T>(); };

TEST(Group, SpansAreOfOwnedTypesThatLieInARowAndNoWiderThanTheGroup) {
  World world{{}, [](Registry& registry) {
                registry.register_component<Pinned>("test.Pinned");
                registry.declare_group<Name, Position, Pinned, Burning>(observe<Health>);
              }};
  using G = decltype(world.group<Name, const Position, Pinned, Burning>(observe<Health>));
  static_assert(HasValues<G, Name> && HasValues<G, const Name> && HasValues<G, const Position>);
  static_assert(!HasValues<G, Position>, "the group reads it only");
  static_assert(!HasValues<G, Pinned> && !HasValues<G, Burning> && !HasValues<G, Health>);
}

TEST(Group, JoiningAndLeavingAllocatesNothing) {
  World world{{}, [](Registry& registry) { registry.declare_group<Name>({}, exclude<Burning>); }};
  world.log().set_enabled(false);
  std::vector<Entity> entities;
  for (int i = 0; i < 10; ++i) {
    entities.push_back(world.create());
    world.emplace<Name>(entities.back(), std::string(40, 'x'));
  }
  const auto come_and_go = [&] {
    for (std::size_t i = 0; i < 9; i += 2) world.emplace<Burning>(entities[i]);
    for (std::size_t i = 0; i < 9; i += 2) world.remove<Burning>(entities[i]);
  };
  come_and_go();
  const std::size_t before = allocations_so_far();
  come_and_go();
  EXPECT_EQ(allocations_so_far() - before, 0u);
}

TEST_F(GroupTest, CopyOfAWorldHasItsMembersAndNotThoseOfBefore) {
  for (int i = 0; i < 10; ++i) {
    world.emplace<Position>(world.create());
    member(static_cast<float>(i));
  }
  World target{{}, [](Registry& registry) {
                 registry.declare_group<Position, Velocity>(observe<Health>, exclude<Burning>);
               }};
  for (int i = 0; i < 30; ++i) {
    const Entity entity = target.create();
    target.emplace<Health>(entity);
    target.emplace<Velocity>(entity);
    target.emplace<Position>(entity);
  }
  ASSERT_EQ(moving_of(target).size(), 30u);
  copy_world(world, target);
  EXPECT_EQ(indices_of(moving_of(target).indices()), indices_of(moving().indices()));
  for (const Entity entity : {target.entity_at(1), target.entity_at(19)}) {
    EXPECT_TRUE(moving_of(target).contains(entity));
    target.destroy(entity);
  }
  EXPECT_EQ(moving_of(target).size(), 8u);
}

// R7: what one owns the others observe or exclude, as many as like.
TEST(Group, OnePoolIsOwnedByOneAndObservedAndExcludedByOthers) {
  World world{{}, [](Registry& registry) {
                registry.declare_group<Position>();
                registry.declare_group<Velocity>(observe<Position>);
                registry.declare_group<Name>(observe<Position>);
                registry.declare_group<Health>({}, exclude<Position>);
              }};
  std::vector<Entity> entities(10);
  world.create(entities);
  world.insert<Velocity>(entities, {1, 1});
  world.insert<Name>(entities);
  world.insert<Health>(entities);
  EXPECT_EQ(world.group<Velocity>(observe<Position>).size(), 0u);
  EXPECT_EQ(world.group<Health>({}, exclude<Position>).size(), 10u);
  for (std::size_t i = 0; i < 4; ++i) world.emplace<Position>(entities[i], static_cast<float>(i), 0.0f);
  EXPECT_EQ(world.group<Position>().size(), 4u);
  EXPECT_EQ(world.group<Velocity>(observe<Position>).size(), 4u);
  EXPECT_EQ(world.group<Name>(observe<Position>).size(), 4u);
  EXPECT_EQ(world.group<Health>({}, exclude<Position>).size(), 6u);
  world.destroy(entities[0]);
  world.remove<Position>(entities[1]);
  EXPECT_EQ(world.group<Velocity>(observe<Position>).size(), 2u);
  EXPECT_EQ(world.group<Health>({}, exclude<Position>).size(), 7u);
  world.group<Velocity>(observe<Position>).each([&](Entity entity, Velocity&, const Position& position) {
    EXPECT_EQ(position.x, static_cast<float>(entity.index));
  });
}

}  // namespace
}  // namespace shoal::test
