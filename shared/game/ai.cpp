#include "shared/game/ai.hpp"

#include <algorithm>

#include "schema/components.hpp"
#include "shared/game/grid.hpp"
#include "shared/game/movement.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/server_components.hpp"
#include "shared/game/state.hpp"

namespace shoal::demo {
namespace {

// What a creature knows when it decides.
struct Situation {
  Vector2 position;
  Vector2 to_target;  // nothing when it sees nobody
  float distance = 0;
  Entity target;  // null: sees nobody
  AiState state = AiState::Idle;
  bool hurt = false;       // below a quarter of its health
  bool recovered = false;  // above the half
};

struct Sighting {
  Entity entity;
  Vector2 position;
  float squared_distance;
};

Sighting nearest_enemy(const BodyGrid& grid, Vector2 position, std::uint8_t team, float range) {
  Sighting best{kNullEntity, {}, range * range};
  grid.for_each_near(position, range, [&](const Body& body) {
    const float squared_distance = (body.position - position).squared_length();
    if (body.team == team || squared_distance >= best.squared_distance) return;
    best = {body.entity, body.position, squared_distance};
  });
  return best;
}

Situation look_around(const Registry& registry, Entity entity, const AI& ai) {
  Situation situation;
  const auto& position = registry.get<Position>(entity);
  situation.position = {position.x, position.y};
  situation.state = ai.state;
  const auto& health = registry.get<Health>(entity);
  situation.hurt = health.current * 4 < health.maximum;
  situation.recovered = health.current * 2 > health.maximum;
  const auto& grid = registry.resources().get<Bodies>().grid;
  const auto enemy =
      nearest_enemy(grid, situation.position, registry.get<Team>(entity).id, ai.detection_range);
  situation.target = enemy.entity;
  if (!enemy.entity.is_null()) {
    situation.to_target = enemy.position - situation.position;
    situation.distance = length(situation.to_target);
  }
  return situation;
}

AiState next_state(const Situation& situation) {
  if (situation.target.is_null()) return AiState::Idle;
  const bool keeps_fleeing = situation.state == AiState::Flee && !situation.recovered;
  if (situation.hurt || keeps_fleeing) return AiState::Flee;
  return situation.distance < kAttackRange ? AiState::Attack : AiState::Chase;
}

void look_at(Registry& registry, Entity entity, Vector2 direction) {
  if (direction == Vector2{}) return;
  // Written through a plain reference, as a user's system might.
  registry.get<Heading>(entity).degrees = angle_of(direction);
}

// Rests for long, walks for a while, in turns.
void idle(Registry& registry, Entity entity, bool just_became_idle, Tick tick) {
  auto& brain = registry.get<Brain>(entity);
  if (!just_became_idle && tick < brain.idles_until) return;
  const auto& state = registry.resources().get<GameState>();
  Random random = state.random(RandomStream::Think, tick, entity.bits());
  if (random.chance(kRestChance)) {
    brain.idles_until = tick + state.ticks(random.uniform(kMinRest, kMaxRest));
    set_velocity(registry, entity, {});
    return;
  }
  brain.idles_until = tick + state.ticks(random.uniform(kMinWalk, kMaxWalk));
  const Vector2 direction = direction_of(random.uniform(-180, 180));
  look_at(registry, entity, direction);
  set_velocity(registry, entity, direction * kWanderSpeed);
}

void act(Registry& registry, Entity entity, const Situation& situation, AiState next, Tick tick) {
  const float haste = registry.all_of<HasteTimer>(entity) ? kHasteFactor : 1;
  const Vector2 towards = normalised(situation.to_target);
  switch (next) {
    case AiState::Idle:
      idle(registry, entity, situation.state != AiState::Idle, tick);
      break;
    case AiState::Chase:
      look_at(registry, entity, towards);
      set_velocity(registry, entity, towards * (kChaseSpeed * haste));
      break;
    case AiState::Attack:
      look_at(registry, entity, towards);
      set_velocity(registry, entity, {});
      break;
    case AiState::Flee:
      look_at(registry, entity, towards * -1);
      set_velocity(registry, entity, towards * (-kFleeSpeed * haste));
      break;
  }
  registry.get<Weapon>(entity).trigger = next == AiState::Attack;
}

}  // namespace

void index_bodies(Registry& registry, Tick) {
  auto& bodies = registry.resources().get<Bodies>();
  bodies.all.clear();
  for (auto [entity, health, position, team] : registry.view<const Health, const Position, const Team>()) {
    bodies.all.push_back({entity, {position.x, position.y}, team.id});
  }
  bodies.grid.build(bodies.all, registry.resources().get<GameState>().half_size);
}

void think(Registry& registry, Tick tick) {
  const std::uint32_t period = registry.resources().get<GameState>().ticks(kDecisionPeriod);
  for (auto [entity, ai, brain] : registry.view<const AI, Brain>()) {
    if (tick < brain.decides) continue;
    brain.decides = tick + period;
    const Situation situation = look_around(registry, entity, ai);
    const AiState next = next_state(situation);
    if (next != ai.state || situation.target != ai.target) {
      registry.patch<AI>(entity, [&](AI& changed) {
        changed.state = next;
        changed.target = situation.target;
      });
    }
    act(registry, entity, situation, next, tick);
  }
}

}  // namespace shoal::demo
