// Components with stable addresses: a pointer to one holds until the component is removed, whatever happens to others.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "shared/base/random.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

/// Counts itself, and knows its own address.
struct Counted {
  static inline std::set<const Counted*> living;
  static inline int made = 0;
  static inline int ended = 0;

  explicit Counted(int initial = 0) : number(initial) { begin(); }
  Counted(const Counted& other) : number(other.number) { begin(); }
  Counted(Counted&& other) noexcept : number(other.number) { begin(); }
  Counted& operator=(const Counted&) = default;
  ~Counted() {
    EXPECT_EQ(living.erase(this), 1u) << "ended twice, or moved as bytes";
    ++ended;
  }
  void begin() {
    EXPECT_TRUE(living.insert(this).second) << "made where one lives";
    ++made;
  }
  int number;
};
struct Plain {  // trivially copyable, not a multiple of a pointer
  std::int32_t numbers[5] = {};
};
struct alignas(128) Wide {
  std::int32_t number = 0;
};
struct Byte {  // smaller than a pointer
  std::uint8_t number = 0;
};

}  // namespace
}  // namespace shoal::test

template <>
inline constexpr bool shoal::kStableAddress<shoal::test::Counted> = true;
template <>
inline constexpr bool shoal::kStableAddress<shoal::test::Plain> = true;
template <>
inline constexpr bool shoal::kStableAddress<shoal::test::Wide> = true;
template <>
inline constexpr bool shoal::kStableAddress<shoal::test::Byte> = true;

namespace shoal::test {
namespace {

struct StableAddress : testing::Test {
  StableAddress() {
    Counted::living.clear();
    Counted::made = 0;
    Counted::ended = 0;
  }
  ~StableAddress() override {
    if (world) world->clear();
    world.reset();
    EXPECT_TRUE(Counted::living.empty()) << "some never ended";
    EXPECT_EQ(Counted::made, Counted::ended);
  }
  std::vector<Entity> some(std::size_t count) {
    std::vector<Entity> entities(count);
    world->create(entities);
    return entities;
  }
  std::optional<World> world{std::in_place, RegistryLimits{}, [](Registry& registry) {
                               registry.register_component<Counted>("test.Counted");
                               registry.register_component<Plain>("test.Plain");
                               registry.register_component<Wide>("test.Wide");
                               registry.register_component<Byte>("test.Byte");
                             }};
};

TEST_F(StableAddress, PointersHoldOverGrowthSortRemovalOfOthersAndShrinking) {
  std::map<Entity, const Counted*> counted;
  std::map<Entity, const Plain*> plain;
  int number = 0;
  for (const Entity entity : some(1000)) {
    counted[entity] = &world->emplace<Counted>(entity, number);
    plain[entity] = &world->emplace<Plain>(entity, Plain{{number, 1, 2, 3, number}});
    ++number;
  }
  world->sort<Counted>([](const Counted& a, const Counted& b) { return b.number < a.number; });
  world->sort_as<Plain, Counted>();
  for (std::uint32_t index = 0; index < 1000; ++index) {
    if (index % 3 == 0) continue;
    counted.erase(world->entity_at(index));
    plain.erase(world->entity_at(index));
    world->destroy(world->entity_at(index));
  }
  world->shrink_to_fit();
  world->storage<Counted>().reserve(5000);
  EXPECT_EQ(counted.size(), 334u);
  for (const auto& [entity, address] : counted) {
    ASSERT_EQ(&world->get<const Counted>(entity), address);
    ASSERT_EQ(address->number, static_cast<int>(entity.index));
    ASSERT_EQ(&world->get<const Plain>(entity), plain[entity]);
    ASSERT_EQ(plain[entity]->numbers[0], static_cast<int>(entity.index));
    ASSERT_EQ(plain[entity]->numbers[4], static_cast<int>(entity.index));
    ASSERT_EQ(world->storage(world->component_type<Plain>()).find(entity.index), plain[entity]);
  }
}

TEST_F(StableAddress, EachValueLiesAlignedAndAlone) {
  std::set<std::uintptr_t> places;
  for (const Entity entity : some(300)) {
    const auto wide = reinterpret_cast<std::uintptr_t>(&world->emplace<Wide>(entity, 7));
    EXPECT_EQ(wide % 128, 0u);
    EXPECT_TRUE(places.insert(wide).second);
    EXPECT_TRUE(
        places.insert(reinterpret_cast<std::uintptr_t>(&world->emplace<Byte>(entity, std::uint8_t{1})))
            .second);
  }
  for (const Entity entity : some(1)) world->emplace<Byte>(entity, std::uint8_t{2});
  world->view<const Wide, const Byte>().each([](const Wide& wide, const Byte& byte) {
    EXPECT_EQ(wide.number, 7);
    EXPECT_EQ(byte.number, 1);
  });
}

TEST_F(StableAddress, EveryValueEndsOnce) {
  const std::vector<Entity> entities = some(200);
  world->insert<Counted>(std::span<const Entity>(entities).first(100), Counted(5));
  for (std::size_t i = 100; i < 200; ++i) world->emplace<Counted>(entities[i], 6);
  EXPECT_EQ(Counted::living.size(), 200u);
  world->replace<Counted>(entities[3], 8);
  world->remove<Counted>(entities[4]);
  world->destroy(entities[5]);
  world->destroy(std::span<const Entity>(entities).subspan(10, 20));
  EXPECT_EQ(Counted::living.size(), 178u);
  world->clear<Counted>();
  EXPECT_TRUE(Counted::living.empty());
  world->emplace<Counted>(entities[0], 1);  // ends with the world
}

TEST_F(StableAddress, WhatASignalMakesWhileTheWorldEndsEndsToo) {
  world->on_destroy<Byte>().connect(
      [](Registry& registry, Entity) { registry.emplace<Counted>(registry.create(), 1); });
  world->emplace<Byte>(some(1)[0]);
  world.reset();
  EXPECT_EQ(Counted::made, Counted::ended);
}

// R4
TEST_F(StableAddress, RemoveFromInsideOnConstructLeavesAValueToReferTo) {
  const ScopedConnection connection = world->on_construct<Counted>().connect_scoped(
      [](Registry& registry, Entity entity) { registry.remove<Counted>(entity); });
  for (const Entity entity : some(70)) {
    EXPECT_EQ(world->emplace<Counted>(entity, static_cast<int>(entity.index)).number,
              static_cast<int>(entity.index));
    EXPECT_FALSE(world->all_of<Counted>(entity));
    EXPECT_EQ(Counted::living.size(), 1u) << "the one that belongs to nobody";
  }
}

TEST_F(StableAddress, EmplaceMayReferToAnotherValueOfThePool) {
  const std::vector<Entity> entities = some(200);
  world->emplace<Counted>(entities[0], 9);
  for (std::size_t i = 1; i < 100; ++i)
    world->emplace<Counted>(entities[i], world->get<Counted>(entities[i - 1]));
  world->insert<Counted>(std::span<const Entity>(entities).subspan(100), world->get<Counted>(entities[50]));
  for (const Entity entity : entities) EXPECT_EQ(world->get<Counted>(entity).number, 9);
}

TEST_F(StableAddress, PlacesOfTheDeadAreTakenAgain) {
  const std::vector<Entity> entities = some(640);
  world->insert<Plain>(entities);
  const std::size_t memory = world->storage<Plain>().memory_bytes();
  std::set<const Plain*> places;
  for (const Entity entity : entities) places.insert(&world->get<const Plain>(entity));
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < entities.size(); i += 2) world->remove<Plain>(entities[i]);
    for (std::size_t i = 0; i < entities.size(); i += 2) world->emplace<Plain>(entities[i], Plain{{round}});
  }
  EXPECT_EQ(world->storage<Plain>().memory_bytes(), memory);
  for (const Entity entity : entities) EXPECT_TRUE(places.contains(&world->get<const Plain>(entity)));
}

