// The registry beside what the same work costs with nothing around it: `raw` rows are loops over plain vectors, a
// `gather` row goes through indices as any sparse set must. `cpu/entity` is processor time.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "shared/base/random.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal {
namespace {

struct Position {
  float x = 0, y = 0, z = 0;
};
struct Velocity {
  float x = 1, y = 2, z = 3;
};
struct Health {
  std::uint32_t current = 0;
};
struct Burning {};  // a tag

struct World : Registry {
  World() {
    register_component<Position>("bench.Position");
    register_component<Velocity>("bench.Velocity");
    register_component<Health>("bench.Health");
    register_component<Burning>("bench.Burning");
    freeze();
  }
};

// Entities with all components; Velocity only on every `velocity_stride`-th.
std::vector<Entity> populate(World& world, std::size_t count, std::size_t velocity_stride = 1) {
  std::vector<Entity> entities;
  for (std::size_t i = 0; i < count; ++i) {
    const Entity entity = entities.emplace_back(world.create());
    world.emplace<Position>(entity);
    if (i % velocity_stride == 0) world.emplace<Velocity>(entity);
    world.emplace<Health>(entity);
  }
  world.log().clear();
  world.clear_changes();
  return entities;
}

template <class T>
void shuffle(std::vector<T>& items) {
  Random random(11);
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.below(static_cast<std::uint32_t>(i))]);
}

std::size_t count_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}
// Per entity instead of per iteration.
void per_entity(benchmark::State& state, std::size_t entities) {
  const auto total = static_cast<double>(entities) * static_cast<double>(state.iterations());
  state.counters["cpu/entity"] =
      benchmark::Counter(total, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

// --- loops

void one_type_registry(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  for (auto _ : state) {
    world.view<Position>().each([](Position& position) { position.x += 1; });
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state));
}
void one_type_values(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  for (auto _ : state) {
    for (Position& position : world.storage<Position>().values()) position.x += 1;
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state));
}
void one_type_raw(benchmark::State& state) {
  std::vector<Position> positions(count_of(state));
  for (auto _ : state) {
    for (Position& position : positions) position.x += 1;
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state));
}

void two_types_registry(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  for (auto _ : state) {
    world.view<Position, const Velocity>().each([](Position& position, const Velocity& velocity) {
      position.x += velocity.x;
      position.y += velocity.y;
    });
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state));
}
void two_types_range_for(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  for (auto _ : state) {
    for (auto [entity, position, velocity] : world.view<Position, const Velocity>()) {
      position.x += velocity.x;
      position.y += velocity.y;
    }
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state));
}
void two_types_raw(benchmark::State& state) {
  std::vector<Position> positions(count_of(state));
  const std::vector<Velocity> velocities(count_of(state));
  for (auto _ : state) {
    for (std::size_t i = 0; i < positions.size(); ++i) {
      positions[i].x += velocities[i].x;
      positions[i].y += velocities[i].y;
    }
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state));
}
// One pool in its order, the other through a table of places: the least that a sparse set does.
void two_types_gather(benchmark::State& state) {
  std::vector<Position> positions(count_of(state));
  const std::vector<Velocity> velocities(count_of(state));
  std::vector<std::uint32_t> indices(count_of(state)), places(count_of(state));
  std::iota(indices.begin(), indices.end(), 0u);
  std::iota(places.begin(), places.end(), 0u);
  for (auto _ : state) {
    for (std::size_t i = 0; i < velocities.size(); ++i) {
      const std::uint32_t place = places[indices[i]];
      if (place == 0xFFFFFFFF) continue;
      positions[place].x += velocities[i].x;
      positions[place].y += velocities[i].y;
    }
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state));
}
// A fourth of them has the second type; time is per match.
void two_types_sparse_registry(benchmark::State& state) {
  World world;
  populate(world, count_of(state), 4);
  for (auto _ : state) {
    world.view<Position, const Velocity>().each(
        [](Position& position, const Velocity& velocity) { position.x += velocity.x; });
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state) / 4);
}

// --- single entities

void random_get_registry(benchmark::State& state) {
  World world;
  auto entities = populate(world, count_of(state));
  shuffle(entities);
  for (auto _ : state) {
    float sum = 0;
    for (const Entity entity : entities) sum += world.get<const Position>(entity).x;
    benchmark::DoNotOptimize(sum);
  }
  per_entity(state, count_of(state));
}
void random_get_storage(benchmark::State& state) {
  World world;
  auto entities = populate(world, count_of(state));
  shuffle(entities);
  const auto& positions = std::as_const(world).storage<Position>();
  for (auto _ : state) {
    float sum = 0;
    for (const Entity entity : entities) sum += positions.get(entity).x;
    benchmark::DoNotOptimize(sum);
  }
  per_entity(state, count_of(state));
}
void random_get_gather(benchmark::State& state) {
  const std::vector<Position> positions(count_of(state));
  std::vector<std::uint32_t> indices(count_of(state)), places(count_of(state));
  std::iota(indices.begin(), indices.end(), 0u);
  std::iota(places.begin(), places.end(), 0u);
  shuffle(indices);
  for (auto _ : state) {
    float sum = 0;
    for (const std::uint32_t index : indices) sum += positions[places[index]].x;
    benchmark::DoNotOptimize(sum);
  }
  per_entity(state, count_of(state));
}

