// A range of entities that get a component at once: as emplace for one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

struct BulkInsert : testing::Test {
  std::vector<Entity> some(int count) {
    std::vector<Entity> entities;
    for (int i = 0; i < count; ++i) entities.push_back(world.create());
    return entities;
  }
  World world;
};

TEST_F(BulkInsert, OneValueForAll) {
  const std::vector<Entity> entities = some(100);
  world.insert<Position>(entities, {3, 4});
  EXPECT_EQ(world.storage<Position>().size(), 100u);
  for (const Entity entity : entities) EXPECT_EQ(world.get<const Position>(entity), (Position{3, 4}));
}

TEST_F(BulkInsert, OneValueForEach) {
  const std::vector<Entity> entities = some(3);
  const std::vector<Name> names{{"one"}, {"two"}, {"three"}};
  world.insert<Name>(entities, std::span<const Name>(names));
  EXPECT_EQ(world.get<const Name>(entities[0]).text, "one");
  EXPECT_EQ(world.get<const Name>(entities[2]).text, "three");
}

TEST_F(BulkInsert, TagsNeedNoValue) {
  world.insert<Burning>(some(70));
  EXPECT_EQ(world.storage<Burning>().size(), 70u);
}

TEST_F(BulkInsert, MasksAndLogTellOfEachWhereNobodyListens) {
  const std::vector<Entity> entities = some(70);
  world.log().clear();
  world.insert<Position>(entities, {1, 2});
  ASSERT_EQ(world.log().entries().size(), 70u);
  for (std::size_t i = 0; i < entities.size(); ++i) {
    EXPECT_TRUE(world.has(entities[i], world.component_type<Position>()));
    EXPECT_EQ(world.log().entries()[i],
              (LogEntry{entities[i], world.component_type<Position>(), LogKind::Added}));
    EXPECT_TRUE(world.storage<Position>().is_dirty(entities[i]));
  }
  world.destroy(entities);
  EXPECT_TRUE(world.storage<Position>().empty());
}

TEST_F(BulkInsert, OfNobodyChangesNothing) {
  world.insert<Position>({}, {1, 2});
  EXPECT_TRUE(world.storage<Position>().empty());
  EXPECT_FALSE(world.storage<Position>().any_changes());
}

/// What a listener of on_construct saw.
struct Seen {
  Entity entity;
  float x;
  std::size_t size;
  friend bool operator==(const Seen&, const Seen&) = default;
};
std::vector<Seen> record(World& world, bool at_once) {
  std::vector<Seen> seen;
  const ScopedConnection connection =
      world.on_construct<Position>().connect_scoped([&](Registry& registry, Entity entity) {
        seen.push_back({entity, registry.get<const Position>(entity).x, registry.storage<Position>().size()});
        if (seen.size() == 2) registry.remove<Position>(entity);
      });
  std::vector<Entity> entities;
  std::vector<Position> values;
  for (int i = 0; i < 40; ++i) entities.push_back(world.create());
  std::swap(entities[3], entities[30]);
  for (int i = 0; i < 40; ++i) values.push_back({static_cast<float>(i), 0});
  if (at_once) {
    world.insert<Position>(entities, std::span<const Position>(values));
  } else {
    for (std::size_t i = 0; i < entities.size(); ++i) world.emplace<Position>(entities[i], values[i]);
  }
  return seen;
}

TEST_F(BulkInsert, SignalsLogOrderAndChangesAreThoseOfEmplaceOneAfterTheOther) {
  World other;
  const std::vector<Seen> seen = record(world, true);
  EXPECT_EQ(seen.size(), 40u);
  EXPECT_EQ(seen, record(other, false));
  const auto& pool = std::as_const(world).storage<Position>();
  const auto& expected = std::as_const(other).storage<Position>();
  EXPECT_TRUE(std::ranges::equal(pool.indices(), expected.indices()));
  EXPECT_TRUE(std::ranges::equal(pool.values(), expected.values()));
  EXPECT_TRUE(std::ranges::equal(world.log().entries(), other.log().entries()));
  world.for_each_entity([&](Entity entity) {
    EXPECT_TRUE(std::ranges::equal(world.component_mask(entity), other.component_mask(entity)));
  });
  for (std::size_t at = 0; at < pool.size(); ++at) EXPECT_TRUE(pool.is_dirty(pool.entity_at(at)));
}

struct Counted {
  static inline int moves = 0;
  Counted() = default;
  Counted(const Counted&) = default;
  Counted(Counted&&) noexcept { ++moves; }
  Counted& operator=(const Counted&) = default;
  int value = 0;
};

