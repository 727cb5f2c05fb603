// The registry's work on single entities: create, find, change, notice, end; and what all of it costs in memory.
#include <functional>
#include <memory>

#include "tests/bench/ecs_world.hpp"

namespace shoal::bench {
namespace {

// --- get, in an order that has nothing to do with that of the pool

void random_get_registry(benchmark::State& state) {
  World world(count_of(state));
  shuffle(world.entities);
  measure(state, count_of(state), [&] {
    float sum = 0;
    for (const Entity entity : world.entities) sum += world.get<const Position>(entity).x;
    benchmark::DoNotOptimize(sum);
  });
}
void random_get_pool(benchmark::State& state) {
  World world(count_of(state));
  shuffle(world.entities);
  const auto& positions = std::as_const(world).storage<Position>();
  measure(state, count_of(state), [&] {
    float sum = 0;
    for (const Entity entity : world.entities) sum += positions.get(entity).x;
    benchmark::DoNotOptimize(sum);
  });
}
void random_get_raw(benchmark::State& state) {
  auto indices = indices_in_order(count_of(state));
  const Column<Position> positions(indices, 1);
  shuffle(indices);
  measure(state, count_of(state), [&] {
    float sum = 0;
    for (const std::uint32_t index : indices) sum += positions.values[positions.position[index]].x;
    benchmark::DoNotOptimize(sum);
  });
}

// --- create, with position, velocity and health, into a world without memory yet

template <class Fresh, class F>
void measure_fresh(benchmark::State& state, F work) {
  for (auto _ : state) {
    state.PauseTiming();
    auto fresh = std::make_unique<Fresh>();
    state.ResumeTiming();
    work(*fresh);
    benchmark::ClobberMemory();
    state.PauseTiming();
    fresh.reset();
    state.ResumeTiming();
  }
  count_entities(state, count_of(state));
}
void create_registry(benchmark::State& state) {
  measure_fresh<World>(state, [&](World& world) {
    for (std::size_t i = 0; i < count_of(state); ++i) {
      const Entity entity = world.create();
      world.emplace<Position>(entity);
      world.emplace<Velocity>(entity);
      world.emplace<Health>(entity);
    }
  });
}
void create_bulk_registry(benchmark::State& state) {
  std::vector<Entity> entities(count_of(state));
  measure_fresh<World>(state, [&](World& world) {
    world.create(entities);
    world.insert<Position>(entities);
    world.insert<Velocity>(entities);
    world.insert<Health>(entities);
  });
}
// Into a world that had as many before, so that no memory is asked for.
void create_again_registry(benchmark::State& state) {
  World world(count_of(state));
  for (auto _ : state) {
    state.PauseTiming();
    world.destroy(world.entities);
    state.ResumeTiming();
    for (Entity& entity : world.entities) {
      entity = world.create();
      world.emplace<Position>(entity);
      world.emplace<Velocity>(entity);
      world.emplace<Health>(entity);
    }
  }
  count_entities(state, count_of(state));
}
struct Vectors {
  std::vector<std::uint32_t> ids;
  std::vector<Position> positions;
  std::vector<Velocity> velocities;
  std::vector<Health> healths;
};
void create_raw(benchmark::State& state) {
  measure_fresh<Vectors>(state, [&](Vectors& vectors) {
    for (std::uint32_t i = 0; i < count_of(state); ++i) {
      vectors.ids.push_back(i);
      vectors.positions.emplace_back();
      vectors.velocities.emplace_back();
      vectors.healths.emplace_back();
    }
  });
}

// --- destroy

void destroy_all(benchmark::State& state, bool in_order) {
  for (auto _ : state) {
    state.PauseTiming();
    auto world = std::make_unique<World>(count_of(state));
    if (!in_order) shuffle(world->entities);
    state.ResumeTiming();
    for (const Entity entity : world->entities) world->destroy(entity);
    state.PauseTiming();
    world.reset();
    state.ResumeTiming();
  }
  count_entities(state, count_of(state));
}
void destroy_registry(benchmark::State& state) {
  destroy_all(state, true);
}
void destroy_shuffled_registry(benchmark::State& state) {
  destroy_all(state, false);
}
// Three vectors, the last value into the gap.
void destroy_raw(benchmark::State& state) {
  auto order = indices_in_order(count_of(state));
  for (auto _ : state) {
    state.PauseTiming();
    std::vector<Position> positions(count_of(state));
    std::vector<Velocity> velocities(count_of(state));
    std::vector<Health> healths(count_of(state));
    state.ResumeTiming();
    for (const std::uint32_t index : order) {
      const std::size_t at = index % positions.size();
      positions[at] = positions.back();
      velocities[at] = velocities.back();
      healths[at] = healths.back();
      positions.pop_back();
      velocities.pop_back();
      healths.pop_back();
    }
    benchmark::ClobberMemory();
  }
  count_entities(state, count_of(state));
}

// --- a tag added to and taken from each

void tag_registry(benchmark::State& state) {
  World world(count_of(state));
  measure(state, count_of(state), [&] {
    for (const Entity entity : world.entities) world.emplace<Burning>(entity);
    for (const Entity entity : world.entities) world.remove<Burning>(entity);
  });
}
// A list of those who have it, and a place for each.
void tag_raw(benchmark::State& state) {
  std::vector<std::uint32_t> list, places(count_of(state), 0xFFFFFFFF);
  measure(state, count_of(state), [&] {
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      places[i] = static_cast<std::uint32_t>(list.size());
      list.push_back(i);
    }
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      const std::uint32_t at = places[i];
      list[at] = list.back();
      places[list[at]] = at;
      list.pop_back();
      places[i] = 0xFFFFFFFF;
    }
  });
}