void create_registry(benchmark::State& state) {
  World world;
  for (auto _ : state) {
    const auto entities = populate(world, count_of(state));
    state.PauseTiming();
    world.destroy(entities);
    world.log().clear();
    state.ResumeTiming();
  }
  per_entity(state, count_of(state));
}
void create_raw(benchmark::State& state) {
  std::vector<std::uint32_t> ids;
  std::vector<Position> positions;
  std::vector<Velocity> velocities;
  std::vector<Health> healths;
  for (auto _ : state) {
    for (std::uint32_t i = 0; i < count_of(state); ++i) {
      ids.push_back(i);
      positions.emplace_back();
      velocities.emplace_back();
      healths.emplace_back();
    }
    benchmark::ClobberMemory();
    ids.clear(), positions.clear(), velocities.clear(), healths.clear();
  }
  per_entity(state, count_of(state));
}
void destroy_registry(benchmark::State& state) {
  World world;
  for (auto _ : state) {
    state.PauseTiming();
    auto entities = populate(world, count_of(state));
    shuffle(entities);
    state.ResumeTiming();
    for (const Entity entity : entities) world.destroy(entity);
    state.PauseTiming();
    world.log().clear();
    state.ResumeTiming();
  }
  per_entity(state, count_of(state));
}
// Three vectors, the last value into the gap.
void destroy_raw(benchmark::State& state) {
  std::vector<std::uint32_t> order(count_of(state));
  std::iota(order.begin(), order.end(), 0u);
  shuffle(order);
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
  per_entity(state, count_of(state));
}

void patch_registry(benchmark::State& state) {
  World world;
  const auto entities = populate(world, count_of(state));
  std::uint64_t heard = 0;
  const auto connection = world.on_update<Health>().connect_scoped([&](Registry&, Entity) { ++heard; });
  for (auto _ : state) {
    for (const Entity entity : entities)
      world.patch<Health>(entity, [](Health& health) { ++health.current; });
    benchmark::DoNotOptimize(heard);
  }
  per_entity(state, count_of(state));
}
void patch_raw(benchmark::State& state) {
  std::vector<Health> healths(count_of(state));
  std::uint64_t heard = 0;
  std::function<void(std::size_t)> listener = [&](std::size_t) { ++heard; };
  benchmark::DoNotOptimize(listener);
  for (auto _ : state) {
    for (std::size_t i = 0; i < healths.size(); ++i) {
      ++healths[i].current;
      listener(i);
    }
    benchmark::DoNotOptimize(heard);
  }
  per_entity(state, count_of(state));
}

void tag_registry(benchmark::State& state) {
  World world;
  const auto entities = populate(world, count_of(state));
  for (auto _ : state) {
    for (const Entity entity : entities) world.emplace<Burning>(entity);
    for (const Entity entity : entities) world.remove<Burning>(entity);
    state.PauseTiming();
    world.log().clear();
    world.clear_changes();
    state.ResumeTiming();
  }
  per_entity(state, count_of(state));
}
// A list of those who have it, and a place for each.
void tag_raw(benchmark::State& state) {
  std::vector<std::uint32_t> list, places(count_of(state), 0xFFFFFFFF);
  list.reserve(count_of(state));
  for (auto _ : state) {
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
    benchmark::ClobberMemory();
  }
  per_entity(state, count_of(state));
}

#define SHOAL_ROW(function, name) BENCHMARK(function)->Name(name)->Arg(10'000)->Arg(100'000)
SHOAL_ROW(one_type_registry, "one_type/view");
SHOAL_ROW(one_type_values, "one_type/values");
SHOAL_ROW(one_type_raw, "one_type/raw");
SHOAL_ROW(two_types_registry, "two_types/view");
SHOAL_ROW(two_types_range_for, "two_types/range_for");
SHOAL_ROW(two_types_gather, "two_types/gather");
SHOAL_ROW(two_types_raw, "two_types/raw");
SHOAL_ROW(two_types_sparse_registry, "two_types_one_in_four/view");
SHOAL_ROW(random_get_registry, "random_get/registry");
SHOAL_ROW(random_get_storage, "random_get/storage");
SHOAL_ROW(random_get_gather, "random_get/gather");
SHOAL_ROW(create_registry, "create_with_three/registry");
SHOAL_ROW(create_raw, "create_with_three/raw");
SHOAL_ROW(destroy_registry, "destroy/registry");
SHOAL_ROW(destroy_raw, "destroy/raw");
SHOAL_ROW(patch_registry, "patch_with_listener/registry");
SHOAL_ROW(patch_raw, "patch_with_listener/raw");
SHOAL_ROW(tag_registry, "tag_add_remove/registry");
SHOAL_ROW(tag_raw, "tag_add_remove/raw");
#undef SHOAL_ROW

}  // namespace
}  // namespace shoal