TEST_F(BulkInsert, ThePoolGrowsOnce) {
  Registry registry;
  registry.register_component<Counted>("test.Counted");
  registry.freeze();
  std::vector<Entity> entities;
  for (int i = 0; i < 1000; ++i) entities.push_back(registry.create());
  for (std::size_t i = 0; i < 10; ++i) registry.emplace<Counted>(entities[i]);
  Counted::moves = 0;
  registry.insert<Counted>(std::span<const Entity>(entities).subspan(10));
  EXPECT_EQ(Counted::moves, 10)
      << "those of before once for the growth; the new ones are made in their places";
  EXPECT_LT(registry.storage<Counted>().capacity(), 1016u);
}

TEST_F(BulkInsert, ManySmallRangesGrowThePoolSeldom) {
  const std::vector<Entity> entities = some(4000);
  std::size_t growths = 0;
  for (std::size_t first = 0; first < 4000; first += 2) {
    const std::size_t before = world.storage<Position>().capacity();
    world.insert<Position>(std::span<const Entity>(entities).subspan(first, 2), {1, 1});
    world.insert<Burning>(std::span<const Entity>(entities).subspan(first, 2));
    if (world.storage<Position>().capacity() != before) ++growths;
  }
  EXPECT_LE(growths, 20u);
}

TEST_F(BulkInsert, TheValueMayLieInThePool) {
  const Entity first = world.create();
  world.emplace<Name>(first, std::string(100, 'x'));
  const std::vector<Entity> entities = some(100);
  world.insert<Name>(entities, std::as_const(world).get<Name>(first));
  for (const Entity entity : entities) EXPECT_EQ(world.get<const Name>(entity).text, std::string(100, 'x'));
}

struct BulkInsertDeathTest : BulkInsert {
  void insert(std::vector<Entity> entities) { world.insert<Position>(entities, {1, 2}); }
};

// on_construct speaks before the message if anything was added.
TEST_F(BulkInsertDeathTest, RefusedByNameBeforeAnythingChanged) {
  const std::vector<Entity> entities = some(4);
  const Entity has = entities[3];
  world.emplace<Position>(has);
  const Entity dead = world.create();
  world.destroy(dead);
  world.on_construct<Position>().connect([](Registry&, Entity) { std::_Exit(0); });
  EXPECT_DEATH(insert({entities[0], has}),
               "insert of test.Position on entity 3:1 .alive.: .*already; use emplace_or_replace");
  EXPECT_DEATH(insert({entities[0], dead}),
               "insert of test.Position on entity 4:1 .dead.: the entity must be alive");
  EXPECT_DEATH(insert({entities[0], kNullEntity}), "insert of test.Position on .*null");
  EXPECT_DEATH(insert({entities[2], entities[0], entities[1], entities[2]}),
               "insert of test.Position on entity 2:1 .alive.: the entity stands in the range twice");
}

TEST_F(BulkInsertDeathTest, ADyingEntityGetsNothing) {
  const std::vector<Entity> entities = some(2);
  world.emplace<Health>(entities[1]);
  const ScopedConnection connection =
      world.on_destroy<Health>().connect_scoped([&](Registry& registry, Entity) {
        registry.insert<Position>(entities, {1, 2});
      });
  world.on_construct<Position>().connect([](Registry&, Entity) { std::_Exit(0); });
  EXPECT_DEATH(world.destroy(entities[1]), "insert of test.Position on entity 1:1 .alive.: .*dying");
}

TEST_F(BulkInsertDeathTest, OtherNumberOfValues) {
  const std::vector<Entity> entities = some(2);
  const std::vector<Position> values(3);
  EXPECT_DEATH(world.insert<Position>(entities, std::span<const Position>(values)), "as many values as");
}

TEST_F(BulkInsertDeathTest, ValuesOfThePoolItself) {
  world.insert<Position>(some(2), {1, 2});
  const std::vector<Entity> entities = some(2);
  EXPECT_DEATH(world.insert<Position>(entities, std::as_const(world).storage<Position>().values()),
               "lie in the pool");
}

// Entity 1 gets the component from the listener of entity 0, so its own turn finds it there: as emplace.
TEST_F(BulkInsertDeathTest, ListenerThatGivesItToALaterOne) {
  const std::vector<Entity> entities = some(2);
  world.on_construct<Position>().connect([&](Registry& registry, Entity entity) {
    if (entity == entities[0]) registry.emplace<Position>(entities[1]);
  });
  EXPECT_DEATH(insert(entities), "emplace of test.Position on entity 1:1 .alive.: .*already");
}

}  // namespace
}  // namespace shoal::test
