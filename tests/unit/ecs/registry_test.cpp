#include "shared/ecs/registry.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shared/base/hash.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <int kNumber>
struct Numbered {
  int value = 0;
};

TEST(Registry, NumbersComponentsInTheOrderOfRegistration) {
  Registry registry;
  EXPECT_EQ(registry.register_component<Position>("test.Position"), ComponentType{1});
  EXPECT_EQ(registry.register_component<Burning>("test.Burning"), ComponentType{2});
  registry.freeze();
  EXPECT_EQ(registry.component_count(), 3u);
  EXPECT_EQ(registry.component_type<Local>(), ComponentType{0});
  EXPECT_EQ(registry.storage(ComponentType{0}).name(), "shoal.Local");
  EXPECT_EQ(registry.find_component(fnv1a32("test.Burning")), ComponentType{2});
  EXPECT_EQ(registry.find_component("test.Position"), ComponentType{1});
  EXPECT_EQ(registry.find_component(0xDEADBEEF), std::nullopt);
  EXPECT_EQ(registry.find_component("test.Nothing"), std::nullopt);
}

TEST(Registry, TwoRegistriesNumberTheSameTypesEachInTheirOwnWay) {
  Registry first;
  first.register_component<Position>("test.Position");
  first.register_component<Velocity>("test.Velocity");
  first.freeze();
  Registry second;
  second.register_component<Velocity>("test.Velocity");
  second.register_component<Position>("other.Position");
  second.freeze();
  EXPECT_NE(first.component_type<Position>(), second.component_type<Position>());
  second.emplace<Position>(second.create(), 1.0f, 2.0f);
  EXPECT_EQ(first.view<Position>().size_hint(), 0u);
}

TEST(Registry, GivesBackWhatWasPutIn) {
  World world;
  const Entity entity = world.create();
  EXPECT_EQ(world.emplace<Position>(entity, 1.0f, 2.0f), (Position{1, 2}));
  EXPECT_EQ(world.emplace_or_replace<Position>(entity, Position{3, 4}), (Position{3, 4}));
  EXPECT_EQ(world.get_or_emplace<Position>(entity, 9.0f, 9.0f), (Position{3, 4}));
  EXPECT_EQ(world.get_or_emplace<Health>(entity, Health{5, 10}).maximum, 10);
  EXPECT_EQ(world.replace<Position>(entity), (Position{0, 0}));
  EXPECT_EQ(world.patch<Position>(
                entity, [](Position& p) { p.x = 1; }, [](Position& p) { p.y = p.x + 1; }),
            (Position{1, 2}));
  auto [position, health] = world.get<Position, const Health>(entity);
  position.x = 8;
  EXPECT_EQ(world.get<Position>(entity).x, 8.0f);
  EXPECT_EQ(health.current, 5);
  EXPECT_EQ(world.try_get<Velocity>(entity), nullptr);
  EXPECT_TRUE((world.all_of<Position, Health>(entity)));
  EXPECT_FALSE((world.all_of<Position, Velocity>(entity)));
  EXPECT_TRUE((world.any_of<Position, Velocity>(entity)));
  EXPECT_TRUE(world.remove<Health>(entity));
  EXPECT_FALSE(world.remove<Health>(entity));
  world.erase<Position>(entity);
  EXPECT_FALSE((world.any_of<Position, Health>(entity)));
}

TEST(Registry, QuestionsAboutADeadEntityHaveAnAnswer) {
  World world;
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.destroy(entity);
  for (const Entity gone : {entity, kNullEntity}) {
    EXPECT_FALSE(world.alive(gone));
    EXPECT_FALSE(world.all_of<Position>(gone));
    EXPECT_FALSE(world.any_of<Position>(gone));
    EXPECT_EQ(world.try_get<Position>(gone), nullptr);
    EXPECT_FALSE(world.dying(gone));
  }
}

TEST(Registry, TagsWork) {
  World world;
  const Entity entity = world.create();
  int heard = 0;
  world.on_construct<Burning>().connect([&](Registry&, Entity) { ++heard; });
  world.on_update<Burning>().connect([&](Registry&, Entity) { heard += 10; });
  world.emplace<Burning>(entity);
  world.emplace_or_replace<Burning>(entity);
  world.get_or_emplace<Burning>(entity);
  EXPECT_TRUE(world.all_of<Burning>(entity));
  EXPECT_EQ(heard, 11);
}

