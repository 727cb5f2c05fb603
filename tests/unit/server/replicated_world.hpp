// A world of the demo's components with a change tracker, for tests of what lies between a game and the sessions.
#pragma once

#include <optional>
#include <string_view>

#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "server/change_tracker.hpp"
#include "server/chunk_store.hpp"
#include "shared/base/hash.hpp"
#include "shared/ecs/affiliation.hpp"

namespace shoal::test {

class ReplicatedWorld {
 public:
  explicit ReplicatedWorld(const InterestConfig& interest = {}) {
    demo::register_components(registry);
    register_affiliation(registry);
    registry.freeze();
    registry.log().set_enabled(true);
    tracker.emplace(table, registry, chunks, interest);
  }

  Tick end_tick() {
    tracker->end_tick(++now);
    return now;
  }
  void end_ticks(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) end_tick();
  }
  Entity create_at(float x, float y) {
    const Entity entity = registry.create();
    registry.emplace<demo::Position>(entity, x, y, 0.0f);
    return entity;
  }
  void move_to(Entity entity, float x, float y) {
    registry.get<demo::Position>(entity).x = x;
    registry.get<demo::Position>(entity).y = y;
  }
  ChunkIndex index_of(Entity entity, Audience audience = Audience::Everyone) const {
    return tracker->binding(entity, audience).chunk;
  }
  const Chunk& chunk_of(Entity entity, Audience audience = Audience::Everyone) const {
    return chunks[index_of(entity, audience)];
  }
  const SquareKey& square_of(Entity entity, Audience audience = Audience::Everyone) const {
    return chunks.square_of(index_of(entity, audience));
  }
  ComponentIndex component(std::string_view name) const { return *table.find(fnv1a32(name)); }

  ComponentTable table{demo::component_descriptors()};
  Registry registry;
  ChunkStore chunks{table};
  std::optional<ChangeTracker> tracker;
  Tick now{};
};

}  // namespace shoal::test
