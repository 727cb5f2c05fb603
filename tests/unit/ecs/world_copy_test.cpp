#include "shared/ecs/world_copy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "shared/base/random.hpp"
#include "test_components.hpp"
#include "tests/support/allocation_counter.hpp"

namespace shoal {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

void live(World& world, Random& random, int steps) {
  for (int step = 0; step < steps; ++step) {
    const auto at = [&] { return world.entity_at(random.below(world.entity_table().index_end())); };
    if (world.alive_count() < 10 || random.chance(0.3)) {
      world.create();
      continue;
    }
    const Entity entity = at();
    if (!world.alive(entity)) continue;
    switch (random.below(6)) {
      case 0:
        world.destroy(entity);
        break;
      case 1:
        world.emplace_or_replace<Position>(entity, random.uniform(), 2.0f);
        break;
      case 2:
        world.emplace_or_replace<Name>(entity, std::string(random.below(40), 'n'));
        break;
      case 3:
        world.remove<Position>(entity);
        break;
      case 4:
        world.remove<Name>(entity);
        break;
      case 5:
        if (!world.all_of<Burning>(entity)) world.emplace<Burning>(entity);
        break;
    }
  }
}

void expect_same(const World& a, const World& b) {
  EXPECT_EQ(a.entity_table().state().generations, b.entity_table().state().generations);
  EXPECT_EQ(a.entity_table().state().free_queue, b.entity_table().state().free_queue);
  EXPECT_EQ(a.alive_count(), b.alive_count());
  EXPECT_EQ(a.entity_table().retired_count(), b.entity_table().retired_count());
  for (std::uint16_t type = 0; type < a.component_count(); ++type) {
    const StorageBase& from = a.storage(ComponentType{type});
    const StorageBase& to = b.storage(ComponentType{type});
    ASSERT_TRUE(std::ranges::equal(from.indices(), to.indices())) << from.name() << " keeps its order";
    for (std::uint32_t at = 0; at < to.size(); ++at) {
      EXPECT_EQ(to.position(to.indices()[at]), at);
      EXPECT_TRUE(b.has(to.entity_at(at), to.type()));
    }
    EXPECT_FALSE(to.contains_index(b.entity_table().index_end()));
  }
  EXPECT_TRUE(std::ranges::equal(a.storage<Position>().values(), b.storage<Position>().values()));
  EXPECT_TRUE(std::ranges::equal(a.storage<Name>().values(), b.storage<Name>().values(), {}, &Name::text,
                                 &Name::text));
}

TEST(WorldCopy, EveryCopyIsTheWorldWhateverTheTargetHeld) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    World world, copy;
    live(copy, random, static_cast<int>(random.below(400)));
    for (int round = 0; round < 4; ++round) {
      live(world, random, 200);
      copy_world(world, copy);
      expect_same(world, copy);
      Random same_a(seed), same_b(seed);
      live(world, same_a, 100);
      live(copy, same_b, 100);
      expect_same(world, copy);
      copy.clear();
      live(copy, random, 50);
    }
  }
}

TEST(WorldCopy, NothingOfAFullerTargetStays) {
  World world, copy;
  const Entity far_away{5000, 1};
  ASSERT_TRUE(copy.create_exact(far_away));
  copy.emplace<Position>(far_away);
  world.emplace<Position>(world.create());
  ASSERT_TRUE(world.create_exact({1, Entity::kMaxGeneration}));
  world.destroy({1, Entity::kMaxGeneration});
  copy_world(world, copy);
  expect_same(world, copy);
  EXPECT_EQ(copy.entity_table().index_end(), 2u);
  EXPECT_FALSE(copy.storage<Position>().contains_index(far_away.index));
  // As its index comes into use again, it has nothing.
  ASSERT_TRUE(copy.create_exact({far_away.index, 2}));
  EXPECT_FALSE(copy.all_of<Position>(Entity{far_away.index, 2}));
}

struct Shared {
  std::shared_ptr<int> value;
};

TEST(WorldCopy, ValuesOfTheTargetEnd) {
  const auto make = [](Registry& world) {
    world.register_component<Shared>("test.Shared");
    world.freeze();
  };
  Registry world, copy;
  make(world);
  make(copy);
  const auto value = std::make_shared<int>(1);
  for (int i = 0; i < 3; ++i) world.emplace<Shared>(world.create(), value);
  copy_world(world, copy);
  EXPECT_EQ(value.use_count(), 7);
  copy_world(world, copy);
  EXPECT_EQ(value.use_count(), 7) << "each copy ends the one before";
  world.clear();
  copy_world(world, copy);
  EXPECT_EQ(value.use_count(), 1);
}

