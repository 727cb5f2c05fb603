// What a system is given beside the world: the tick, its commands, random numbers of its own.
//
// Thread rule: one for each piece of a system, used by the thread that runs it.
#pragma once

#include <cstdint>
#include <string_view>

#include "shared/base/random.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal {

class SystemContext {
 public:
  struct Parts {
    std::string_view name;
    std::uint64_t seed;  // of the schedule and the system's name
    Tick tick;
    std::uint32_t piece;
    Registry* registry;
    CommandBuffer* commands;
  };
  explicit SystemContext(const Parts& parts) : parts_(parts) {}

  Tick tick() const { return parts_.tick; }
  std::string_view system() const { return parts_.name; }
  /// Of a system that runs per entity: which piece, counted in the order of visits; else 0.
  std::uint32_t piece() const { return parts_.piece; }
  /// What is recorded here is applied at the end of the stage, in the order (system, piece, record).
  CommandBuffer& commands() const { return *parts_.commands; }
  /// Keyed by (seed of the schedule, tick, name of the system, entity): the same numbers in whatever order and on
  /// whatever thread the entities are visited, and no system shifts those of another. The same ones again in one tick.
  Random random(Entity entity) const { return Random::keyed(parts_.seed, parts_.tick.value, entity.bits()); }

  /// For the schedule and the parameters of systems.
  Registry& registry() const { return *parts_.registry; }

 private:
  Parts parts_;
};

}  // namespace shoal
