// Systems and their schedule: plain functions whose parameters say what they touch. Rabbits hop, grow hungry and eat;
// who starves dies. The schedule finds out who may run beside whom, and the world is the same on any number of threads.
#include <cstdint>
#include <cstdio>

#include "shared/ecs/schedule.hpp"

using namespace shoal;

namespace {

struct Place {
  int x = 0;
};
struct Hunger {
  int points = 0;
};
struct Asleep {};  // a tag
struct Meadow {    // a resource
  int grass = 0;
};

// Per entity: called for each rabbit that does not sleep, large worlds in pieces on several threads. A hop of its own,
// the same in every run: random numbers are keyed by seed, tick, system and entity.
void hop(SystemContext& context, Entity entity, Place& place, Without<Asleep>) {
  place.x += context.random(entity).between(-1, 1);
}

// Writes another component, so it runs beside `hop`. Whoever listens to on_update hears it at the end of the stage.
void grow_hungry(Ref<Hunger> hunger) {
  hunger.patch([](Hunger& grown) { ++grown.points; });
}

// One meadow for all: a resource that is written makes the system one task.
void eat(ViewOf<Hunger, const Place> rabbits, Write<Meadow> meadow) {
  for (auto [entity, hunger, place] : rabbits) {
    if (hunger.points < 3 || meadow->grass == 0) continue;
    hunger.points = 0;
    --meadow->grass;
  }
}

// Structure changes by commands, at the end of the stage.
void starve(Entity entity, const Hunger& hunger, CommandBuffer& commands) {
  if (hunger.points > 4) commands.destroy(entity);
}

// The whole world: runs alone.
void count(Registry& registry, Tick tick) {
  std::printf("tick %u: %zu rabbits\n", tick.value, registry.alive_count());
}

}  // namespace

int main() {
  Registry world;
  world.register_component<Place>("example.Place");
  world.register_component<Hunger>("example.Hunger");
  world.register_component<Asleep>("example.Asleep");
  world.freeze();
  world.resources().emplace<Meadow>(12);
  for (int i = 0; i < 10; ++i) {
    const Entity rabbit = world.create();
    world.emplace<Place>(rabbit, i);
    world.emplace<Hunger>(rabbit);
    if (i % 4 == 0) world.emplace<Asleep>(rabbit);
  }
  int complaints = 0;
  const ScopedConnection heard =
      world.on_update<Hunger>().connect_scoped([&](Registry&, Entity) { ++complaints; });

  const auto executor = make_executor(2);
  Schedule schedule;
  schedule.set_executor(executor.get());
  schedule.set_seed(7);
  schedule.add_each("hop", hop);
  schedule.add_each("grow_hungry", grow_hungry);
  schedule.add("eat", eat);
  schedule.add_each("starve", starve);
  schedule.add("count", count);

  for (std::uint32_t tick = 1; tick <= 8; ++tick) schedule.run(world, Tick{tick});
  std::printf("%d complaints\n", complaints);
  for (const auto& system : schedule.systems())
    std::printf("stage %u: %s\n", system.stage, system.name.c_str());
  std::fputs(schedule.dot(world).c_str(), stderr);  // dot -Tsvg
}
