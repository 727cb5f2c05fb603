// Who moves has a `Velocity`; who rests has none.
#pragma once

#include "shared/base/tick.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/game/vector.hpp"

namespace shoal::demo {

/// Sets the velocity on the ground, or takes the component away when it is zero.
void set_velocity(Registry& registry, Entity entity, Vector2 velocity);

/// Positions follow velocities; bodies stop at the border of the world. Writes through plain references.
void move(Registry& registry, Tick tick);
/// Dropped pickups fall and come to rest.
void drop_to_ground(Registry& registry, Tick tick);

}  // namespace shoal::demo