// --- notice

void patch_registry(benchmark::State& state) {
  World world(count_of(state));
  std::uint64_t heard = 0;
  const auto connection = world.on_update<Health>().connect_scoped([&](Registry&, Entity) { ++heard; });
  measure(state, count_of(state), [&] {
    for (const Entity entity : world.entities)
      world.patch<Health>(entity, [](Health& health) { ++health.current; });
  });
}
void patch_raw(benchmark::State& state) {
  std::vector<Health> healths(count_of(state));
  std::uint64_t heard = 0;
  std::function<void(std::size_t)> listener = [&](std::size_t) { ++heard; };
  benchmark::DoNotOptimize(listener);
  measure(state, count_of(state), [&] {
    for (std::size_t i = 0; i < healths.size(); ++i) {
      ++healths[i].current;
      listener(i);
    }
  });
}
// One in a hundred is patched, then all that changed are collected, each once; time is per changed one.
void collect_registry(benchmark::State& state) {
  World world(count_of(state));
  std::vector<Entity> patched = world.entities;
  shuffle(patched);
  patched.resize(count_of(state) / 100);
  std::vector<std::uint32_t> collected;
  measure(state, patched.size(), [&] {
    for (const Entity entity : patched) world.patch<Health>(entity, [](Health& health) { ++health.current; });
    collected.clear();
    world.storage<Health>().for_each_dirty(
        [&](std::uint32_t index, const void*) { collected.push_back(index); });
    world.storage<Health>().clear_changes();
  });
}
// A list, and a mark that keeps each from standing there twice.
void collect_raw(benchmark::State& state) {
  auto indices = indices_in_order(count_of(state));
  Column<Health> healths(indices, 1);
  shuffle(indices);
  indices.resize(count_of(state) / 100);
  std::vector<bool> noted(count_of(state));
  std::vector<std::uint32_t> collected;
  measure(state, indices.size(), [&] {
    for (const std::uint32_t index : indices) {
      ++healths.values[healths.position[index]].current;
      if (noted[index]) continue;
      noted[index] = true;
      collected.push_back(index);
    }
    for (const std::uint32_t index : collected) noted[index] = false;
    collected.clear();
  });
}

// --- memory: no time, a figure

// Bytes of an entity with position, velocity and health, 32 of them values.
void heap_registry(benchmark::State& state) {
  const World world(count_of(state));
  for (auto _ : state) benchmark::DoNotOptimize(world.memory_bytes());
  state.counters["bytes/entity"] =
      static_cast<double>(world.memory_bytes()) / static_cast<double>(count_of(state));
}
// Bytes of a component that only every 4096th entity has.
void heap_sparse_registry(benchmark::State& state) {
  World world;
  std::vector<Entity> entities(count_of(state));
  world.create(entities);
  for (std::size_t i = 0; i < entities.size(); i += 4096) world.emplace<Health>(entities[i]);
  const auto& pool = world.storage<Health>();
  for (auto _ : state) benchmark::DoNotOptimize(pool.memory_bytes());
  state.counters["bytes/component"] =
      static_cast<double>(pool.memory_bytes()) / static_cast<double>(pool.size());
}

SHOAL_ROW(random_get_registry, "random_get/registry");
SHOAL_ROW(random_get_pool, "random_get/pool");
SHOAL_ROW(random_get_raw, "random_get/raw");
SHOAL_ROW(create_registry, "create_with_three/registry");
SHOAL_ROW(create_again_registry, "create_with_three/registry_again");
SHOAL_ROW(create_bulk_registry, "create_with_three/registry_bulk");
SHOAL_ROW(create_raw, "create_with_three/raw");
SHOAL_ROW(tag_registry, "tag_add_remove/registry");
SHOAL_ROW(tag_raw, "tag_add_remove/raw");
SHOAL_ROW(destroy_registry, "destroy/registry");
SHOAL_ROW(destroy_shuffled_registry, "destroy/registry_other_order");
SHOAL_ROW(destroy_raw, "destroy/raw");
SHOAL_ROW(patch_registry, "patch_with_listener/registry");
SHOAL_ROW(patch_raw, "patch_with_listener/raw");
SHOAL_ROW(collect_registry, "collect_changed/registry");
SHOAL_ROW(collect_raw, "collect_changed/raw");
SHOAL_ROW(heap_registry, "heap/three_components");
SHOAL_ROW(heap_sparse_registry, "heap/every_4096th");

}  // namespace
}  // namespace shoal::bench
