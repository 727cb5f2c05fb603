// A world with a component of each form that images know, random histories for it, and what two worlds must agree in.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "shared/base/hash.hpp"
#include "shared/base/random.hpp"
#include "shared/ecs/affiliation.hpp"
#include "shared/ecs/hierarchy.hpp"
#include "shared/image/field_layout.hpp"
#include "shared/image/image.hpp"
#include "shared/image/own_components.hpp"

namespace shoal::test {

struct Brain {  // without descriptor; three bytes of padding
  std::uint32_t decides = 0;
  bool awake = false;
};
struct Name {  // not trivially copyable
  std::string text;
};
struct Asleep {};  // a tag that no schema has

struct ImageWorld : Registry {
  explicit ImageWorld(RegistryLimits limits = {}) : Registry(limits) {
    demo::register_components(*this);
    register_component<Brain>("test.Brain");
    register_component<Name>("test.Name");
    register_component<Asleep>("test.Asleep");
    register_hierarchy(*this);
    register_affiliation(*this);
    freeze();
    connect_hierarchy(*this);
    log().set_enabled(true);
  }
};

inline ImageTypes image_types() {
  ImageTypes types;
  types.add(demo::component_descriptors())
      .add_opaque("test.Brain")
      .add_encoded<Name>(
          "test.Name",
          [](const Name& name, std::vector<std::byte>& target) {
            for (const char letter : name.text) target.push_back(static_cast<std::byte>(letter));
          },
          [](std::span<const std::byte> bytes) -> std::optional<Name> {
            Name name;
            for (const std::byte letter : bytes) name.text.push_back(static_cast<char>(letter));
            if (name.text == "unreadable") return std::nullopt;
            return name;
          });
  return types;
}

inline std::vector<Entity> living(const Registry& world) {
  std::vector<Entity> entities;
  world.for_each_entity([&](Entity entity) { entities.push_back(entity); });
  return entities;
}

/// Many births, deaths, additions and removals.
template <class World>
void live(World& world, Random& random, int steps) {
  for (int step = 0; step < steps; ++step) {
    const std::vector<Entity> entities = living(world);
    const auto any = [&] { return entities[random.below(static_cast<std::uint32_t>(entities.size()))]; };
    if (entities.empty() || random.chance(0.3)) {
      world.create();
      continue;
    }
    const Entity entity = any();
    switch (random.below(12)) {
      case 0:
      case 1:
        world.destroy(entity);
        break;
      case 2:
        world.template emplace_or_replace<demo::Position>(entity, random.uniform(-9, 9), 1.0f, -0.0f);
        break;
      case 3:
        world.template emplace_or_replace<demo::AI>(entity, demo::AiState::Flee, any(), 5.0f);
        break;
      case 4:
        world.template emplace_or_replace<Brain>(entity, static_cast<std::uint32_t>(random.next()), true);
        break;
      case 5:
        world.template emplace_or_replace<Name>(entity, std::string(random.below(40), 'n'));
        break;
      case 6:
        if (!world.template all_of<Asleep>(entity)) world.template emplace<Asleep>(entity);
        break;
      case 7: {
        const Entity parent = any();
        if (parent != entity && !is_ancestor(world, entity, parent)) attach(world, entity, parent);
        break;
      }
      case 8:
        world.template emplace_or_replace<OnTeam>(entity, random.below(3));
        break;
      case 9:
        world.template emplace_or_replace<OwnedBy>(entity, any());
        break;
      case 10:
        world.template remove<demo::Position>(entity);
        break;
      case 11:
        world.template remove<Name>(entity);
        break;
    }
  }
}

/// A value without what pads it.
inline std::string text_of(const StorageBase& pool, std::size_t at) {
  const auto* value = static_cast<const char*>(pool.value_at(at));
  if (const auto* names = dynamic_cast<const Storage<Name>*>(&pool)) return names->values()[at].text;
  if (const auto* brains = dynamic_cast<const Storage<Brain>*>(&pool)) {
    return std::to_string(brains->values()[at].decides) + (brains->values()[at].awake ? " awake" : " asleep");
  }
  std::string text;
  for (const auto descriptors : {demo::component_descriptors(), own_component_descriptors()}) {
    for (const ComponentDescriptor& descriptor : descriptors) {
      if (descriptor.name != pool.name()) continue;
      for (const FieldDescriptor& field : descriptor.fields) {
        text += std::string(field.path) + " ";
        text.append(value + field.offset_bytes, size_of(field.type));
      }
    }
  }
  return text;
}

/// Everything that saving and copying promise: entities, orders, values and which handles come next.
inline void expect_same(const Registry& expected, const Registry& actual) {
  const EntityTableState a = expected.entity_table().state();
  const EntityTableState b = actual.entity_table().state();
  EXPECT_EQ(a.generations, b.generations) << "generations are those of the saved world";
  EXPECT_EQ(a.free_queue, b.free_queue) << "free indices come back in the saved order";
  EXPECT_EQ(a.reserved_free, b.reserved_free);
  EXPECT_EQ(living(expected), living(actual));
  ASSERT_EQ(expected.component_count(), actual.component_count());
  for (std::uint16_t type = 0; type < expected.component_count(); ++type) {
    const StorageBase& from = expected.storage(ComponentType{type});
    const StorageBase& to = actual.storage(ComponentType{type});
    ASSERT_EQ(std::vector(from.indices().begin(), from.indices().end()),
              std::vector(to.indices().begin(), to.indices().end()))
        << from.name() << " keeps its order";
    for (std::size_t at = 0; at < from.size(); ++at) {
      EXPECT_TRUE(actual.has(to.entity_at(at), to.type())) << "the mask of each entity fits the pools";
      EXPECT_EQ(text_of(from, at), text_of(to, at)) << from.name();
    }
  }
}

/// What must not change when a load fails.
inline std::string state_of(const Registry& world) {
  std::string state;
  const EntityTableState entities = world.entity_table().state();
  for (const std::uint32_t generation : entities.generations) state += std::to_string(generation) + ' ';
  for (const std::uint32_t index : entities.free_queue) state += std::to_string(index) + ' ';
  for (const std::uint32_t index : entities.reserved_free) state += std::to_string(index) + ' ';
  for (std::uint16_t type = 0; type < world.component_count(); ++type) {
    const StorageBase& pool = world.storage(ComponentType{type});
    state += std::to_string(pool.size()) + ':' + std::to_string(pool.structure_version()) + ' ';
  }
  return state + std::to_string(world.log().entries().size());
}

inline std::vector<std::byte> saved(const Registry& world, const ImageTypes& types = image_types()) {
  auto bytes = save_image(world, types);
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().text);
  return bytes.ok() ? *bytes : std::vector<std::byte>();
}

/// Expects success, with what was wrong otherwise.
inline LoadedImage load(Registry& world, std::span<const std::byte> bytes,
                        const ImageTypes& types = image_types(), LoadOptions options = {}) {
  auto loaded = load_image(world, bytes, types, options);
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().text);
  return loaded.ok() ? *loaded : LoadedImage{};
}

}  // namespace shoal::test
