#include "shared/game/movement.hpp"

#include "shared/game/rules.hpp"

namespace shoal::demo {
namespace {

bool is_same(const Velocity* present, Vector2 velocity) {
  return present != nullptr && present->x == velocity.x && present->y == velocity.y && present->z == 0;
}

}  // namespace

void set_velocity(Registry& registry, Entity entity, Vector2 velocity) {
  if (velocity == Vector2{}) {
    registry.remove<Velocity>(entity);
    return;
  }
  if (!is_same(registry.try_get<const Velocity>(entity), velocity))
    registry.emplace_or_replace<Velocity>(entity, velocity.x, velocity.y, 0.0f);
}

void set_velocity(CommandBuffer& commands, Entity entity, const Velocity* present, Vector2 velocity) {
  if (velocity == Vector2{}) {
    if (present != nullptr) commands.remove<Velocity>(entity);
    return;
  }
  if (!is_same(present, velocity)) commands.emplace<Velocity>(entity, velocity.x, velocity.y, 0.0f);
}

void move(const Velocity& velocity, Position& position, Read<GameState> state) {
  // A plain reference on purpose: nobody is told, and the change is replicated all the same.
  position.x = state->clamped(position.x + velocity.x * state->tick_seconds);
  position.y = state->clamped(position.y + velocity.y * state->tick_seconds);
  const float z = position.z + velocity.z * state->tick_seconds;
  position.z = z > 0 ? z : 0;
}

void drop_to_ground(Entity entity, With<Pickup>, Velocity& velocity, const Position& position,
                    Read<GameState> state, CommandBuffer& commands) {
  velocity.z -= kGravity * state->tick_seconds;
  const bool landed = position.z <= 0 && velocity.z < 0;
  if (landed) commands.remove<Velocity>(entity);
}

}  // namespace shoal::demo
