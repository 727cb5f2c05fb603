#include "client/bots/behaviour.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "schema/components.hpp"
#include "shared/base/assert.hpp"
#include "shared/game/rules.hpp"

namespace shoal {
namespace {

// Metres.
constexpr float kArrived = 0.5f;
constexpr float kCrowdRadius = 4;
constexpr float kEdgeInReach = 12;
constexpr float kCornerInReach = 10;
constexpr float kFarFromTarget = 9, kCloseToTarget = 5;

// Bots send at the server's tick rate, 30 Hz unless it was told otherwise; these need not be exact.
constexpr std::uint32_t kTicksToGiveUp = 90;
constexpr std::uint32_t kTicksBetweenLooks = 10;

demo::Vector2 place_of(const demo::Position& position) {
  return {position.x, position.y};
}

// Where a shot must be aimed at to meet a body that keeps its velocity: twice is near enough.
demo::Vector2 lead(demo::Vector2 from, demo::Vector2 body, const demo::Velocity* velocity) {
  if (velocity == nullptr) return body;
  demo::Vector2 aim = body;
  for (int i = 0; i < 2; ++i) {
    const float seconds_under_way = length(aim - from) / demo::kProjectileSpeed;
    aim = body + demo::Vector2{velocity->x, velocity->y} * seconds_under_way;
  }
  return aim;
}

Entity nearest_enemy(const Registry& mirror, std::uint8_t own_team, demo::Vector2 here) {
  Entity nearest;
  float least = std::numeric_limits<float>::max();
  for (auto [entity, health, position, team] :
       mirror.view<const demo::Health, const demo::Position, const demo::Team>()) {
    if (team.id == own_team) continue;
    const float squared_distance = (place_of(position) - here).squared_length();
    if (squared_distance >= least) continue;
    least = squared_distance;
    nearest = entity;
  }
  return nearest;
}

}  // namespace

std::string_view to_string(Scenario scenario) {
  for (const auto& [word, known] : kScenarios) {
    if (known == scenario) return word;
  }
  return "unknown";
}

std::optional<Scenario> scenario_of(std::string_view word) {
  for (const auto& [known, scenario] : kScenarios) {
    if (known == word) return scenario;
  }
  return std::nullopt;
}

Behaviour::Behaviour(Scenario scenario, std::uint64_t seed, float square_size)
    : scenario_(scenario), random_(seed), square_size_(square_size) {
  SHOAL_ASSERT(square_size > 0, "a square has a side");
}

void Behaviour::set_scenario(Scenario scenario) {
  if (scenario == scenario_) return;
  scenario_ = scenario;
  ticks_left_ = 0;
  current_ = {};
  edge_.reset();
  target_ = kNullEntity;
}

demo::PlayerInput Behaviour::next(const Registry* mirror, Entity controlled) {
  const auto* position = mirror != nullptr && !controlled.is_null() && mirror->alive(controlled)
                             ? mirror->try_get<demo::Position>(controlled)
                             : nullptr;
  if (position == nullptr) {
    wander();
    return current_;
  }
  const Vector2 here = place_of(*position);
  switch (scenario_) {
    case Scenario::Wander:
    case Scenario::Churn:
      wander();
      break;
    case Scenario::Crowd:
      crowd(here);
      break;
    case Scenario::Border:
      border(here);
      break;
    case Scenario::Fight:
      fight(*mirror, controlled, here);
      break;
  }
  return current_;
}

// A direction for half a second to three, sometimes a rest; a shot every other second.
void Behaviour::wander() {
  if (ticks_left_ == 0) {
    ticks_left_ = 15 + random_.below(75);
    const bool rests = random_.chance(0.2);
    current_.move_x = rests ? 0 : random_.uniform(-1, 1);
    current_.move_y = rests ? 0 : random_.uniform(-1, 1);
    current_.aim_degrees = random_.uniform(-180, 180);
  }
  --ticks_left_;
  current_.fire = random_.chance(1.0 / 60);
}

void Behaviour::set_goal(Vector2 goal, std::uint32_t most_ticks) {
  goal_ = goal;
  ticks_left_ = most_ticks;
}

bool Behaviour::walk_to_goal(Vector2 here) {
  const Vector2 way = goal_ - here;
  const float distance = length(way);
  if (ticks_left_ == 0 || distance < kArrived) {
    current_.move_x = current_.move_y = 0;
    return false;
  }
  --ticks_left_;
  // What is seen is some ticks old: at full speed a player would run past its goal and back for ever.
  const Vector2 move = normalised(way) * std::min(1.0f, distance / 2);
  current_.move_x = move.x;
  current_.move_y = move.y;
  return true;
}

// To the middle from wherever it was; there a step here and there, a look around, a shot every four seconds.
void Behaviour::crowd(Vector2 here) {
  current_.fire = false;
  if (length(here) > 2 * kCrowdRadius) {
    set_goal({}, kTicksToGiveUp);
    walk_to_goal(here);
    current_.aim_degrees = demo::angle_of(goal_ - here);
    return;
  }
  if (!walk_to_goal(here)) {
    // Some rest for a while where they are: the goal is here.
    const float x = random_.uniform(-kCrowdRadius, kCrowdRadius) / 1.5f;
    const float y = random_.uniform(-kCrowdRadius, kCrowdRadius) / 1.5f;
    set_goal({x, y}, 15 + random_.below(45));
  }
  current_.aim_degrees = demo::wrapped_degrees(current_.aim_degrees + random_.uniform(-20, 20));
  current_.fire = random_.chance(1.0 / 120);
}

// The edge that is nearest on the way to the middle: there is world on both sides of it, however large the world is.
void Behaviour::choose_edge(Vector2 here) {
  Edge edge;
  edge.is_x = random_.chance(0.5);
  const float across = edge.is_x ? here.x : here.y;
  edge.at = std::trunc(across / square_size_) * square_size_;
  edge.forward = random_.chance(0.5) ? 1.0f : -1.0f;
  edge.side = across < edge.at ? 1.0f : -1.0f;
  edge_ = edge;
  ticks_left_ = 0;
}

// A zigzag: each leg ends on the other side of the edge, half a metre to three metres behind it and one to six metres
// further. Where the edge meets another one, it sometimes goes once around through all four squares.
void Behaviour::border(Vector2 here) {
  current_.fire = random_.chance(1.0 / 120);
  const float across = edge_ ? (edge_->is_x ? here.x : here.y) - edge_->at : 0;
  // A player that was killed comes to life elsewhere.
  if (!edge_ || std::fabs(across) > square_size_ / 2 + kEdgeInReach) choose_edge(here);
  Edge& edge = *edge_;
  if (walk_to_goal(here)) {
    current_.aim_degrees = demo::angle_of(goal_ - here);
    return;
  }
  const bool gave_up = length(goal_ - here) > 1 && ticks_left_ == 0;
  if (gave_up) edge.forward = -edge.forward;  // the end of the world, most likely
  const float along = edge.is_x ? here.y : here.x;
  const float corner = std::round(along / square_size_) * square_size_;
  if (edge.corner_steps == 0 && std::fabs(along - corner) < kCornerInReach && random_.chance(0.2)) {
    edge.corner_steps = 4;
    edge.corner = edge.is_x ? Vector2{edge.at, corner} : Vector2{corner, edge.at};
  }
  if (edge.corner_steps > 0) {
    --edge.corner_steps;
    const float x = edge.corner_steps == 3 || edge.corner_steps == 0 ? 1.0f : -1.0f;
    const float y = edge.corner_steps >= 2 ? 1.0f : -1.0f;
    set_goal(edge.corner + Vector2{x, y} * random_.uniform(0.8f, 2), kTicksToGiveUp);
    return;
  }
  const float depth = edge.side * random_.uniform(0.6f, 3);
  const float step = edge.forward * random_.uniform(1, 6);
  edge.side = -edge.side;
  set_goal(edge.is_x ? Vector2{edge.at + depth, along + step} : Vector2{along + step, edge.at + depth},
           kTicksToGiveUp);
}

// Towards the nearest body of another team until it is near, then around it, with the trigger held: the rules say how
// often a weapon shoots.
void Behaviour::fight(const Registry& mirror, Entity self, Vector2 here) {
  const auto* team = mirror.try_get<demo::Team>(self);
  const bool has_target =
      !target_.is_null() && mirror.alive(target_) && mirror.all_of<demo::Health, demo::Position>(target_);
  // Looking through the whole mirror is dear, and a fighter that changes its mind at every tick hits nobody.
  if (!has_target || ticks_left_ == 0) {
    target_ = team == nullptr ? kNullEntity : nearest_enemy(mirror, team->id, here);
    if (target_.is_null()) return wander();
    ticks_left_ = kTicksBetweenLooks + random_.below(kTicksBetweenLooks);
    if (random_.chance(0.2)) circling_ = -circling_;
  }
  --ticks_left_;
  const Vector2 body = place_of(mirror.get<demo::Position>(target_));
  const Vector2 way = body - here;
  const float distance = length(way);
  const Vector2 towards = normalised(way);
  const Vector2 around = Vector2{-towards.y, towards.x} * (0.5f * circling_);
  const Vector2 move = distance > kFarFromTarget   ? towards
                       : distance < kCloseToTarget ? around + towards * -0.5f
                                                   : around;
  current_.move_x = move.x;
  current_.move_y = move.y;
  current_.aim_degrees = demo::angle_of(lead(here, body, mirror.try_get<demo::Velocity>(target_)) - here);
  current_.fire = true;
}

}  // namespace shoal