TEST(Registry, MaskOfAnEntityTellsItsComponentsBeyond64Types) {
  std::vector<std::uint16_t> destroyed;
  Registry registry;
  [&]<int... kNumbers>(std::integer_sequence<int, kNumbers...>) {
    (registry.register_component<Numbered<kNumbers>>(fmt::format("test.Numbered{}", kNumbers)), ...);
  }(std::make_integer_sequence<int, 130>{});
  registry.freeze();
  const Entity entity = registry.create();
  const Entity other = registry.create();
  registry.emplace<Numbered<0>>(entity);
  registry.emplace<Numbered<63>>(entity, 63);
  registry.emplace<Numbered<129>>(entity, 129);
  registry.emplace<Numbered<129>>(other, 1);
  EXPECT_THAT(registry.component_mask(entity), ElementsAre(2u, 1u, 4u));
  for (const ComponentType type : {ComponentType{130}, ComponentType{1}, ComponentType{64}}) {
    registry.storage(type).on_destroy().connect(
        [&, type](Registry&, Entity) { destroyed.push_back(type.value); });
  }
  registry.destroy(entity);
  EXPECT_THAT(destroyed, ElementsAre(1, 64, 130)) << "by component number";
  EXPECT_EQ(registry.get<Numbered<129>>(other).value, 1);
  EXPECT_EQ(registry.create(), (Entity{entity.index, 2}));
  EXPECT_THAT(registry.component_mask({entity.index, 2}), ElementsAre(0u, 0u, 0u));
}

TEST(Registry, ForEachEntityVisitsAlsoThoseWithoutComponents) {
  World world;
  for (int i = 0; i < 5; ++i) world.create();
  world.destroy(world.entity_at(2));
  std::vector<std::uint32_t> visited;
  world.for_each_entity([&](Entity entity) {
    visited.push_back(entity.index);
    world.destroy(entity);
  });
  EXPECT_THAT(visited, ElementsAre(0, 1, 3, 4));
  EXPECT_EQ(world.alive_count(), 0u);
}

// R2
TEST(Registry, TryCreateAtTheLimitChangesNothing) {
  World world({.max_entities = 2});
  world.create();
  world.create();
  world.log().clear();
  EXPECT_EQ(world.try_create(), std::nullopt);
  EXPECT_FALSE(world.create_exact({2, 1}));
  EXPECT_EQ(world.alive_count(), 2u);
  EXPECT_TRUE(world.log().entries().empty());
}

// R3
TEST(Registry, OnDestroyListenerSeesTheDyingEntityWhole) {
  std::vector<std::string> heard;
  World world;
  const auto whole = [&](const char* name) {
    return [&heard, name](Registry& registry, Entity entity) {
      EXPECT_TRUE(registry.alive(entity));
      EXPECT_TRUE((registry.all_of<Position, Health, Burning>(entity))) << "when " << name << " hears of it";
      EXPECT_EQ(registry.get<Health>(entity).current, 7);
      heard.push_back(name);
    };
  };
  // Connected in another order than the components are numbered.
  world.on_destroy<Burning>().connect(whole("burning"));
  world.on_destroy<Health>().connect(whole("health"));
  world.on_destroy<Position>().connect(whole("position"));
  const auto spawn = [&] {
    const Entity entity = world.create();
    world.emplace<Burning>(entity);
    world.emplace<Health>(entity, Health{7, 7});
    world.emplace<Position>(entity);
    return entity;
  };
  const auto in_order = ElementsAre("position", "health", "burning");
  world.destroy(spawn());
  EXPECT_THAT(heard, in_order) << "destroy";
  heard.clear();
  const Entity range[] = {spawn()};
  world.destroy(range);
  EXPECT_THAT(heard, in_order) << "range";
  heard.clear();
  spawn();
  world.clear();
  EXPECT_THAT(heard, in_order) << "clear";
}

// R3
TEST(Registry, TeardownFiresOnDestroyWithTheEntityWhole) {
  int heard = 0;
  {
    World world;
    world.on_destroy<Position>().connect([&](Registry& registry, Entity entity) {
      EXPECT_EQ(registry.get<Health>(entity).current, 7);
      ++heard;
    });
    const Entity entity = world.create();
    world.emplace<Health>(entity, Health{7, 7});
    world.emplace<Position>(entity);
  }
  EXPECT_EQ(heard, 1);
}

TEST(Registry, OnDestroyOfARemovalStillSeesTheValue) {
  World world;
  const Entity entity = world.create();
  world.emplace<Health>(entity, Health{7, 7});
  int seen = 0;
  world.on_destroy<Health>().connect(
      [&](Registry& registry, Entity e) { seen = registry.get<const Health>(e).current; });
  world.remove<Health>(entity);
  EXPECT_EQ(seen, 7);
  world.emplace<Health>(entity, Health{8, 8});
  world.clear<Health>();
  EXPECT_EQ(seen, 8);
}

