#include "shared/game/player.hpp"

#include "schema/components.hpp"
#include "shared/ecs/affiliation.hpp"
#include "shared/game/effects.hpp"
#include "shared/game/movement.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/server_components.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/state.hpp"
#include "shared/game/vector.hpp"

namespace shoal::demo {

Entity spawn_player(Registry& registry, PlayerNumber number, Tick tick) {
  const auto created = registry.try_create();
  if (!created) return kNullEntity;
  const Entity player = *created;
  const auto& state = registry.resources().get<GameState>();
  const auto team = static_cast<std::uint8_t>(number.value % kTeams);
  Random random = state.random(RandomStream::Respawn, tick, player.bits());
  const Vector2 place = spawn_place(registry, team, random);
  registry.emplace<Position>(player, place.x, place.y, 0.0f);
  registry.emplace<Heading>(player, 0.0f);
  registry.emplace<Health>(player, kPlayerHealth, kPlayerHealth);
  registry.emplace<Renderable>(player, kPlayerMesh, team);
  registry.emplace<Team>(player, team);
  registry.emplace<Player>(player, number.value, 0);
  registry.emplace<Weapon>(player, tick, false);
  registry.emplace<Ammunition>(player, kMagazine);
  registry.emplace<Waypoint>(player, place.x, place.y);
  registry.emplace<OnTeam>(player, team);
  registry.emplace<OwnedBy>(player, player);
  shield(registry, player, tick, kRespawnShieldTime);
  return player;
}

void despawn_player(Registry& registry, Entity player) {
  if (registry.all_of<Player>(player)) registry.destroy(player);
}

void apply_input(Registry& registry, Entity player, const PlayerInput& input) {
  if (!registry.all_of<Player>(player)) return;
  const float haste = registry.all_of<HasteTimer>(player) ? kHasteFactor : 1;
  steer_player(registry, player, input, kPlayerSpeed * haste);
  registry.get<Weapon>(player).trigger = input.fire;
  const auto& position = registry.get<const Position>(player);
  const auto* velocity = registry.try_get<const Velocity>(player);
  const Vector2 ahead = velocity ? Vector2{velocity->x, velocity->y} * kLookAhead : Vector2{};
  registry.replace<Waypoint>(player, position.x + ahead.x, position.y + ahead.y);
}

void rest_player(Registry& registry, Entity player) {
  if (!registry.all_of<Player>(player)) return;
  PlayerInput rest;
  rest.aim_degrees = registry.get<const Heading>(player).degrees;
  apply_input(registry, player, rest);
}

void steer_player(Registry& registry, Entity player, const PlayerInput& input, float speed) {
  // A diagonal is not faster than a straight line, whatever the client says.
  Vector2 move{input.move_x, input.move_y};
  if (move.squared_length() > 1) move = normalised(move);
  set_velocity(registry, player, move * speed);
  if (registry.get<const Heading>(player).degrees != input.aim_degrees) {
    registry.replace<Heading>(player, input.aim_degrees);
  }
}

}  // namespace shoal::demo
