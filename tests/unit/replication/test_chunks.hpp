// Random chunks for the codec's tests: a small schema and an editor that changes a version as a server would,
// with the departure log that goes with it.
#pragma once

#include <array>
#include <vector>

#include "shared/base/hash.hpp"
#include "shared/base/random.hpp"
#include "shared/replication/delta_codec.hpp"

namespace shoal::test {

inline constexpr std::array<FieldDescriptor, 3> kPositionFields{{
    {"x", FieldType::Float, FieldKind::Position, 0, -1024, 0.01, 204800},
    {"y", FieldType::Float, FieldKind::Position, 4, -1024, 0.01, 204800},
    {"z", FieldType::Float, FieldKind::Position, 8, 0, 0.01, 6400},
}};
inline constexpr std::array<FieldDescriptor, 2> kHealthFields{{
    {"current", FieldType::Uint16, FieldKind::Plain, 0, 0, 1, 1000},
    {"raw", FieldType::Float, FieldKind::Plain, 4, 0, 0, 0},
}};
inline constexpr std::array<FieldDescriptor, 2> kMindFields{{
    {"state", FieldType::Uint8, FieldKind::Enum, 0, 0, 1, 3},
    {"target", FieldType::Entity, FieldKind::Plain, 8, 0, 0, 0},
}};

inline ComponentDescriptor component(std::string_view name, std::uint32_t size_bytes,
                                     std::uint32_t alignment_bytes, std::span<const FieldDescriptor> fields) {
  return {name, fnv1a32(name), fnv1a64(name), size_bytes, alignment_bytes, Audience::Everyone, false, fields};
}

inline std::vector<ComponentDescriptor> test_components() {
  return {component("test.Position", 12, 4, kPositionFields), component("test.Health", 8, 4, kHealthFields),
          component("test.Mind", 16, 8, kMindFields), component("test.Burning", 0, 1, {})};
}

/// A chunk that changes at random, with every version that it had.
class ChunkScript {
 public:
  explicit ChunkScript(std::uint64_t seed, unsigned most_bound = 40)
      : random_(seed), most_bound_(most_bound), components_(test_components()), table(components_) {
    versions.emplace_back(table, pool, ChunkId{7});
    versions.back().set_tick(Tick{100});
  }

  /// Appends the next version: `edits` random changes at the next tick.
  void step(unsigned edits) {
    ChunkVersion next = versions.back();
    next.set_tick(versions.back().tick() + 1 + random_.below(3));
    for (unsigned i = 0; i < edits; ++i) edit(next);
    versions.push_back(std::move(next));
  }

 private:
  Random random_;
  unsigned most_bound_;
  std::uint32_t next_generation_ = 1;
  std::vector<ComponentDescriptor> components_;

 public:
  ComponentTable table;
  ColumnPool pool;
  std::vector<ChunkVersion> versions;
  std::vector<Departure> departures;

 private:
  void edit(ChunkVersion& version) {
    const auto slot = static_cast<Slot>(random_.below(most_bound_));
    if (!version.is_bound(slot)) {
      // Few indices, so that they are reused all the time.
      version.bind(slot, Entity{slot * 3 + random_.below(3), next_generation_++});
      for (ComponentIndex index = 0; index < table.size(); ++index) {
        if (random_.chance(0.7)) add(version, index, slot);
      }
      return;
    }
    const std::uint32_t what = random_.below(20);
    if (what == 0) {
      const auto reason = static_cast<DepartureReason>(random_.below(kWireDepartureReasons));
      departures.push_back({version.tick(), slot, version.id(slot), reason,
                            reason == DepartureReason::Moved ? ChunkId{random_.below(5000)} : ChunkId{}});
      version.unbind(slot);
      return;
    }
    const auto index = static_cast<ComponentIndex>(random_.below(static_cast<std::uint32_t>(table.size())));
    const bool has = (version.present(index) & slot_bit(slot)) != 0;
    if (!has) {
      add(version, index, slot);
    } else if (what < 3) {
      version.remove_component(index, slot);
    } else {
      for (unsigned i = 0; i < table[index].column_count; ++i) {
        const ColumnIndex column = table[index].first_column + i;
        const unsigned bits = table.columns()[column].bits;
        const std::uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1;
        const std::uint32_t value =
            random_.chance(0.9)
                ? version.value(column, slot) + static_cast<std::uint32_t>(random_.between(-40, 40))
                : static_cast<std::uint32_t>(random_.next());
        version.set_value(column, slot, value & mask);
      }
    }
  }
  void add(ChunkVersion& version, ComponentIndex index, Slot slot) {
    version.add_component(index, slot);
    for (unsigned i = 0; i < table[index].column_count; ++i) {
      const ColumnIndex column = table[index].first_column + i;
      version.set_value(column, slot,
                        static_cast<std::uint32_t>(random_.next() >> (64 - table.columns()[column].bits)));
    }
  }
};

}  // namespace shoal::test
