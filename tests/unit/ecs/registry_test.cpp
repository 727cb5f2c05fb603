#include "shared/ecs/registry.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

struct Position {
  float x = 0, y = 0;
};
struct Tag {};

TEST(Registry, KeepsWhatWasEmplaced) {
  Registry registry;
  registry.register_component<Position>("test.Position");
  registry.register_component<Tag>("test.Tag");
  registry.freeze();
  const Entity entity = registry.create();
  EXPECT_EQ(registry.emplace<Position>(entity, 1.0f, 2.0f).y, 2.0f);
  registry.emplace<Tag>(entity);
  EXPECT_TRUE((registry.all_of<Position, Tag>(entity)));
  int visits = 0;
  for (auto [found, position] : registry.view<Position, Tag>()) {
    EXPECT_EQ(found, entity);
    position.x = 5;
    ++visits;
  }
  registry.view<const Position>(exclude<Tag>).each([&](const Position&) { ++visits; });
  std::as_const(registry).view<Position>().each([&](Entity, const Position&) { ++visits; });
  EXPECT_EQ(visits, 2);
  registry.patch<Position>(entity, [](Position& position) { position.y = 4; });
  registry.destroy(entity);
  EXPECT_FALSE(registry.alive(entity));
}

}  // namespace
}  // namespace shoal
