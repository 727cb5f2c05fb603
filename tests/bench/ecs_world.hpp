// What the registry's benchmarks share: components of the usual sizes, worlds of them, and `Gather`, the same data as
// plain arrays with the indices that any sparse set needs.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "shared/base/random.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal::bench {

struct Position {
  float x = 0, y = 0, z = 0;
};
struct Velocity {
  float x = 1, y = 2, z = 3;
};
struct Health {
  std::uint32_t current = 100, most = 100;
};
struct Rare {
  float bonus = 1;
};
struct Burning {};  // a tag
template <int>
struct Unused {
  std::uint32_t value = 0;
};

/// 33 component types: these five, 27 that nobody has, and Local.
struct World : Registry {
  World() : Registry({.max_entities = 1u << 21}) {
    register_component<Position>("bench.Position");
    register_component<Velocity>("bench.Velocity");
    register_component<Health>("bench.Health");
    register_component<Rare>("bench.Rare");
    register_component<Burning>("bench.Burning");
    [this]<int... I>(std::integer_sequence<int, I...>) {
      (register_component<Unused<I>>("bench.Unused" + std::to_string(I)), ...);
    }(std::make_integer_sequence<int, 27>{});
    freeze();
    log().set_enabled(false);
  }
  /// Entities with position, velocity and health.
  explicit World(std::size_t count) : World() {
    for (std::size_t i = 0; i < count; ++i) {
      const Entity entity = entities.emplace_back(create());
      emplace<Position>(entity);
      emplace<Velocity>(entity);
      emplace<Health>(entity);
    }
    clear_changes();
  }

  std::vector<Entity> entities;
};

template <class T>
void shuffle(std::vector<T>& items) {
  Random random(11);
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.below(static_cast<std::uint32_t>(i))]);
}

/// One component as plain arrays.
template <class T>
struct Column {
  std::vector<std::uint32_t> indices;  // of the entity of value number i
  std::vector<T> values;
  std::vector<std::uint32_t> position;  // of each entity's value; kAbsent: it has none

  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

  /// Those of `entities` that belong to every `stride`-th one.
  Column(const std::vector<std::uint32_t>& entities, std::size_t stride)
      : position(entities.size(), kAbsent) {
    for (const std::uint32_t entity : entities) {
      if (entity % stride != 0) continue;
      position[entity] = static_cast<std::uint32_t>(values.size());
      indices.push_back(entity);
      values.emplace_back();
    }
  }
};

inline std::vector<std::uint32_t> indices_in_order(std::size_t count) {
  std::vector<std::uint32_t> indices(count);
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

inline std::size_t count_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}
/// `work` again and again; the counter is time per entity.
inline void count_entities(benchmark::State& state, std::size_t entities) {
  const auto total = static_cast<double>(entities) * static_cast<double>(state.iterations());
  state.counters["cpu/entity"] =
      benchmark::Counter(total, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
template <class F>
void measure(benchmark::State& state, std::size_t entities, F work) {
  for (auto _ : state) {
    work();
    benchmark::ClobberMemory();
  }
  count_entities(state, entities);
}

}  // namespace shoal::bench

#define SHOAL_ROW(function, name) BENCHMARK(function)->Name(name)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)
