// A first world: entities, a view, a signal. README.md shows the lines between the marks; the tests compile
// and run them. What to do for a game that clients can join: server/game.hpp.
#include <cstdio>

#include "examples/first_world.hpp"
#include "examples/first_world_descriptors.hpp"
#include "shared/ecs/registry.hpp"

using namespace example;
using shoal::Entity, shoal::Registry;

int main() {
  // readme: begin
  Registry world;
  register_components(world);  // all that the schema declares
  world.freeze();
  world.on_update<Health>().connect([](Registry& registry, Entity entity) {
    std::printf("entity %u: health %u\n", entity.index, unsigned{registry.get<const Health>(entity).current});
  });
  for (float y = 0; y < 3; ++y) {
    const Entity entity = world.create();
    world.emplace<Position>(entity, 0.0f, y);
    world.emplace<Health>(entity);
  }
  for (auto [entity, position] : world.view<Position>()) position.x += 0.5f;  // noticed without a signal, too
  for (auto [entity, health] : world.view<const Health>()) world.replace<Health>(entity, std::uint16_t{100});
  // readme: end
}
