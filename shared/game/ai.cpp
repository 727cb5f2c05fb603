#include "shared/game/ai.hpp"

#include <algorithm>

#include "shared/game/movement.hpp"
#include "shared/game/rules.hpp"

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

Situation look_around(const AI& ai, const Position& position, const Health& health, const Team& team,
                      const BodyGrid& grid) {
  Situation situation;
  situation.position = {position.x, position.y};
  situation.state = ai.state;
  situation.hurt = health.current * 4 < health.maximum;
  situation.recovered = health.current * 2 > health.maximum;
  const auto enemy = nearest_enemy(grid, situation.position, team.id, ai.detection_range);
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

// What a creature does with itself.
struct Actor {
  Entity entity;
  Ref<Heading> heading;
  const Velocity* velocity;
  CommandBuffer& commands;

  void look_at(Vector2 direction) const {
    if (direction == Vector2{}) return;
    // Written through a plain reference, as a user's system might.
    heading.write().degrees = angle_of(direction);
  }
  void set_velocity(Vector2 wanted) const { demo::set_velocity(commands, entity, velocity, wanted); }
};

// Rests for long, walks for a while, in turns.
void idle(const Actor& actor, Brain& brain, bool just_became_idle, const GameState& state, Tick tick) {
  if (!just_became_idle && tick < brain.idles_until) return;
  Random random = state.random(RandomStream::Think, tick, actor.entity.bits());
  if (random.chance(kRestChance)) {
    brain.idles_until = tick + state.ticks(random.uniform(kMinRest, kMaxRest));
    actor.set_velocity({});
    return;
  }
  brain.idles_until = tick + state.ticks(random.uniform(kMinWalk, kMaxWalk));
  const Vector2 direction = direction_of(random.uniform(-180, 180));
  actor.look_at(direction);
  actor.set_velocity(direction * kWanderSpeed);
}

void fight(const Actor& actor, const Situation& situation, AiState next, float haste) {
  const Vector2 towards = normalised(situation.to_target);
  switch (next) {
    case AiState::Idle:
      break;
    case AiState::Chase:
      actor.look_at(towards);
      actor.set_velocity(towards * (kChaseSpeed * haste));
      break;
    case AiState::Attack:
      actor.look_at(towards);
      actor.set_velocity({});
      break;
    case AiState::Flee:
      actor.look_at(towards * -1);
      actor.set_velocity(towards * (-kFleeSpeed * haste));
      break;
  }
}

}  // namespace

void index_bodies(ViewOf<const Health, const Position, const Team> living, Read<GameState> state,
                  Write<Bodies> bodies) {
  bodies->all.clear();
  for (auto [entity, health, position, team] : living) {
    bodies->all.push_back({entity, {position.x, position.y}, team.id});
  }
  bodies->grid.build(bodies->all, state->half_size);
}

void think(Entity entity, Ref<AI> ai, Ref<Brain> brain, Ref<Heading> heading, Ref<Weapon> weapon,
           const Position& position, const Health& health, const Team& team, const Velocity* velocity,
           const HasteTimer* haste, Read<Bodies> bodies, Read<GameState> state, Tick tick,
           CommandBuffer& commands) {
  if (tick < brain->decides) return;
  brain.write().decides = tick + state->ticks(kDecisionPeriod);
  const Situation situation = look_around(*ai, position, health, team, bodies->grid);
  const AiState next = next_state(situation);
  if (next != ai->state || situation.target != ai->target) {
    ai.patch([&](AI& changed) {
      changed.state = next;
      changed.target = situation.target;
    });
  }
  const Actor actor{entity, heading, velocity, commands};
  if (next == AiState::Idle) {
    idle(actor, brain.write(), situation.state != AiState::Idle, *state, tick);
  } else {
    fight(actor, situation, next, haste != nullptr ? kHasteFactor : 1);
  }
  weapon.write().trigger = next == AiState::Attack;
}

}  // namespace shoal::demo
