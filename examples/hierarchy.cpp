// Trees of entities, and events of one tick: a tank with a turret and a barrel moves, so what is on it moves
// along; a hit ends it with all that it carries.
#include <cstdint>
#include <cstdio>
#include <utility>

#include "shared/ecs/events.hpp"
#include "shared/ecs/hierarchy.hpp"
#include "shared/ecs/schedule.hpp"

using namespace shoal;

namespace {

struct Offset {  // from the parent
  int x = 0;
};
struct Place {  // in the world
  int x = 0;
};
struct Hit {
  Entity target;
};

// Parents before children: the parent's place is right when the child's is made from it.
void place_tree(Registry& world, Entity root) {
  for (const Entity entity : descend(world, root)) {
    const Place* parent = std::as_const(world).try_get<Place>(parent_of(world, entity));
    world.replace<Place>(entity, (parent != nullptr ? parent->x : 0) + world.get<const Offset>(entity).x);
  }
}

}  // namespace

int main() {
  Registry world;
  world.register_component<Offset>("example.Offset");
  world.register_component<Place>("example.Place");
  register_hierarchy(world);
  world.freeze();
  connect_hierarchy(world);

  const auto make = [&](int x) {
    const Entity entity = world.create();
    world.emplace<Offset>(entity, x);
    world.emplace<Place>(entity);
    return entity;
  };
  const Entity tank = make(100);
  const Entity turret = make(10);
  const Entity barrel = make(1);
  attach(world, turret, tank);
  attach(world, barrel, turret);

  Events events;
  auto& hits = events.add_queue<Hit>(world);
  Schedule schedule;
  schedule.add("drive", [&](Registry& registry, Tick) {
    if (!registry.alive(tank)) return;
    registry.patch<Offset>(tank, [](Offset& offset) { offset.x += 100; });
    place_tree(registry, tank);
    std::printf("barrel at %d\n", registry.get<const Place>(barrel).x);
  });
  schedule.add("shoot", [&](Registry&, Tick tick) {
    if (tick == Tick{2}) hits.emplace(tank);
  });
  schedule.add("take hits", [&](Registry& registry, Tick) {
    for (const Hit& hit : hits.read()) {
      if (registry.alive(hit.target)) destroy_tree(registry, hit.target);
    }
  });
  for (std::uint32_t tick = 1; tick <= 3; ++tick) {
    schedule.run(world, Tick{tick});
    events.end_tick(world);
  }
  std::printf("%zu entities left\n", world.alive_count());
}
