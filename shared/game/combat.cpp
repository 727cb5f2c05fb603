#include "shared/game/combat.hpp"

#include <cmath>

#include "shared/game/effects.hpp"
#include "shared/game/grid.hpp"
#include "shared/game/movement.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/spawn.hpp"

namespace shoal::demo {
namespace {

// The nearest body of another team that the projectile passed on the way to where it is now.
Entity body_on_the_way(const Registry& registry, Vector2 from, Vector2 to, std::uint8_t team) {
  const Vector2 middle = (from + to) * 0.5f;
  const float reach = length(to - from) * 0.5f + kHitRadius;
  Entity hit;
  float nearest = kHitRadius * kHitRadius;
  registry.resources().get<Bodies>().grid.for_each_near(middle, reach, [&](const Body& body) {
    if (body.team == team) return;
    const float squared_distance = squared_distance_to_segment(body.position, from, to);
    if (squared_distance >= nearest || !registry.alive(body.entity)) return;
    nearest = squared_distance;
    hit = body.entity;
  });
  return hit;
}

// Who kills gets a point, if it is a player who is still here.
void give_point(Registry& registry, Entity killer) {
  if (!registry.all_of<Player>(killer)) return;
  registry.patch<Player>(killer, [](Player& player) { ++player.score; });
}

void respawn(Registry& registry, Entity player, Tick tick) {
  const auto& state = registry.resources().get<GameState>();
  Random random = state.random(RandomStream::Respawn, tick, player.bits());
  const Vector2 place = spawn_place(registry, registry.get<const Team>(player).id, random);
  registry.replace<Position>(player, place.x, place.y, 0.0f);
  set_velocity(registry, player, {});
  end_effects(registry, player);
  registry.patch<Health>(player, [](Health& health) { health.current = health.maximum; });
  shield(registry, player, tick, kRespawnShieldTime);
}

}  // namespace

void fire_weapons(ViewOf<Weapon> weapons, Pool<Ammunition> ammunition, Pool<const Position> positions,
                  Pool<const Heading> headings, Pool<const Team> teams, Pool<const Projectile> projectiles,
                  Read<GameState> state, Tick tick, CommandBuffer& commands) {
  // Everyone shoots at once in a crowd; the cap keeps the population near what was asked for.
  const std::size_t most = 64 + state->config.entities / 10;
  std::size_t flying = projectiles.size();
  for (auto [entity, weapon] : weapons) {
    if (!weapon.trigger || tick < weapon.ready || flying >= most) continue;
    weapon.ready = tick + state->ticks(kShotPeriod);
    if (auto* magazine = ammunition.try_get(entity)) {
      if (magazine->rounds == 0) magazine->rounds = kMagazine;
      if (--magazine->rounds == 0) weapon.ready = tick + state->ticks(kReloadTime);
    }
    const Position& position = positions.get(entity);
    const Shot shot{entity, {position.x, position.y}, headings.get(entity).degrees, teams.get(entity).id};
    spawn_projectile(commands, *state, shot, tick);
    ++flying;
  }
}

void hit_bodies(Registry& registry, Tick tick) {
  auto& state = registry.resources().get<GameState>();
  state.impacts.clear();
  for (auto [entity, projectile, position, velocity, team] :
       registry.view<const Projectile, const Position, const Velocity, const Team>()) {
    const Vector2 to{position.x, position.y};
    const Vector2 from = to - Vector2{velocity.x, velocity.y} * state.tick_seconds;
    const Entity hit = body_on_the_way(registry, from, to, team.id);
    if (!hit.is_null()) {
      const bool was_alive = registry.get<const Health>(hit).current > 0;
      wound(registry, hit, projectile.damage);
      state.impacts.push_back({hit, projectile.damage});
      const bool killed = was_alive && registry.get<const Health>(hit).current == 0;
      if (killed) give_point(registry, projectile.owner);
      Random random = state.random(RandomStream::Hit, tick, entity.bits());
      if (random.chance(kBurnChance)) ignite(registry, hit, tick);
    }
    // Movement stopped it exactly at the border.
    const bool at_border = std::fabs(to.x) == state.half_size || std::fabs(to.y) == state.half_size;
    if (!hit.is_null() || at_border) registry.destroy(entity);
  }
}

void lose(Health& health, std::uint16_t damage) {
  health.current = static_cast<std::uint16_t>(health.current > damage ? health.current - damage : 0);
}

void wound(Registry& registry, Entity entity, std::uint16_t damage) {
  if (registry.all_of<Invulnerable>(entity) || registry.get<const Health>(entity).current == 0) return;
  registry.patch<Health>(entity, [&](Health& health) { lose(health, damage); });
}

void bury_the_dead(Registry& registry, Tick tick) {
  const auto& state = registry.resources().get<GameState>();
  for (auto [entity, health] : registry.view<const Health>()) {
    if (health.current > 0) continue;
    if (registry.all_of<Player>(entity)) {
      respawn(registry, entity, tick);
      continue;
    }
    const auto& position = registry.get<const Position>(entity);
    const Vector2 place{position.x, position.y};
    Random random = state.random(RandomStream::Drop, tick, entity.bits());
    registry.destroy(entity);
    if (random.chance(kDropChance)) spawn_drop(registry, random, place, tick);
  }
}

}  // namespace shoal::demo
