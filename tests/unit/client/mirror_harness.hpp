// A server's side of some chunks, by hand: versions with the demo's components, and blocks between them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "client/mirror.hpp"
#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "shared/base/fault.hpp"
#include "shared/base/hash.hpp"

namespace shoal::test {

class MirrorHarness : public ::testing::Test {
 protected:
  MirrorHarness() {
    demo::register_components(registry);
    registry.freeze();
    mirror.emplace(table, registry);
  }
  ~MirrorHarness() override {
#ifdef SHOAL_ENABLE_FAULTS
    set_faults("");
#endif
  }

  ComponentIndex index_of(std::string_view name) const { return *table.find(fnv1a32(name)); }
  template <class T>
  void set(ChunkVersion& version, Slot slot, std::string_view name, const T& value) {
    const ComponentIndex component = index_of(name);
    ASSERT_EQ(table[component].audience, version.chunk().audience()) << name;
    if (!(version.present(component) & slot_bit(slot))) version.add_component(component, slot);
    std::array<std::uint32_t, 16> values{};
    table.quantise(component, &value, values.data());
    for (unsigned i = 0; i < table[component].column_count; ++i) {
      version.set_value(table[component].first_column + i, slot, values[i]);
    }
  }
  ChunkVersion empty(std::uint32_t chunk, std::uint32_t tick, Audience audience = Audience::Everyone) {
    ChunkVersion version(table, pool, ChunkId::of(audience, chunk));
    version.set_tick(Tick{tick});
    return version;
  }
  ReceivedBlock block(const ChunkVersion* from, const ChunkVersion& to,
                      std::span<const Departure> departures = {}, Epoch epoch = Epoch{1}) {
    auto& body = bodies.emplace_back();
    const std::size_t size = encode_block(from, to, departures, body);
    EXPECT_GT(size, 0u);
    return {.chunk = to.chunk(),
            .epoch = epoch,
            .from = from ? std::optional(from->tick()) : std::nullopt,
            .to = to.tick(),
            .hash = to.hash(),
            .body = std::span<const std::byte>(body).first(size)};
  }

  ComponentTable table{demo::component_descriptors()};
  ColumnPool pool;
  Registry registry;
  std::optional<Mirror> mirror;
  std::deque<std::array<std::byte, 2048>> bodies;
};

inline constexpr Entity kAnna{5, 1};
inline constexpr Entity kBert{6, 1};

}  // namespace shoal::test