// R4
TEST(Registry, DestroyFromInsideOnDestroyOfTheSameEntityDoesNothing) {
  int heard = 0;
  World world;
  world.on_destroy<Position>().connect([&](Registry& registry, Entity entity) {
    EXPECT_TRUE(registry.dying(entity));
    registry.destroy(entity);
    EXPECT_FALSE(registry.remove<Position>(entity));
    EXPECT_FALSE(registry.remove<Health>(entity)) << "it goes with the entity";
    EXPECT_TRUE(registry.all_of<Health>(entity));
    ++heard;
  });
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.emplace<Health>(entity);
  world.destroy(entity);
  EXPECT_EQ(heard, 1);
  EXPECT_FALSE(world.alive(entity));
  EXPECT_TRUE(world.storage<Health>().empty());
}

// R4
TEST(Registry, DestroyFromInsideOnDestroyOfARemovalWaitsForItsEnd) {
  std::vector<std::string> heard;
  World world;
  world.on_destroy<Position>().connect([&](Registry& registry, Entity entity) {
    registry.destroy(entity);
    EXPECT_TRUE((registry.all_of<Position, Health>(entity)));
    heard.push_back("first");
  });
  world.on_destroy<Position>().connect([&](Registry& registry, Entity entity) {
    EXPECT_EQ(registry.get<Health>(entity).current, 7) << "the second listener needs the entity too";
    heard.push_back("second");
  });
  world.on_destroy<Health>().connect([&](Registry&, Entity) { heard.push_back("health"); });
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.emplace<Health>(entity, Health{7, 7});
  EXPECT_TRUE(world.remove<Position>(entity));
  EXPECT_THAT(heard, ElementsAre("first", "second", "health"));
  EXPECT_FALSE(world.alive(entity));
}

// R4
TEST(Registry, DestroyOfOthersFromInsideOnDestroyIsImmediate) {
  World world;
  // A chain: each one takes the next with it.
  world.on_destroy<Position>().connect([](Registry& registry, Entity entity) {
    const Entity next = registry.entity_at(entity.index + 1);
    if (!next.is_null()) registry.destroy(next);
  });
  for (int i = 0; i < 200; ++i) world.emplace<Position>(world.create());
  world.destroy(world.entity_at(0));
  EXPECT_EQ(world.alive_count(), 0u);
  EXPECT_TRUE(world.storage<Position>().empty());
}

// R4
TEST(Registry, RemoveFromInsideOnConstructLeavesNoDanglingReference) {
  int later_listener = 0;
  World world;
  world.on_construct<Name>().connect(
      [](Registry& registry, Entity entity) { registry.remove<Name>(entity); });
  world.on_construct<Name>().connect([&](Registry&, Entity) { ++later_listener; });
  const Entity entity = world.create();
  Name& name = world.emplace<Name>(entity, std::string(100, 'x'));
  EXPECT_FALSE(world.all_of<Name>(entity));
  EXPECT_EQ(name.text, std::string(100, 'x')) << "a value that belongs to nobody";
  EXPECT_EQ(later_listener, 0) << "there is nothing to hear about any more";
}

// R4
TEST(Registry, DestroyFromInsideOnConstructAndOnUpdateIsDefined) {
  World world;
  world.on_construct<Position>().connect([](Registry& registry, Entity entity) { registry.destroy(entity); });
  world.on_update<Name>().connect([](Registry& registry, Entity entity) { registry.destroy(entity); });
  Entity entity = world.create();
  EXPECT_EQ(world.emplace<Position>(entity, 1.0f, 2.0f), (Position{1, 2}));
  EXPECT_FALSE(world.alive(entity));
  entity = world.create();
  world.emplace<Name>(entity);
  EXPECT_EQ(world.replace<Name>(entity, "gone").text, "gone");
  EXPECT_FALSE(world.alive(entity));
  entity = world.create();
  world.emplace<Name>(entity);
  world.patch<Name>(entity, [](Name& name) { name.text = "gone too"; });
  EXPECT_FALSE(world.alive(entity));
}

// R4
TEST(Registry, EmplaceReturnsTheValueAlsoAfterListenersMovedIt) {
  World world;
  world.on_construct<Position>().connect([&](Registry& registry, Entity) {
    if (registry.alive_count() < 200) registry.emplace<Position>(registry.create());  // the pool grows
  });
  const Entity entity = world.create();
  Position& position = world.emplace<Position>(entity, 1.0f, 2.0f);
  EXPECT_EQ(&position, world.try_get<Position>(entity));
  EXPECT_EQ(position, (Position{1, 2}));
}

