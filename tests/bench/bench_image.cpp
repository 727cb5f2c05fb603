// Copies, images and JSON of a world with three components on each entity, beside a memcpy of as many bytes as its
// values and indices have. `bytes/s` counts those bytes, whatever the row does with them.
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "shared/base/random.hpp"
#include "shared/ecs/world_copy.hpp"
#include "shared/image/json.hpp"

namespace shoal {
namespace {

struct World : Registry {
  World() {
    demo::register_components(*this);
    freeze();
    log().set_enabled(false);
  }
};

// With a past: pools in different orders, a free queue.
void populate(World& world, std::size_t count) {
  Random random(1);
  for (std::size_t i = 0; i < count + count / 8; ++i) {
    const Entity entity = world.create();
    world.emplace<demo::Position>(entity, random.uniform(-1000, 1000), random.uniform(-1000, 1000), 0.0f);
    world.emplace<demo::Velocity>(entity, random.uniform(-3, 3), random.uniform(-3, 3), 0.0f);
    world.emplace<demo::Health>(entity, std::uint16_t{100}, std::uint16_t{100});
  }
  while (world.alive_count() > count) {
    const Entity entity = world.entity_at(random.below(world.entity_table().index_end()));
    if (!entity.is_null()) world.destroy(entity);
  }
}

ImageTypes image_types() {
  ImageTypes types;
  types.add(demo::component_descriptors());
  return types;
}

std::size_t bytes_of(const Registry& world) {
  std::size_t bytes = 0;
  for (std::uint16_t type = 0; type < world.component_count(); ++type) {
    const StorageBase& pool = world.storage(ComponentType{type});
    bytes += pool.size() * (pool.value_bytes() + sizeof(std::uint32_t));
  }
  return bytes;
}
std::size_t count_of(const benchmark::State& state) {
  return static_cast<std::size_t>(state.range(0));
}
void count_bytes(benchmark::State& state, const Registry& world) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes_of(world)) * state.iterations());
}

void raw_memcpy(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  const std::vector<std::byte> source(bytes_of(world), std::byte{1});
  std::vector<std::byte> target(source.size());
  for (auto _ : state) {
    std::memcpy(target.data(), source.data(), source.size());
    benchmark::ClobberMemory();
  }
  count_bytes(state, world);
}

void world_copy(benchmark::State& state) {
  World world, shadow;
  populate(world, count_of(state));
  for (auto _ : state) {
    copy_world(world, shadow);
    benchmark::ClobberMemory();
  }
  count_bytes(state, world);
}

void save(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  const ImageTypes types = image_types();
  for (auto _ : state) benchmark::DoNotOptimize(save_image(world, types));
  count_bytes(state, world);
}

void load(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  const ImageTypes types = image_types();
  const auto image = save_image(world, types);
  for (auto _ : state) {
    state.PauseTiming();
    auto target = std::make_unique<World>();
    state.ResumeTiming();
    benchmark::DoNotOptimize(load_image(*target, *image, types));
    state.PauseTiming();
    target.reset();
    state.ResumeTiming();
  }
  count_bytes(state, world);
}

void write_json(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  const ImageTypes types = image_types();
  for (auto _ : state) benchmark::DoNotOptimize(world_json(world, types));
  count_bytes(state, world);
}

void read_json(benchmark::State& state) {
  World world;
  populate(world, count_of(state));
  const ImageTypes types = image_types();
  const auto text = world_json(world, types);
  for (auto _ : state) {
    World target;
    benchmark::DoNotOptimize(load_world_json(target, *text, types));
  }
  count_bytes(state, world);
}

#define SHOAL_ROW(function, name) \
  BENCHMARK(function)->Name(name)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMicrosecond)
SHOAL_ROW(raw_memcpy, "raw_memcpy");
SHOAL_ROW(world_copy, "copy_world");
SHOAL_ROW(save, "save_image");
SHOAL_ROW(load, "load_image");
SHOAL_ROW(write_json, "world_json");
SHOAL_ROW(read_json, "load_world_json");
#undef SHOAL_ROW

}  // namespace
}  // namespace shoal
