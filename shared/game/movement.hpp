// Who moves has a `Velocity`; who rests has none.
#pragma once

#include "schema/components.hpp"
#include "shared/ecs/each_system.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/game/state.hpp"
#include "shared/game/vector.hpp"

namespace shoal::demo {

/// Sets the velocity on the ground, or takes the component away when it is zero.
void set_velocity(Registry& registry, Entity entity, Vector2 velocity);
/// The same, recorded; `present` is the velocity that it has, null for none.
void set_velocity(CommandBuffer& commands, Entity entity, const Velocity* present, Vector2 velocity);

/// Positions follow velocities; bodies stop at the border of the world. Writes through plain references.
void move(const Velocity& velocity, Position& position, Read<GameState> state);
/// Dropped pickups fall and come to rest.
void drop_to_ground(Entity entity, With<Pickup>, Velocity& velocity, const Position& position,
                    Read<GameState> state, CommandBuffer& commands);

}  // namespace shoal::demo