TEST(Registry, OtherComponentsMayBeAddedWhileOneIsBeingRemoved) {
  World world;
  world.on_destroy<Position>().connect([](Registry& registry, Entity entity) {
    if (!registry.dying(entity)) registry.emplace<Burning>(entity);
  });
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  world.remove<Position>(entity);
  EXPECT_TRUE(world.all_of<Burning>(entity));
  EXPECT_FALSE(world.all_of<Position>(entity));
}

TEST(Registry, ClearEndsThoseAliveAndKeepsWhatSignalsCreate) {
  World world;
  for (int i = 0; i < 10; ++i) world.emplace<Health>(world.create());
  world.destroy(world.entity_at(7));  // the first wreck takes this index, which clear has yet to pass
  world.on_destroy<Health>().connect(
      [](Registry& registry, Entity) { registry.emplace<Position>(registry.create()); });
  world.clear();
  EXPECT_EQ(world.alive_count(), 9u);
  EXPECT_EQ(world.entity_at(7), (Entity{7, 2})) << "born during clear, in an index ahead of it";
  EXPECT_TRUE(world.storage<Health>().empty());
  EXPECT_EQ(world.storage<Position>().size(), 9u);
}

TEST(Registry, ClearOfATypeIsDefinedWhenSignalsAddAndRemoveIt) {
  int heard = 0;
  World world;
  for (int i = 0; i < 20; ++i) world.emplace<Position>(world.create());
  world.on_destroy<Position>().connect([&](Registry& registry, Entity entity) {
    ++heard;
    if (entity.index == 15) registry.remove<Position>(registry.entity_at(3));
    if (entity.index == 12) registry.emplace<Position>(registry.create(), 5.0f, 5.0f);
  });
  world.clear<Position>();
  EXPECT_EQ(heard, 20);
  ASSERT_EQ(world.storage<Position>().size(), 1u);
  EXPECT_EQ(world.storage<Position>().values()[0].x, 5.0f);
}

// R8
TEST(Registry, ConstViewCreatesNothing) {
  const World world;
  const std::size_t before = world.component_count();
  EXPECT_TRUE((world.view<Position, Velocity>().empty()));
  EXPECT_EQ(world.component_count(), before);
}

// R11
TEST(Registry, DestroyCostsWhatTheEntityOwnsNotHowManyTypesExist) {
  // Counted, not timed: no pool but the entity's own sees any structural change or dispatch.
  Registry registry;
  [&]<int... kNumbers>(std::integer_sequence<int, kNumbers...>) {
    (registry.register_component<Numbered<kNumbers>>(fmt::format("test.Numbered{}", kNumbers)), ...);
  }(std::make_integer_sequence<int, 40>{});
  registry.freeze();
  int heard = 0;
  for (std::size_t i = 0; i < registry.component_count(); ++i) {
    registry.storage(ComponentType{static_cast<std::uint16_t>(i)})
        .on_destroy()
        .connect([&](Registry&, Entity) { ++heard; });
  }
  const Entity entity = registry.create();
  registry.emplace<Numbered<7>>(entity);
  registry.destroy(entity);
  EXPECT_EQ(heard, 1);
}

// R12
TEST(Registry, DescribeTellsWhatAnEntityIsMadeOf) {
  World world;
  const Entity entity = world.create();
  EXPECT_EQ(world.describe(entity), "entity 0:1 alive");
  world.emplace<Position>(entity);
  world.emplace<Burning>(entity);
  EXPECT_EQ(world.describe(entity), "entity 0:1 alive: test.Position, test.Burning");
  world.destroy(entity);
  EXPECT_THAT(world.describe(entity), HasSubstr("dead"));
  EXPECT_EQ(world.describe(kNullEntity), "the null entity");
}

TEST(Registry, MirrorTakesTheSameHandles) {
  World mirror;
  mirror.log().set_enabled(false);
  ASSERT_TRUE(mirror.create_exact({40, 3}));
  mirror.emplace<Position>({40, 3}, 1.0f, 2.0f);
  EXPECT_FALSE(mirror.alive({40, 2}));
  EXPECT_EQ(mirror.entity_at(40), (Entity{40, 3}));
  mirror.destroy({40, 3});
  ASSERT_TRUE(mirror.create_exact({40, 9}));
  EXPECT_FALSE((mirror.all_of<Position>({40, 9})));
}

TEST(Registry, RemovalByTypeNumberFiresTheSameSignals) {
  int heard = 0;
  World world;
  world.on_destroy<Position>().connect([&](Registry&, Entity) { ++heard; });
  const Entity entity = world.create();
  world.emplace<Position>(entity);
  EXPECT_TRUE(world.remove(entity, world.component_type<Position>()));
  EXPECT_FALSE(world.remove(entity, world.component_type<Position>()));
  EXPECT_EQ(heard, 1);
}

}  // namespace
}  // namespace shoal::test
