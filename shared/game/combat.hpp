// Weapons, projectiles, damage and death.
#pragma once

#include <cstdint>

#include "shared/base/tick.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal::demo {

/// Whose trigger is pulled and whose weapon is ready shoots where it looks.
void fire_weapons(Registry& registry, Tick tick, CommandBuffer& commands);
/// Projectiles that met a body of another team wound it, and end; sometimes the body burns.
void hit_bodies(Registry& registry, Tick tick);
/// Creatures without health die, and sometimes drop something; players come to life elsewhere.
void bury_the_dead(Registry& registry, Tick tick);

/// Takes health unless the entity is `Invulnerable`; never below 0. REQUIRES: it has `Health`.
void wound(Registry& registry, Entity entity, std::uint16_t damage);

}  // namespace shoal::demo
