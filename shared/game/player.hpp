// Players: the entities that connected people steer.
#pragma once

#include <cstdint>

#include "shared/base/tick.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/game/input.hpp"

namespace shoal::demo {

/// Given by the server to each session; decides the team.
struct PlayerNumber {
  std::uint16_t value = 0;
  friend constexpr bool operator==(PlayerNumber, PlayerNumber) = default;
};

/// Null when the registry is full. REQUIRES: create_world.
Entity spawn_player(Registry& registry, PlayerNumber number, Tick tick);
/// What it shot flies on; its owner then names nobody. Nothing happens when the player is not alive.
void despawn_player(Registry& registry, Entity player);

/// Steers and fires, for one tick. Without effect on what is no living player: the input may be late. The
/// server calls it before the systems of the input's tick.
void apply_input(Registry& registry, Entity player, const PlayerInput& input);
/// Stands still and holds its fire, until an input comes. Nothing happens when the player is not alive.
void rest_player(Registry& registry, Entity player);
/// The part that needs no server: heading and velocity. A client predicts with it. REQUIRES: a living player.
void steer_player(Registry& registry, Entity player, const PlayerInput& input, float speed);

}  // namespace shoal::demo