TEST(WorldCopy, ChangeLogOfTheTargetTellsWhatEndedAndWhatCame) {
  World world, copy;
  const Entity shared_by_both = world.create();
  world.emplace<Position>(shared_by_both);
  ASSERT_EQ(copy.create(), shared_by_both);
  const Entity gone = copy.create();
  copy.emplace<Burning>(gone);
  copy.emplace<Position>(shared_by_both);
  copy.log().clear();
  copy.clear_changes();
  int signals = 0;
  copy.on_destroy<Burning>().connect([&](Registry&, Entity) { ++signals; });
  copy.on_construct<Position>().connect([&](Registry&, Entity) { ++signals; });
  copy_world(world, copy);
  EXPECT_EQ(signals, 0);
  EXPECT_FALSE(copy.alive(gone));
  ChangeSummary summary;
  EXPECT_THAT(summary.summarize(copy.log().entries()),
              ElementsAre(NetChange{shared_by_both, copy.component_type<Position>(), NetKind::Reset},
                          NetChange{gone, copy.component_type<Burning>(), NetKind::Removed},
                          NetChange{gone, {}, NetKind::Died}));
  EXPECT_TRUE(copy.storage<Position>().is_dirty(shared_by_both));
}

TEST(WorldCopy, CopiesAgainAllocateNothing) {
  World world, copy;
  copy.log().set_enabled(false);
  Random random(3);
  live(world, random, 3000);
  world.clear<Name>();
  copy_world(world, copy);
  const std::size_t before = allocations_so_far();
  copy_world(world, copy);
  EXPECT_EQ(allocations_so_far(), before);
}

struct Unique {
  std::unique_ptr<int> value;
};
struct Liar {  // its copy constructor exists and does not compile
  std::vector<std::unique_ptr<int>> values;
};

}  // namespace

template <>
inline constexpr bool kCopyable<Liar> = false;

namespace {

TEST(WorldCopy, ObstaclesAreNamed) {
  const auto world_of = [](auto... registers) {
    auto world = std::make_unique<Registry>(RegistryLimits{.max_entities = 8});
    (registers(*world), ...);
    world->freeze();
    return world;
  };
  const auto position = [](Registry& world) { world.register_component<Position>("test.P"); };
  const auto other_position = [](Registry& world) { world.register_component<Velocity>("test.P"); };
  const auto health = [](Registry& world) { world.register_component<Health>("test.H"); };
  const auto unique = [](Registry& world) { world.register_component<Unique>("test.Unique"); };
  const auto liar = [](Registry& world) { world.register_component<Liar>("test.Liar"); };
  EXPECT_EQ(copy_obstacle(*world_of(position), *world_of(position)), "");
  EXPECT_THAT(copy_obstacle(*world_of(position), *world_of()),
              HasSubstr("test.P is registered in the source only"));
  EXPECT_THAT(copy_obstacle(*world_of(), *world_of(position)),
              HasSubstr("test.P is registered in the target only"));
  EXPECT_THAT(copy_obstacle(*world_of(position), *world_of(health)),
              HasSubstr("is test.P here and test.H there"));
  EXPECT_THAT(copy_obstacle(*world_of(position), *world_of(other_position)),
              HasSubstr("test.P is another C++ type"));
  EXPECT_THAT(copy_obstacle(*world_of(unique), *world_of(unique)),
              HasSubstr("test.Unique has no copy constructor"));
  EXPECT_THAT(copy_obstacle(*world_of(liar), *world_of(liar)),
              HasSubstr("test.Liar has no copy constructor"));
  World large;
  Registry small{RegistryLimits{.max_entities = 2}};
  small.register_component<Position>("test.Position");
  small.register_component<Velocity>("test.Velocity");
  small.register_component<Health>("test.Health");
  small.register_component<Burning>("test.Burning");
  small.register_component<Name>("test.Name");
  small.freeze();
  for (int i = 0; i < 3; ++i) large.create();
  EXPECT_THAT(copy_obstacle(large, small), HasSubstr("raise RegistryLimits::max_entities"));
  EXPECT_DEATH(copy_world(large, small), "raise RegistryLimits::max_entities");
}

}  // namespace
}  // namespace shoal
