// What the schedule costs and what threads give: a stage of systems that do nothing, a loop by a view beside the same one
// per entity in pieces, and the systems of the demo's world. Times are real, since threads are to save that.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "shared/ecs/affiliation.hpp"
#include "shared/ecs/schedule.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/systems.hpp"

namespace shoal {
namespace {

struct Position {
  float x = 0, y = 0, z = 0;
};
struct Velocity {
  float x = 1, y = 2, z = 3;
};

struct World : Registry {
  explicit World(std::int64_t entities) {
    register_component<Position>("bench.Position");
    register_component<Velocity>("bench.Velocity");
    freeze();
    for (std::int64_t i = 0; i < entities; ++i) {
      const Entity entity = create();
      emplace<Position>(entity);
      emplace<Velocity>(entity);
    }
  }
};

void run(benchmark::State& state, World& world, Schedule& schedule, std::int64_t threads) {
  const auto executor = make_executor(static_cast<std::uint32_t>(threads));
  schedule.set_executor(executor.get());
  for (auto _ : state) schedule.run(world, Tick{1});
  const auto total = static_cast<double>(state.range(0)) * static_cast<double>(state.iterations());
  state.counters["real/item"] =
      benchmark::Counter(total, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void empty_systems_of_one_stage(benchmark::State& state) {
  World world(0);
  Schedule schedule;
  for (std::int64_t i = 0; i < state.range(0); ++i) schedule.add(std::to_string(i), [](Tick) {});
  run(state, world, schedule, state.range(1));
}
void empty_stages(benchmark::State& state) {
  World world(0);
  Schedule schedule;
  for (std::int64_t i = 0; i < state.range(0); ++i) schedule.add(std::to_string(i), [](Registry&, Tick) {});
  run(state, world, schedule, state.range(1));
}
void step(Position& position, const Velocity& velocity) {
  position.x += velocity.x;
  position.y += velocity.y;
  position.z += velocity.z;
}
void move_by_a_view(benchmark::State& state) {
  World world(state.range(0));
  Schedule schedule;
  schedule.add("move", [](Registry& registry, Tick) {
    registry.view<Position, const Velocity>().each(
        [](Position& position, const Velocity& velocity) { step(position, velocity); });
  });
  run(state, world, schedule, state.range(1));
}
void move_in_pieces(benchmark::State& state) {
  World world(state.range(0));
  Schedule schedule;
  schedule.add_each("move", [](Position& position, const Velocity& velocity) { step(position, velocity); });
  run(state, world, schedule, state.range(1));
}
// Some hundred nanoseconds an entity, as a creature that looks around.
void think_in_pieces(benchmark::State& state) {
  World world(state.range(0));
  Schedule schedule;
  schedule.add_each("think", [](Position& position, const Velocity& velocity) {
    float angle = position.x;
    for (int i = 0; i < 10; ++i) angle = std::sin(angle + velocity.x);
    position.x = angle;
  });
  run(state, world, schedule, state.range(1));
}
void demo_systems(benchmark::State& state) {
  Registry world;
  demo::register_all_components(world);
  register_affiliation(world);
  world.freeze();
  demo::create_world(world, {.entities = static_cast<std::uint32_t>(state.range(0))});
  const auto executor = make_executor(static_cast<std::uint32_t>(state.range(1)));
  Schedule schedule;
  schedule.set_executor(executor.get());
  demo::register_systems(schedule);
  Tick tick;
  const auto step_world = [&] {
    schedule.run(world, ++tick);
    world.log().clear();
    world.clear_changes();
  };
  for (int i = 0; i < 100; ++i) step_world();
  for (auto _ : state) step_world();
}

const std::vector<std::int64_t> kThreads{1, 2, 8};
BENCHMARK(empty_systems_of_one_stage)
    ->ArgNames({"systems", "threads"})
    ->ArgsProduct({{16}, kThreads})
    ->UseRealTime();
BENCHMARK(empty_stages)->ArgNames({"systems", "threads"})->ArgsProduct({{16}, {1}})->UseRealTime();
BENCHMARK(move_by_a_view)
    ->ArgNames({"entities", "threads"})
    ->ArgsProduct({{1000, 100'000}, {1}})
    ->UseRealTime();
BENCHMARK(move_in_pieces)
    ->ArgNames({"entities", "threads"})
    ->ArgsProduct({{1000, 100'000}, kThreads})
    ->UseRealTime();
BENCHMARK(think_in_pieces)
    ->ArgNames({"entities", "threads"})
    ->ArgsProduct({{5000, 100'000}, kThreads})
    ->UseRealTime();
BENCHMARK(demo_systems)
    ->ArgNames({"entities", "threads"})
    ->ArgsProduct({{5000, 50'000}, kThreads})
    ->Iterations(300)
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace shoal
