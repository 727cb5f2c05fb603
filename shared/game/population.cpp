#include "shared/game/population.hpp"

#include <algorithm>

#include "schema/components.hpp"
#include "shared/game/effects.hpp"
#include "shared/game/grid.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/state.hpp"

namespace shoal::demo {
namespace {

void give(Registry& registry, Entity taker, const Pickup& pickup, Tick tick) {
  switch (pickup.kind) {
    case PickupKind::Heal:
      registry.patch<Health>(taker, [&](Health& health) {
        health.current =
            static_cast<std::uint16_t>(std::min(health.current + pickup.amount, int{health.maximum}));
      });
      break;
    case PickupKind::Haste:
      hasten(registry, taker, tick);
      break;
    case PickupKind::Shield:
      shield(registry, taker, tick, kShieldTime);
      break;
    case PickupKind::Points:
      if (registry.all_of<Player>(taker)) {
        registry.patch<Player>(taker, [&](Player& player) { player.score += pickup.amount; });
      }
      break;
  }
}

// Who died earlier in this tick takes nothing any more: a potion would bring it back to life.
bool is_living(const Registry& registry, Entity body) {
  const auto* health = registry.try_get<Health>(body);
  return health != nullptr && health->current > 0;
}

std::uint32_t missing(std::uint32_t wanted, std::size_t present) {
  return present < wanted ? wanted - static_cast<std::uint32_t>(present) : 0;
}

}  // namespace

void take_pickups(Registry& registry, Tick tick) {
  const auto& grid = registry.resources().get<Bodies>().grid;
  for (auto [entity, pickup, position] : registry.view<const Pickup, const Position>()) {
    Entity taker;
    float nearest = kPickupRadius * kPickupRadius;
    const Vector2 place{position.x, position.y};
    grid.for_each_near(place, kPickupRadius, [&](const Body& body) {
      const float squared_distance = (body.position - place).squared_length();
      if (squared_distance >= nearest || !is_living(registry, body.entity)) return;
      nearest = squared_distance;
      taker = body.entity;
    });
    if (taker.is_null()) continue;
    give(registry, taker, pickup, tick);
    registry.destroy(entity);
  }
}

void end_old_lives(Entity entity, const Lifetime& lifetime, Tick tick, CommandBuffer& commands) {
  if (tick >= lifetime.ends) commands.destroy(entity);
}

void restore_population(Registry& registry, Tick tick) {
  auto& state = registry.resources().get<GameState>();
  const auto random = [&] { return state.random(RandomStream::Spawn, tick, ++state.spawned); };
  // A share of the population each tick: a massacre is made good within a second, not within one tick.
  const std::uint32_t most = 1 + state.config.entities / 64;
  const std::uint32_t creatures = std::min(most, missing(state.creatures, registry.storage<AI>().size()));
  for (std::uint32_t i = 0; i < creatures; ++i) spawn_creature(registry, random(), tick);
  const std::uint32_t pickups = std::min(most, missing(state.pickups, registry.storage<Pickup>().size()));
  for (std::uint32_t i = 0; i < pickups; ++i) spawn_pickup(registry, random(), tick);
}

}  // namespace shoal::demo
