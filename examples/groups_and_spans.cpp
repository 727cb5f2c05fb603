// Loops over arrays. Three ways to them: a group keeps its members side by side; entities that were made alike lie side by
// side by themselves; a pool may be sorted as another one. And what a value needs that must not move at all.
// docs/ecs.md shows the lines between the marks.
#include <algorithm>
#include <cstdio>
#include <span>

#include "shared/ecs/registry.hpp"

using namespace shoal;

// ecs.md: begin stable_address
struct Body {  // a physics engine keeps a pointer to each of them
  int handle = 0;
};
template <>
inline constexpr bool shoal::kStableAddress<Body> = true;
// ecs.md: end

namespace {

struct Place {
  float x = 0;
};
struct Speed {
  float x = 0;
};
struct Mass {
  float kilograms = 1;
};
struct Force {
  float newtons = 0;
};
struct Frozen {};  // a tag

}  // namespace

int main() {
  Registry world;
  world.register_component<Place>("example.Place");
  world.register_component<Speed>("example.Speed");
  world.register_component<Mass>("example.Mass");
  world.register_component<Force>("example.Force");
  world.register_component<Frozen>("example.Frozen");
  world.register_component<Body>("example.Body");
  // ecs.md: begin declare_group
  world.declare_group<Place, Speed>(observe<>, exclude<Frozen>);  // between registration and freeze
  // ecs.md: end
  world.freeze();

  for (int i = 0; i < 100; ++i) {
    const Entity entity = world.create();
    world.emplace<Place>(entity, static_cast<float>(100 - i));
    if (i % 2 == 0) world.emplace<Speed>(entity, 1.0f);
    if (i % 10 == 0) world.emplace<Frozen>(entity);
    world.emplace<Mass>(entity, static_cast<float>(1 + i % 3));  // made alike: in both pools in one order
    world.emplace<Force>(entity, 6.0f);
  }

  // ecs.md: begin group
  auto movers = world.group<Place, const Speed>(observe<>, exclude<Frozen>);
  movers.each([](Place& place, const Speed& speed) { place.x += speed.x; });

  const std::span<Place> places = movers.values<Place>();  // number i of each belongs to one entity
  const std::span<const Speed> speeds = movers.values<const Speed>();
  for (std::size_t i = 0; i < places.size(); ++i) places[i].x += speeds[i].x;

  movers.sort<Place>([](const Place& a, const Place& b) { return a.x < b.x; });
  // ecs.md: end
  std::printf("%zu of %zu move, sorted: %s\n", movers.size(), world.storage<Place>().size(),
              std::ranges::is_sorted(movers.values<const Place>(), {}, &Place::x) ? "yes" : "no");

  // ecs.md: begin each_span
  world.view<const Mass, Force>().each_span(
      [](std::span<const std::uint32_t> indices, std::span<const Mass> masses, std::span<Force> forces) {
        std::printf("a stretch of %zu\n", indices.size());
        for (std::size_t i = 0; i < forces.size(); ++i) forces[i].newtons = 9.81f * masses[i].kilograms;
      });
  // ecs.md: end

  // One pool gets an order of its own; the other follows, and they are side by side again.
  // ecs.md: begin sort
  world.sort<Mass>([](const Mass& a, const Mass& b) { return a.kilograms < b.kilograms; });
  world.sort_as<Force, Mass>();
  // ecs.md: end
  int stretches = 0;
  world.view<const Mass, const Force>().each_span([&](auto, auto, auto) { ++stretches; });
  std::printf("after sort and sort_as: %d stretch\n", stretches);

  // ecs.md: begin maybe
  int still = 0;
  for (auto [entity, place, speed] : world.view<const Place, Maybe<const Speed>>()) {
    if (speed == nullptr) ++still;  // a pointer: null for who has no Speed
  }
  // ecs.md: end
  std::printf("%d have no speed\n", still);

  const Entity first = world.entity_at(0);
  Body* const body = &world.emplace<Body>(first, 7);
  for (int i = 1; i < 100; ++i) world.emplace<Body>(world.entity_at(static_cast<std::uint32_t>(i)), i);
  world.sort<Body>([](const Body& a, const Body& b) { return a.handle > b.handle; });
  std::printf("the body is where it was: %s\n", body == &world.get<Body>(first) ? "yes" : "no");
}
