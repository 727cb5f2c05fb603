// Pickups are taken, everything grows old, and what is missing is born again: the population stays near
// `GameConfig::entities` while indices are reused all the time.
#pragma once

#include "shared/base/tick.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/game/server_components.hpp"

namespace shoal::demo {

/// Whoever comes near a pickup takes it.
void take_pickups(Registry& registry, Tick tick);
void end_old_lives(Entity entity, const Lifetime& lifetime, Tick tick, CommandBuffer& commands);
/// Spawns what is missing, some each tick.
void restore_population(Registry& registry, Tick tick);

}  // namespace shoal::demo
