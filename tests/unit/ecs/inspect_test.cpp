// The text about entities and pools that people read.
#include "shared/ecs/inspect.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

struct Inspect : testing::Test {
  Inspect() : entity(world.create()) {}
  World world;
  Entity entity;
};

TEST_F(Inspect, EntityShowsItsComponentsByNameWithBytesAndTags) {
  world.emplace<Health>(entity, Health{0x1234, 0xABCD});
  world.emplace<Burning>(entity);
  world.emplace<Name>(entity, "somebody");
  std::uint16_t probe = 1;
  unsigned char low_first = 0;
  std::memcpy(&low_first, &probe, 1);
  const char* bytes = low_first == 1 ? "34 12 cd ab" : "12 34 ab cd";
  EXPECT_EQ(dump(world, entity), fmt::format("entity 0:1 alive, 3 components, {} bytes of values\n"
                                             "  test.Health   4 bytes: {}\n"
                                             "  test.Burning  tag\n"
                                             "  test.Name     {} bytes: not copyable as bytes\n",
                                             sizeof(Health) + sizeof(Name), bytes, sizeof(Name)));
}

TEST_F(Inspect, EntityWithoutComponentsIsOneLine) {
  EXPECT_EQ(dump(world, entity), "entity 0:1 alive, 0 components, 0 bytes of values\n");
}

TEST_F(Inspect, HandleOfAnEarlierLifeShowsNothingOfTheLaterOne) {
  world.destroy(entity);
  const Entity reborn = world.create();
  world.emplace<Position>(reborn);
  EXPECT_EQ(dump(world, entity), "entity 0:1 dead (or never alive)\n");
  EXPECT_EQ(dump(world, kNullEntity), "the null entity\n");
  EXPECT_EQ(dump(world, {4'000'000, 7}), "entity 4000000:7 dead (or never alive)\n");
}

TEST_F(Inspect, DyingEntityIsStillWhole) {
  world.emplace<Burning>(entity);
  std::string text;
  const ScopedConnection connection = world.on_destroy<Burning>().connect_scoped(
      [&](Registry& registry, Entity dying) { text = dump(registry, dying); });
  world.destroy(entity);
  EXPECT_EQ(text, "entity 0:1 dying, 1 component, 0 bytes of values\n  test.Burning  tag\n");
}

TEST_F(Inspect, PrinterWhoKnowsTheTypeReplacesTheBytes) {
  world.emplace<Health>(entity, Health{5, 10});
  world.emplace<Name>(entity, "somebody");
  world.emplace<Velocity>(entity);
  world.emplace<Burning>(entity);
  const ValuePrinter print = [](const StorageBase& pool, const void* value) -> std::optional<std::string> {
    if (pool.name() == "test.Health")
      return fmt::format("{} left", static_cast<const Health*>(value)->current);
    if (pool.name() == "test.Name") return static_cast<const Name*>(value)->text;
    EXPECT_EQ(pool.name(), "test.Velocity") << "tags have no value to print";
    return std::nullopt;
  };
  EXPECT_EQ(dump(world, entity, print), fmt::format("entity 0:1 alive, 4 components, {} bytes of values\n"
                                                    "  test.Velocity  8 bytes: 00 00 00 00 00 00 00 00\n"
                                                    "  test.Health    4 bytes: 5 left\n"
                                                    "  test.Burning   tag\n"
                                                    "  test.Name      {} bytes: somebody\n",
                                                    12 + sizeof(Name), sizeof(Name)));
}

TEST_F(Inspect, LongValuesAreCutAfter32Bytes) {
  struct Long {
    unsigned char bytes[40] = {};
  };
  Registry registry;
  registry.register_component<Long>("test.Long");
  registry.freeze();
  const Entity owner = registry.create();
  registry.emplace<Long>(owner);
  std::string zeros = "00";
  for (int i = 1; i < 32; ++i) zeros += " 00";
  EXPECT_EQ(
      dump(registry, owner),
      "entity 0:1 alive, 1 component, 40 bytes of values\n  test.Long  40 bytes: " + zeros + " and 8 more\n");
}

TEST_F(Inspect, LookingMarksNothingAsChanged) {
  world.emplace<Position>(entity);
  world.clear_changes();
  dump(world, entity);
  statistics_table(world);
  EXPECT_FALSE(world.storage<Position>().any_changes());
}

TEST_F(Inspect, PoolStatisticsCountSizeMemoryAndAnnouncedChanges) {
  for (int i = 0; i < 100; ++i) world.emplace<Position>(world.create());
  world.clear_changes();
  world.patch<Position>(world.entity_at(1), [](Position&) {});
  world.patch<Position>(world.entity_at(99), [](Position&) {});
  world.get<Position>(world.entity_at(5)).x = 1;  // handed out, not announced
  const std::vector<PoolStatistics> all = pool_statistics(world);
  ASSERT_EQ(all.size(), world.component_count());
  const StorageBase& pool = world.storage<Position>();
  const PoolStatistics& position = all[world.component_type<Position>().value];
  EXPECT_EQ(position.name, "test.Position");
  EXPECT_EQ(position.type, pool.type());
  EXPECT_EQ(position.size, 100u);
  EXPECT_EQ(position.capacity, pool.capacity());
  EXPECT_GE(position.capacity, 100u);
  EXPECT_EQ(position.value_bytes, sizeof(Position));
  EXPECT_EQ(position.memory_bytes, pool.memory_bytes());
  EXPECT_EQ(position.dirty, 2u);
  EXPECT_EQ(all[world.component_type<Burning>().value].value_bytes, 0u);
}

TEST_F(Inspect, TableHasALineForEveryPoolAndOneForTheRegistry) {
  world.emplace<Health>(entity);
  const StorageBase& pool = world.storage<Health>();
  const std::string table = statistics_table(world);
  EXPECT_NE(table.find("component     number      size  capacity  value bytes  memory bytes     dirty\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find(fmt::format("test.Health        3         1        16            4 {:>13}         1\n",
                                   pool.memory_bytes())),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("shoal.Local        0         0"), std::string::npos) << table;
  EXPECT_NE(table.find(fmt::format("1 of at most 1048576 entities, {} bytes with", world.memory_bytes())),
            std::string::npos)
      << table;
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 2 + static_cast<int>(world.component_count()));
}

}  // namespace
}  // namespace shoal::test
