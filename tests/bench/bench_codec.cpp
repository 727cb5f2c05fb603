// The codec over one chunk of the demo's creatures, at different shares of entities that changed since the baseline:
// encoding, decoding, decoding with the proof by hash (what a client does), and writing with hashing (what the server
// does before). `bytes/changed` is the body's size by the entities that changed.
#include <benchmark/benchmark.h>

#include <array>
#include <string_view>
#include <vector>

#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "shared/base/hash.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/random.hpp"
#include "shared/replication/delta_codec.hpp"

namespace shoal {
namespace {

using namespace demo;

constexpr unsigned kEntities = 24;  // about what the server puts into one chunk
constexpr std::size_t kSteps = 64;  // different deltas, so that nothing is learnt by heart

// A chunk whose creatures walk: each step moves some of them by a tick's way.
class Walk {
 public:
  explicit Walk(int changed_percent) : changed_percent_(changed_percent) {
    ChunkVersion version(table, pool, ChunkId{3});
    version.set_tick(Tick{1000});
    for (Slot slot = 0; slot < kEntities; ++slot) {
      version.bind(slot, Entity{100 + slot, 1});
      positions_[slot] = {random_.uniform(-100, 100), random_.uniform(-100, 100), 0};
      velocities_[slot] = {random_.uniform(-3, 3), random_.uniform(-3, 3), 0};
      set(version, slot, "shoal.demo.Position", positions_[slot]);
      set(version, slot, "shoal.demo.Velocity", velocities_[slot]);
      set(version, slot, "shoal.demo.Heading", Heading{random_.uniform(-180, 180)});
      set(version, slot, "shoal.demo.Health", Health{100, 100});
      set(version, slot, "shoal.demo.Renderable", Renderable{1, 2});
      set(version, slot, "shoal.demo.AI", AI{AiState::Idle, kNullEntity, 10});
    }
    versions.push_back(version);
    for (std::size_t step = 0; step < kSteps; ++step) {
      version.set_tick(version.tick() + 1);
      const auto moved = move(version);
      changed_entities += moved;
      versions.push_back(version);
      auto& body = bodies.emplace_back();
      body.resize(kMaxPacketBodyBytes);
      body.resize(encode_block(&versions[step], versions[step + 1], {}, body));
      body_bytes += body.size();
    }
  }

  /// Every changed creature walks on by one tick and turns a little. Returns how many did.
  std::size_t move(ChunkVersion& version) {
    std::size_t moved = 0;
    for (Slot slot = 0; slot < kEntities; ++slot) {
      if (random_.below(100) >= static_cast<std::uint32_t>(changed_percent_)) continue;
      positions_[slot].x += velocities_[slot].x / 30;
      positions_[slot].y += velocities_[slot].y / 30;
      set(version, slot, "shoal.demo.Position", positions_[slot]);
      ++moved;
    }
    return moved;
  }

  ComponentTable table{component_descriptors()};
  ColumnPool pool;
  std::vector<ChunkVersion> versions;
  std::vector<std::vector<std::byte>> bodies;  // from versions[i] to versions[i + 1]
  std::size_t changed_entities = 0;
  std::size_t body_bytes = 0;

 private:
  template <class T>
  void set(ChunkVersion& version, Slot slot, std::string_view name, const T& value) {
    const ComponentIndex component = *table.find(fnv1a32(name));
    if ((version.present(component) & slot_bit(slot)) == 0) version.add_component(component, slot);
    std::array<std::uint32_t, 16> values{};
    table.quantise(component, &value, values.data());
    for (unsigned i = 0; i < table[component].column_count; ++i) {
      version.set_value(table[component].first_column + i, slot, values[i]);
    }
  }

  Random random_{7};
  int changed_percent_;
  std::array<Position, kEntities> positions_{};
  std::array<Velocity, kEntities> velocities_{};
};

void report(benchmark::State& state, const Walk& walk) {
  state.counters["bytes/block"] = static_cast<double>(walk.body_bytes) / static_cast<double>(kSteps);
  const auto changed = static_cast<double>(walk.changed_entities);
  state.counters["bytes/changed"] = changed > 0 ? static_cast<double>(walk.body_bytes) / changed : 0;
}

void encode(benchmark::State& state) {
  Walk walk(static_cast<int>(state.range(0)));
  std::array<std::byte, kMaxPacketBodyBytes> body;
  std::size_t step = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(encode_block(&walk.versions[step], walk.versions[step + 1], {}, body));
    step = (step + 1) % kSteps;
  }
  report(state, walk);
}

void encode_full_state(benchmark::State& state) {
  Walk walk(100);
  std::array<std::byte, kMaxPacketBodyBytes> body;
  std::size_t step = 0, size = 0;
  for (auto _ : state) {
    size = encode_block(nullptr, walk.versions[step], {}, body);
    benchmark::DoNotOptimize(size);
    step = (step + 1) % kSteps;
  }
  state.counters["bytes/block"] = static_cast<double>(size);
  state.counters["bytes/changed"] = static_cast<double>(size) / kEntities;
}

void decode(benchmark::State& state, bool with_hash) {
  Walk walk(static_cast<int>(state.range(0)));
  std::vector<Departure> departures;
  std::size_t step = 0;
  for (auto _ : state) {
    const auto decoded = decode_block(walk.table, walk.pool, ChunkId{3}, &walk.versions[step],
                                      walk.versions[step + 1].tick(), walk.bodies[step], departures);
    if (!decoded.ok()) return state.SkipWithError("a body of the encoder does not decode");
    if (with_hash) benchmark::DoNotOptimize(decoded->hash());
    benchmark::DoNotOptimize(decoded->bound());
    step = (step + 1) % kSteps;
  }
  report(state, walk);
}

// What was written is hashed; columns that did not change keep their hash.
void write_and_hash(benchmark::State& state) {
  Walk walk(static_cast<int>(state.range(0)));
  ChunkVersion version = walk.versions.back();
  for (auto _ : state) {
    benchmark::DoNotOptimize(walk.move(version));
    benchmark::DoNotOptimize(version.hash());
  }
  report(state, walk);
}

BENCHMARK(encode)->Name("encode/changed%")->Arg(0)->Arg(5)->Arg(25)->Arg(100);
BENCHMARK(encode_full_state)->Name("encode/full_state");
BENCHMARK_CAPTURE(decode, plain, false)->Name("decode/changed%")->Arg(0)->Arg(5)->Arg(25)->Arg(100);
BENCHMARK_CAPTURE(decode, proved, true)->Name("decode_and_hash/changed%")->Arg(0)->Arg(5)->Arg(25)->Arg(100);
BENCHMARK(write_and_hash)->Name("write_and_hash/changed%")->Arg(0)->Arg(5)->Arg(25)->Arg(100);

}  // namespace
}  // namespace shoal
