#include "tests/simulation/chaos_game.hpp"

#include <optional>
#include <vector>

#include "schema/components.hpp"
#include "shared/base/random.hpp"
#include "shared/ecs/affiliation.hpp"
#include "shared/ecs/local.hpp"

namespace shoal::simulation {
namespace {

using namespace demo;

std::optional<Entity> any_entity(const Registry& registry, Random& random) {
  std::vector<Entity> alive;
  registry.for_each_entity([&](Entity entity) { alive.push_back(entity); });
  if (alive.empty()) return std::nullopt;
  return alive[random.below(static_cast<std::uint32_t>(alive.size()))];
}

// A stranger: not of the demo's making, so that no rule of the demo is broken by what happens to it.
Entity make_stranger(Registry& registry, Random& random) {
  const auto made = registry.try_create();
  if (!made) return kNullEntity;
  const Entity entity = *made;
  if (random.chance(0.3)) return entity;  // existing is itself state
  if (random.chance(0.2)) {               // for its owner alone
    registry.emplace<Ammunition>(entity, static_cast<std::uint8_t>(random.below(100)));
    registry.emplace<OwnedBy>(entity, any_entity(registry, random).value_or(kNullEntity));
    return entity;
  }
  registry.emplace<Renderable>(entity, static_cast<std::uint16_t>(random.below(65536)), std::uint8_t{7});
  if (random.chance(0.5)) registry.emplace<Burning>(entity);
  if (random.chance(0.5)) {
    registry.emplace<Projectile>(entity, any_entity(registry, random).value_or(kNullEntity),
                                 std::uint16_t{1});
  }
  return entity;
}

bool is_stranger(const Registry& registry, Entity entity) {
  return !registry.any_of<Position, AI, Player, Pickup>(entity);
}

// Whose it is changes, by signals and past them.
void change_sides(Registry& registry, Random& random, Entity entity) {
  if (random.chance(0.5)) {
    if (!registry.all_of<Waypoint>(entity)) registry.emplace<Waypoint>(entity, 3.0f, 4.0f);
    if (auto* team = registry.try_get<OnTeam>(entity)) {
      team->team = random.below(4);
      if (random.chance(0.2)) registry.remove<OnTeam>(entity);
    } else {
      registry.emplace<OnTeam>(entity, random.below(4));
    }
    if (random.chance(0.2) && !registry.all_of<Player>(entity)) registry.remove<Waypoint>(entity);
    return;
  }
  const Entity owner = any_entity(registry, random).value_or(kNullEntity);
  if (!registry.all_of<Ammunition>(entity)) registry.emplace<Ammunition>(entity, std::uint8_t{9});
  if (auto* owned = registry.try_get<OwnedBy>(entity)) {
    owned->player = owner;
    if (random.chance(0.2)) registry.remove<OwnedBy>(entity);
  } else {
    registry.emplace<OwnedBy>(entity, owner);
  }
  if (random.chance(0.2)) registry.remove<Ammunition>(entity);
}

// Into another square, far away, or to and fro within a tick.
void teleport(Registry& registry, Random& random, Entity entity) {
  auto* position = registry.try_get<Position>(entity);
  if (!position || registry.all_of<Local>(entity)) return;
  const Position before = *position;
  position->x = random.uniform(-30, 30);
  position->y = random.uniform(-30, 30);
  if (random.chance(0.2)) *position = before;
}

void edit(Registry& registry, Random& random) {
  const auto picked = any_entity(registry, random);
  if (picked && random.chance(0.15)) return teleport(registry, random, *picked);
  if (picked && registry.all_of<Player>(*picked) && random.chance(0.3))
    return change_sides(registry, random, *picked);
  if (!picked || !is_stranger(registry, *picked) || random.chance(0.1)) {
    make_stranger(registry, random);
    return;
  }
  const Entity entity = *picked;
  switch (random.below(13)) {
    case 0:
      registry.destroy(entity);
      return;
    case 1: {  // born and dead within one tick, index freed at once
      const Entity short_lived = make_stranger(registry, random);
      if (!short_lived.is_null()) registry.destroy(short_lived);
      return;
    }
    case 2:  // hidden
      if (!registry.all_of<Local>(entity)) registry.emplace<Local>(entity);
      return;
    case 3:
      registry.remove<Local>(entity);
      return;
    case 4:  // R14: removed and added again within one tick
      if (const auto* old = registry.try_get<const Renderable>(entity)) {
        const Renderable value = *old;
        registry.remove<Renderable>(entity);
        registry.emplace<Renderable>(entity, value.mesh, static_cast<std::uint8_t>(value.material + 1));
      }
      return;
    case 5:  // R14: added and removed within one tick
      if (!registry.all_of<Invulnerable>(entity)) {
        registry.emplace<Invulnerable>(entity);
        registry.remove<Invulnerable>(entity);
      }
      return;
    case 6:
      if (!registry.remove<Renderable>(entity)) registry.emplace<Renderable>(entity);
      return;
    case 7:  // R13: written past all signals
      if (auto* renderable = registry.try_get<Renderable>(entity)) ++renderable->mesh;
      return;
    case 8:  // a reference to somebody, or to a dead one
      if (auto* projectile = registry.try_get<Projectile>(entity)) {
        projectile->owner = any_entity(registry, random).value_or(kNullEntity);
        if (random.chance(0.3)) --projectile->owner.generation;
      }
      return;
    case 9:  // outgrows its chunk
      registry.emplace_or_replace<Projectile>(entity, any_entity(registry, random).value_or(kNullEntity),
                                              std::uint16_t{5});
      if (!registry.all_of<Team>(entity)) registry.emplace<Team>(entity, std::uint8_t{3});
      if (!registry.all_of<Heading>(entity)) registry.emplace<Heading>(entity, 12.5f);
      return;
    case 10:
    case 11:
      return change_sides(registry, random, entity);
    default:
      if (!registry.remove<Burning>(entity)) registry.emplace<Burning>(entity);
      return;
  }
}

}  // namespace

void ChaosGame::register_systems(Schedule& schedule) {
  demo_.register_systems(schedule);
  schedule.add("chaos", [config = config_](Registry& registry, Tick tick) {
    Random random = Random::keyed(config.game.seed, tick.value);
    for (std::uint32_t i = 0; i < config.edits_per_tick; ++i) edit(registry, random);
  });
}

}  // namespace shoal::simulation
