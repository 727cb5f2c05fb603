// What the function of a loop over a group may do: to the entity at hand anything, to others what does not make them
// leave. Everyone who was in and stays in is visited once.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

auto moving_of(Registry& registry) {
  return registry.group<Position, Name>(observe<Health>, exclude<Burning>);
}

struct LoopWorld : World {
  LoopWorld()
      : World({}, [](Registry& registry) {
          registry.declare_group<Position, Name>(observe<Health>, exclude<Burning>);
        }) {}
  Entity member() {
    const Entity entity = create();
    put(entity);
    return entity;
  }
  void put(Entity entity) {
    get_or_emplace<Health>(entity);
    get_or_emplace<Position>(entity, static_cast<float>(entity.index), 0.0f);
    get_or_emplace<Name>(entity, std::to_string(entity.index) + std::string(30, '.'));
  }
};

struct Action {
  const char* name;
  bool leaves;  // the entity at hand, in the end
  std::function<void(LoopWorld&, Entity)> act;
};

const Action kActions[] = {
    {"destroy", true, [](LoopWorld& world, Entity e) { world.destroy(e); }},
    {"remove an owned one", true, [](LoopWorld& world, Entity e) { world.remove<Position>(e); }},
    {"remove the other owned one", true, [](LoopWorld& world, Entity e) { world.remove<Name>(e); }},
    {"remove the observed one", true, [](LoopWorld& world, Entity e) { world.remove<Health>(e); }},
    {"add the excluded one", true, [](LoopWorld& world, Entity e) { world.emplace<Burning>(e); }},
    {"leave and come back", false,
     [](LoopWorld& world, Entity e) {
       world.remove<Name>(e);
       world.put(e);
     }},
    {"leave and come back by the excluded one", false,
     [](LoopWorld& world, Entity e) {
       world.emplace<Burning>(e);
       world.remove<Burning>(e);
     }},
    {"leave and come back twice, and leave", true,
     [](LoopWorld& world, Entity e) {
       for (int i = 0; i < 2; ++i) {
         world.remove<Health>(e);
         world.put(e);
       }
       world.remove<Position>(e);
     }},
    {"another joins", false, [](LoopWorld& world, Entity) { world.member(); }},
    {"another joins, then this one leaves", true,
     [](LoopWorld& world, Entity e) {
       world.member();
       world.destroy(e);
     }},
    {"this one leaves, then another joins", true,
     [](LoopWorld& world, Entity e) {
       world.destroy(e);
       world.member();
     }},
    {"leave, another joins, come back", false,
     [](LoopWorld& world, Entity e) {
       world.remove<Position>(e);
       world.member();
       world.put(e);
     }},
    {"others come and go outside", false,
     [](LoopWorld& world, Entity) {
       const Entity other = world.create();
       world.emplace<Position>(other);
       world.emplace<Name>(other);
       world.destroy(other);
     }},
    {"pools are given room and shrunk", false,
     [](LoopWorld& world, Entity) {
       world.storage<Position>().reserve(world.storage<Position>().capacity() + 100);
       world.shrink_to_fit();
     }},
};

// R6
TEST(GroupLoop, VisitsEveryoneOnceWhateverHappensToTheEntityAtHand) {
  constexpr std::uint32_t kMembers = 150;
  const std::set<std::uint32_t> all = [] {
    std::set<std::uint32_t> indices;
    for (std::uint32_t i = 0; i < kMembers; ++i) indices.insert(i);
    return indices;
  }();
  const std::set<std::uint32_t> choices[] = {
      {0}, {kMembers / 2}, {kMembers - 1}, {0, 1, 2, 63, 64, 65}, {0, kMembers - 1}, all};
  for (const Action& action : kActions) {
    for (const auto& chosen : choices) {
      LoopWorld world;
      for (std::uint32_t i = 0; i < kMembers; ++i) world.member();
      for (int i = 0; i < 20; ++i) world.emplace<Position>(world.create());  // outside
      world.clear_changes();
      std::vector<int> visits(kMembers);
      moving_of(world).each([&](Entity entity, Position& position, const Name& name, const Health&) {
        if (entity.index >= kMembers || entity.generation > 1) return;  // it joined during the loop
        ++visits[entity.index];
        EXPECT_EQ(position.x, static_cast<float>(entity.index));
        EXPECT_EQ(name.text, std::to_string(entity.index) + std::string(30, '.'));
        position.y = 1;
        if (chosen.contains(entity.index)) action.act(world, entity);
      });
      for (std::uint32_t index = 0; index < kMembers; ++index) {
        EXPECT_EQ(visits[index], 1) << action.name << ", entity " << index << ", " << chosen.size()
                                    << " chosen";
        EXPECT_EQ(moving_of(world).contains({index, 1}), !action.leaves || !chosen.contains(index))
            << action.name << ", entity " << index;
      }
      std::set<std::uint32_t> reported;
      world.storage<Position>().for_each_possibly_changed(
          [&](std::uint32_t index, const void*) { reported.insert(index); });
      for (std::uint32_t index = 0; index < kMembers; ++index) {
        if (!world.all_of<Position>({index, 1})) continue;
        EXPECT_TRUE(reported.contains(index)) << action.name << ": a write to " << index << " was lost";
      }
      if (HasFailure()) return;
    }
  }
}

#if SHOAL_DEBUG_ASSERTS
struct GroupLoopDeathTest : testing::Test {
  GroupLoopDeathTest() {
    for (int i = 0; i < 10; ++i) world.member();
  }
  void loop(std::function<void(Entity)> act) {
    moving_of(world).each([&](Entity entity, Position&, Name&, Health&) { act(entity); });
  }
  LoopWorld world;
};

// R6
TEST_F(GroupLoopDeathTest, AnotherEntityThatLeavesIsCaught) {
  EXPECT_DEATH(loop([&](Entity) { world.destroy(world.entity_at(5)); }), "only the entity at hand may leave");
  EXPECT_DEATH(loop([&](Entity) { world.remove<Health>(world.entity_at(5)); }), "CommandBuffer");
  EXPECT_DEATH(loop([&](Entity) { world.emplace<Burning>(world.entity_at(5)); }), "CommandBuffer");
}

// R6
TEST_F(GroupLoopDeathTest, HidingAForeignLeaverBehindOnesOwnIsCaught) {
  EXPECT_DEATH(loop([&](Entity entity) {
                 world.remove<Health>(world.entity_at(9));
                 world.remove<Health>(entity);
               }),
               "CommandBuffer");
}

// R6
TEST_F(GroupLoopDeathTest, SortingTheGroupIsCaught) {
  EXPECT_DEATH(loop([&](Entity) { moving_of(world).sort([](Entity a, Entity b) { return b < a; }); }),
               "not sorted");
}

// R6
TEST_F(GroupLoopDeathTest, LoopOverAViewThatAnOwnedPoolLeadsCatchesWhoLeavesTheGroup) {
  EXPECT_DEATH(world.view<Position>().each([&](Entity entity, Position&) { world.remove<Health>(entity); }),
               "the leading pool may change for the entity at hand only");
}
#endif

}  // namespace
}  // namespace shoal::test
