// The code of docs/ecs.md that has no example of its own: between the marks stands what the page shows.
#include <cstdio>
#include <string>
#include <vector>

#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/events.hpp"
#include "shared/ecs/registry.hpp"

using namespace shoal;

namespace {

struct Position {
  float x = 0, y = 0;
};
struct Velocity {
  float x = 0, y = 0;
};
struct Burning {};  // a tag: no value
struct Damage {     // an event
  Entity target;
  int points;
};
struct Score {  // a resource
  int points = 0;
};

void begin() {
  // ecs.md: begin first_world
  Registry world;
  world.register_component<Position>("game.Position");
  world.register_component<Velocity>("game.Velocity");
  world.freeze();

  for (int i = 0; i < 3; ++i) {
    const Entity entity = world.create();
    world.emplace<Position>(entity, static_cast<float>(i), 0.0f);
    if (i > 0) world.emplace<Velocity>(entity, 0.5f, 1.0f);
  }
  for (auto [entity, position, velocity] : world.view<Position, const Velocity>()) {
    position.x += velocity.x;
    position.y += velocity.y;
    std::printf("entity %u at %g, %g\n", entity.index, position.x, position.y);
  }
  // ecs.md: end
}

void entities() {
  // ecs.md: begin entities
  Registry world({.max_entities = 1000, .reserved_indices = 10});
  world.freeze();
  const Entity first = world.create();  // 10:1, since 0 to 9 are reserved
  world.destroy(first);
  const Entity second = world.create();  // 10:2, the same index in its next generation
  std::printf("%d %d\n", world.alive(first), world.alive(second));

  std::vector<Entity> herd(100);
  world.create(herd);                                  // a range at once
  const bool made = world.create_exact(Entity{3, 1});  // this very id
  const bool again = world.create_exact(Entity{3, 2});
  std::printf("%d %d, %zu alive\n", made, again, world.alive_count());
  // ecs.md: end
}

}  // namespace

int main() {
  begin();
  entities();

  Registry world;
  world.register_component<Position>("game.Position");
  world.register_component<Velocity>("game.Velocity");
  world.register_component<Burning>("game.Burning");
  world.freeze();
  const Entity entity = world.create();
  // ecs.md: begin access
  world.emplace<Position>(entity, 1.0f, 2.0f);  // must not have one
  // Marks this value and fires on_update.
  world.patch<Position>(entity, [](Position& position) { position.x = 5; });
  world.get<Position>(entity).y = 7;                    // marks its run of 64, fires nothing
  const float x = world.get<const Position>(entity).x;  // marks nothing
  if (auto* velocity = world.try_get<Velocity>(entity)) velocity->x = 0;  // null: has none, or is dead
  world.emplace<Burning>(entity);
  if (world.all_of<Position, Burning>(entity)) world.remove<Burning>(entity);
  // ecs.md: end
  std::printf("x %g, y %g\n", x, world.get<const Position>(entity).y);

  for (int i = 0; i < 3; ++i) world.emplace<Position>(world.create(), static_cast<float>(10 * i), 0.0f);
  // ecs.md: begin commands
  CommandBuffer commands;
  for (auto [mother, position] : world.view<const Position>()) {
    if (position.x < 10) continue;
    const Entity child = commands.create();  // a temporary handle, good for this buffer
    commands.emplace<Position>(child, position.x + 1, position.y);
    commands.destroy(mother);
  }
  const CommandBuffer::Applied applied = commands.apply(world);
  // ecs.md: end
  std::printf("%zu done, %zu skipped, %zu alive\n", applied.done, applied.skipped, world.alive_count());

  // ecs.md: begin events_and_resources
  Events events;
  EventQueue<Damage>& damage = events.add_queue<Damage>(world);
  world.resources().emplace<Score>();

  damage.push({entity, 10});                 // in one system
  for (const Damage& hit : damage.read()) {  // in a later one
    world.resources().get<Score>().points += hit.points;
  }
  events.end_tick(world);  // after the systems
  // ecs.md: end
  std::printf("score %d, %zu events left\n", world.resources().get<Score>().points, damage.read().size());
}