TEST_F(StableAddress, BytesArePutInSilently) {
  const Plain value{{1, 2, 3, 4, 5}};
  StorageBase& pool = world->storage<Plain>();
  const std::vector<Entity> entities = some(150);
  for (const Entity entity : entities) pool.emplace_silently(entity, &value);
  const Plain other{{9, 9, 9, 9, 9}};
  pool.replace_silently(entities[70], &other);
  EXPECT_EQ(world->get<const Plain>(entities[149]).numbers[4], 5);
  EXPECT_EQ(world->get<const Plain>(entities[70]).numbers[0], 9);
  EXPECT_TRUE(pool.has_stable_addresses());
}

TEST_F(StableAddress, AgreesWithAMapOverRandomOperations) {
  Random random(11);
  const std::vector<Entity> entities = some(300);
  std::map<Entity, std::pair<int, const Counted*>> model;
  for (int step = 0; step < 20'000; ++step) {
    const Entity entity = entities[random.below(300)];
    if (!model.contains(entity)) {
      model[entity] = {step, &world->emplace<Counted>(entity, step)};
    } else if (random.below(2) == 0) {
      world->remove<Counted>(entity);
      model.erase(entity);
    } else {
      world->replace<Counted>(entity, step);
      model[entity].first = step;
    }
    if (random.below(500) != 0) continue;
    switch (random.below(3)) {
      case 0:
        world->sort<Counted>([](const Counted& a, const Counted& b) { return a.number < b.number; });
        break;
      case 1:
        world->shrink_to_fit();
        break;
      default:
        world->clear<Counted>();
        model.clear();
    }
    ASSERT_EQ(Counted::living.size(), model.size());
    for (const auto& [known, held] : model) {
      ASSERT_EQ(&world->get<const Counted>(known), held.second);
      ASSERT_EQ(held.second->number, held.first);
    }
  }
}

}  // namespace
}  // namespace shoal::test
