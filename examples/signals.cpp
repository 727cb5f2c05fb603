// Three ways to notice a change. A signal tells at once, in the middle of the work. Dirty bits tell which values of a
// type may have changed since the last look. The log tells who came and went, in order. docs/ecs.md shows the lines
// between the marks and says which way is for what.
#include <cstdio>
#include <string>

#include "shared/ecs/observer.hpp"
#include "shared/ecs/registry.hpp"

using namespace shoal;

namespace {

struct Health {
  int points = 100;
};
struct Poisoned {};  // a tag

const char* name_of(NetKind kind) {
  switch (kind) {
    case NetKind::Born:
      return "born";
    case NetKind::Died:
      return "died";
    case NetKind::Added:
      return "added";
    case NetKind::Removed:
      return "removed";
    case NetKind::Reset:
      return "reset";
  }
  return "";
}

// What a server does once per tick with all that happened.
void end_tick(Registry& world, ChangeSummary& summary) {
  // ecs.md: begin dirty_bits_and_log
  world.storage<Health>().for_each_possibly_changed([](std::uint32_t index, const void* value) {
    std::printf("  %u may have changed: %d points\n", index, static_cast<const Health*>(value)->points);
  });
  for (const NetChange& change : summary.summarize(world.log().entries())) {
    std::printf("  %u %s", change.entity.index, name_of(change.kind));
    if (change.type != ComponentType{})
      std::printf(" %s", std::string(world.storage(change.type).name()).c_str());
    std::printf("\n");
  }
  // Both together, of one type: who got it, whose was announced as changed, who lost it.
  Observer<Health> observer(world);
  observer.for_each_updated([](Entity entity, const Health& health) {
    std::printf("  %u has %d now\n", entity.index, health.points);
  });
  // After the looks: from here on the next tick counts.
  world.clear_changes();
  world.log().clear();
  // ecs.md: end
}

}  // namespace

int main() {
  Registry world;
  world.register_component<Health>("example.Health");
  world.register_component<Poisoned>("example.Poisoned");
  world.freeze();
  // The log is off until somebody reads it, since who reads it must clear it, too.
  world.log().set_enabled(true);

  // ecs.md: begin signals
  world.on_construct<Health>().connect([](Registry& registry, Entity entity) {
    std::printf("%u begins with %d\n", entity.index, registry.get<const Health>(entity).points);
  });
  world.on_update<Health>().connect([](Registry& registry, Entity entity) {
    if (registry.get<const Health>(entity).points <= 0) registry.destroy(entity);  // at once
  });
  world.on_destroy<Health>().connect([](Registry& registry, Entity entity) {
    // The entity is still whole: this value and all others can be read.
    std::printf("%u ends with %d%s\n", entity.index, registry.get<const Health>(entity).points,
                registry.all_of<Poisoned>(entity) ? ", poisoned" : "");
  });
  // ecs.md: end

  std::printf("tick 1\n");
  const Entity orc = world.create();
  const Entity elf = world.create();
  world.emplace<Health>(orc, 10);
  world.emplace<Health>(elf, 30);
  world.emplace<Poisoned>(orc);
  ChangeSummary summary;
  end_tick(world, summary);

  std::printf("tick 2\n");
  world.patch<Health>(elf, [](Health& health) { health.points += 5; });  // marks one value, fires on_update
  {
    // A connection that ends with its scope. What it captures must live as long as the connection does.
    int updates = 0;
    const ScopedConnection counting =
        world.on_update<Health>().connect_scoped([&](Registry&, Entity) { ++updates; });
    world.replace<Health>(elf, 20);
    std::printf("%d update heard\n", updates);
  }
  world.patch<Health>(orc, [](Health& health) { health.points -= 12; });
  end_tick(world, summary);

  std::printf("tick 3\n");
  // A plain reference fires nothing, and is noticed all the same, with the up to 64 values beside it.
  for (auto [entity, health] : world.view<Health>()) health.points = 1;
  end_tick(world, summary);

  std::printf("tick 4\n");
  for (auto [entity, health] : world.view<const Health>()) std::printf("%d\n", health.points);  // only looks
  end_tick(world, summary);
}
