// The registry's loops. Each row stands beside the same work on plain arrays (`raw`), and beside the same work through
// index arrays with one presence check per further type (`gather`), which is what any sparse set does where its pools
// are not aligned. bench_ecs_single.cpp has single entities, signals and memory; docs/benchmarks.md explains all.
#include "tests/bench/ecs_world.hpp"

namespace shoal::bench {
namespace {

constexpr float kStep = 1.0f / 30;

void advance(Position& position, const Velocity& velocity) {
  position.x += velocity.x * kStep;
  position.y += velocity.y * kStep;
  position.z += velocity.z * kStep;
}

// --- one type

void one_type_each(benchmark::State& state) {
  World world(count_of(state));
  measure(state, count_of(state), [&] { world.view<Position>().each([](Position& p) { p.x += 1; }); });
}
void one_type_values(benchmark::State& state) {
  World world(count_of(state));
  measure(state, count_of(state), [&] {
    for (Position& position : world.storage<Position>().values()) position.x += 1;
  });
}
void one_type_raw(benchmark::State& state) {
  std::vector<Position> positions(count_of(state));
  measure(state, count_of(state), [&] {
    for (Position& position : positions) position.x += 1;
  });
}

// --- two types, position += velocity * step

void move_each(World& world, benchmark::State& state, std::size_t matches) {
  measure(state, matches, [&] {
    world.view<Position, const Velocity>().each([](Position& p, const Velocity& v) { advance(p, v); });
  });
}
void move_gather(benchmark::State& state, Column<Position> positions, const Column<Velocity>& velocities) {
  measure(state, velocities.values.size(), [&] {
    for (std::size_t i = 0; i < velocities.values.size(); ++i) {
      const std::uint32_t at = positions.position[velocities.indices[i]];
      if (at != positions.kAbsent) advance(positions.values[at], velocities.values[i]);
    }
  });
}

void move_all_each(benchmark::State& state) {
  World world(count_of(state));
  move_each(world, state, count_of(state));
}
void move_all_range_for(benchmark::State& state) {
  World world(count_of(state));
  measure(state, count_of(state), [&] {
    for (auto [entity, position, velocity] : world.view<Position, const Velocity>())
      advance(position, velocity);
  });
}
// For loops that need whole arrays, and what the compiler makes of them.
void move_all_spans(benchmark::State& state) {
  World world(count_of(state));
  measure(state, count_of(state), [&] {
    world.view<Position, const Velocity>().each_span([](std::span<const std::uint32_t>,
                                                        std::span<Position> positions,
                                                        std::span<const Velocity> velocities) {
      for (std::size_t i = 0; i < positions.size(); ++i) advance(positions[i], velocities[i]);
    });
  });
}
// The group has put them in one order; a tenth of the entities is not in it.
void move_all_group(benchmark::State& state) {
  struct Grouped : Registry {
    Grouped() : Registry({.max_entities = 1u << 21}) {
      register_component<Position>("bench.Position");
      register_component<Velocity>("bench.Velocity");
      declare_group<Position, Velocity>();
      freeze();
    }
  } world;
  for (std::size_t i = 0; i < count_of(state) * 10 / 9; ++i) {
    const Entity entity = world.create();
    world.emplace<Position>(entity);
    if (i % 10 != 0) world.emplace<Velocity>(entity);
  }
  const auto group = world.group<Position, const Velocity>();
  measure(state, group.size(), [&] { group.each([](Position& p, const Velocity& v) { advance(p, v); }); });
}
void move_all_gather(benchmark::State& state) {
  const auto indices = indices_in_order(count_of(state));
  move_gather(state, {indices, 1}, {indices, 1});
}
void move_all_raw(benchmark::State& state) {
  std::vector<Position> positions(count_of(state));
  const std::vector<Velocity> velocities(count_of(state));
  measure(state, count_of(state), [&] {
    for (std::size_t i = 0; i < positions.size(); ++i) advance(positions[i], velocities[i]);
  });
}

// The pools have the same entities in orders that have nothing to do with each other.
void move_other_order_each(benchmark::State& state) {
  World world(count_of(state));
  world.clear<Velocity>();
  shuffle(world.entities);
  for (const Entity entity : world.entities) world.emplace<Velocity>(entity);
  move_each(world, state, count_of(state));
}
void move_other_order_gather(benchmark::State& state) {
  auto shuffled = indices_in_order(count_of(state));
  shuffle(shuffled);
  move_gather(state, {indices_in_order(count_of(state)), 1}, {shuffled, 1});
}

// Every second entity has a velocity; time is per match.
void move_half_each(benchmark::State& state) {
  World world(count_of(state));
  world.clear<Velocity>();
  for (std::size_t i = 0; i < world.entities.size(); i += 2) world.emplace<Velocity>(world.entities[i]);
  move_each(world, state, count_of(state) / 2);
}
void move_half_gather(benchmark::State& state) {
  const auto indices = indices_in_order(count_of(state));
  move_gather(state, {indices, 1}, {indices, 2});
}

// --- three types, one of them on every 16th entity; time is per match

void one_rare_each(benchmark::State& state) {
  World world(count_of(state));
  for (std::size_t i = 0; i < world.entities.size(); i += 16) world.emplace<Rare>(world.entities[i]);
  measure(state, count_of(state) / 16, [&] {
    world.view<Position, const Velocity, const Rare>().each(
        [](Position& p, const Velocity& v, const Rare& rare) { p.x += v.x * rare.bonus; });
  });
}
void one_rare_gather(benchmark::State& state) {
  const auto indices = indices_in_order(count_of(state));
  Column<Position> positions(indices, 1);
  const Column<Velocity> velocities(indices, 1);
  const Column<Rare> rares(indices, 16);
  measure(state, rares.values.size(), [&] {
    for (std::size_t i = 0; i < rares.values.size(); ++i) {
      const std::uint32_t p = positions.position[rares.indices[i]];
      const std::uint32_t v = velocities.position[rares.indices[i]];
      if (p == positions.kAbsent || v == velocities.kAbsent) continue;
      positions.values[p].x += velocities.values[v].x * rares.values[i].bonus;
    }
  });
}

SHOAL_ROW(one_type_each, "one_type/each");
SHOAL_ROW(one_type_values, "one_type/values");
SHOAL_ROW(one_type_raw, "one_type/raw");
SHOAL_ROW(move_all_each, "move/each");
SHOAL_ROW(move_all_range_for, "move/range_for");
SHOAL_ROW(move_all_spans, "move/spans");
SHOAL_ROW(move_all_group, "move/group");
SHOAL_ROW(move_all_gather, "move/gather");
SHOAL_ROW(move_all_raw, "move/raw");
SHOAL_ROW(move_other_order_each, "move_other_order/each");
SHOAL_ROW(move_other_order_gather, "move_other_order/gather");
SHOAL_ROW(move_half_each, "move_half/each");
SHOAL_ROW(move_half_gather, "move_half/gather");
SHOAL_ROW(one_rare_each, "one_rare_of_three/each");
SHOAL_ROW(one_rare_gather, "one_rare_of_three/gather");

}  // namespace
}  // namespace shoal::bench
