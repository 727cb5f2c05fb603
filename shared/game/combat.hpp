// Weapons, projectiles, damage and death.
#pragma once

#include <cstdint>

#include "schema/components.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/ecs/system_parameters.hpp"
#include "shared/game/server_components.hpp"
#include "shared/game/state.hpp"

namespace shoal::demo {

/// Whose trigger is pulled and whose weapon is ready shoots where it looks. One task: there is one cap for all.
void fire_weapons(ViewOf<Weapon> weapons, Pool<Ammunition> ammunition, Pool<const Position> positions,
                  Pool<const Heading> headings, Pool<const Team> teams, Pool<const Projectile> projectiles,
                  Read<GameState> state, Tick tick, CommandBuffer& commands);
/// Projectiles that met a body of another team wound it, and end; sometimes the body burns.
void hit_bodies(Registry& registry, Tick tick);
/// Creatures without health die, and sometimes drop something; players come to life elsewhere.
void bury_the_dead(Registry& registry, Tick tick);

/// Never below 0.
void lose(Health& health, std::uint16_t damage);
/// Takes health unless the entity is `Invulnerable`. REQUIRES: it has `Health`.
void wound(Registry& registry, Entity entity, std::uint16_t damage);

}  // namespace shoal::demo
