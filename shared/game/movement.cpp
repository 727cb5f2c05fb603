#include "shared/game/movement.hpp"

#include "schema/components.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/state.hpp"

namespace shoal::demo {

void set_velocity(Registry& registry, Entity entity, Vector2 velocity) {
  if (velocity == Vector2{}) {
    registry.remove<Velocity>(entity);
    return;
  }
  const auto* present = registry.try_get<const Velocity>(entity);
  const bool same =
      present != nullptr && present->x == velocity.x && present->y == velocity.y && present->z == 0;
  if (!same) registry.emplace_or_replace<Velocity>(entity, velocity.x, velocity.y, 0.0f);
}

void move(Registry& registry, Tick) {
  const auto& state = registry.resources().get<GameState>();
  // A plain reference on purpose: nobody is told, and the change is replicated all the same.
  registry.view<const Velocity, Position>().each([&](const Velocity& velocity, Position& position) {
    position.x = state.clamped(position.x + velocity.x * state.tick_seconds);
    position.y = state.clamped(position.y + velocity.y * state.tick_seconds);
    const float z = position.z + velocity.z * state.tick_seconds;
    position.z = z > 0 ? z : 0;
  });
}

void drop_to_ground(Registry& registry, Tick) {
  const auto& state = registry.resources().get<GameState>();
  for (auto [entity, pickup, velocity, position] : registry.view<const Pickup, Velocity, const Position>()) {
    velocity.z -= kGravity * state.tick_seconds;
    const bool landed = position.z <= 0 && velocity.z < 0;
    if (landed) registry.remove<Velocity>(entity);
  }
}

}  // namespace shoal::demo
