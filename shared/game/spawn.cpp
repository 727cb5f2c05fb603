#include "shared/game/spawn.hpp"

#include <algorithm>
#include <cmath>

#include "schema/components_descriptors.hpp"
#include "shared/base/assert.hpp"
#include "shared/game/grid.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/server_components.hpp"

namespace shoal::demo {
namespace {

// Numbers are drawn one statement after the other: the order in which a call evaluates its arguments differs
// between compilers, and so would the world.
Vector2 random_place(Random& random, float half_size) {
  const float x = random.uniform(-half_size, half_size);
  const float y = random.uniform(-half_size, half_size);
  return {x, y};
}

float half_size_for(const GameConfig& config) {
  const float area = static_cast<float>(std::min(config.entities, kMaxEntities)) * kAreaPerEntity;
  const float wanted = config.world_half_size > 0 ? config.world_half_size : std::sqrt(area) / 2;
  return std::clamp(wanted, kMinWorldHalfSize, kMaxWorldHalfSize);
}

void create_spawn_points(Registry& registry, GameState& state) {
  if (state.config.entities == 0) return;
  const std::uint32_t count = kTeams * (1 + state.config.entities / 200);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto entity = registry.try_create();
    if (!entity) return;
    Random random = state.random(RandomStream::Spawn, Tick{0}, ++state.spawned);
    const Vector2 place = random_place(random, state.half_size);
    registry.emplace<Local>(*entity);
    registry.emplace<SpawnPoint>(*entity);
    registry.emplace<Position>(*entity, place.x, place.y, 0.0f);
    registry.emplace<Team>(*entity, static_cast<std::uint8_t>(i % kTeams));
    state.spawn_points.push_back(*entity);
  }
}

GameState& create_state(Registry& registry, const GameConfig& config) {
  SHOAL_ASSERT(config.tick_rate > 0, "a world has at least one tick per second");
  auto& state = registry.resources().emplace<GameState>();
  registry.resources().emplace<Bodies>();
  state.config = config;
  state.config.entities = std::min(config.entities, kMaxEntities);
  state.half_size = half_size_for(config);
  state.tick_seconds = 1 / static_cast<float>(config.tick_rate);
  state.scenery = state.config.entities / 4;
  state.pickups = state.config.entities * 3 / 20;
  state.creatures = state.config.entities - state.scenery - state.pickups;
  return state;
}

}  // namespace

void register_shared_components(Registry& registry) {
  register_components(registry);
}

void register_all_components(Registry& registry) {
  register_components(registry);
  registry.register_component<Lifetime>("shoal.demo.server.Lifetime");
  registry.register_component<Brain>("shoal.demo.server.Brain");
  registry.register_component<Weapon>("shoal.demo.server.Weapon");
  registry.register_component<BurningTimer>("shoal.demo.server.BurningTimer");
  registry.register_component<InvulnerableTimer>("shoal.demo.server.InvulnerableTimer");
  registry.register_component<HasteTimer>("shoal.demo.server.HasteTimer");
  registry.register_component<SpawnPoint>("shoal.demo.server.SpawnPoint");
}

void create_world(Registry& registry, const GameConfig& config) {
  auto& state = create_state(registry, config);
  create_spawn_points(registry, state);
  const auto random = [&] { return state.random(RandomStream::Spawn, Tick{0}, ++state.spawned); };
  for (std::uint32_t i = 0; i < state.scenery; ++i) spawn_scenery(registry, random());
  for (std::uint32_t i = 0; i < state.pickups; ++i) spawn_pickup(registry, random(), Tick{0});
  for (std::uint32_t i = 0; i < state.creatures; ++i) spawn_creature(registry, random(), Tick{0});
}

void include_spawn_points(Registry& copy) {
  const auto& points = copy.storage<SpawnPoint>();
  for (std::size_t i = 0; i < points.size(); ++i) copy.remove<Local>(points.entity_at(i));
}

void resume_world(Registry& registry, const GameConfig& config, std::uint64_t spawned) {
  auto& state = create_state(registry, config);
  state.spawned = spawned;
  // A pool keeps its order in an image: the teams take turns as they did.
  const auto& points = registry.storage<SpawnPoint>();
  for (std::size_t i = 0; i < points.size(); ++i) {
    state.spawn_points.push_back(points.entity_at(i));
    registry.emplace<Local>(points.entity_at(i));
  }
}

Vector2 spawn_place(const Registry& registry, std::uint8_t team, Random& random) {
  const auto& state = registry.resources().get<GameState>();
  Vector2 middle;
  const auto points = static_cast<std::uint32_t>(state.spawn_points.size()) / kTeams;
  if (points > 0) {
    // Points were made team by team in turn.
    const Entity point = state.spawn_points[random.below(points) * kTeams + team];
    const auto& position = registry.get<Position>(point);
    middle = {position.x, position.y};
  }
  const float x = random.uniform(-kSpawnRadius, kSpawnRadius);
  const float y = random.uniform(-kSpawnRadius, kSpawnRadius);
  return {state.clamped(middle.x + x), state.clamped(middle.y + y)};
}

std::optional<Entity> spawn_creature(Registry& registry, Random random, Tick tick) {
  const auto created = registry.try_create();
  if (!created) return std::nullopt;
  const Entity entity = *created;
  const auto& state = registry.resources().get<GameState>();
  const auto team = static_cast<std::uint8_t>(random.below(kTeams));
  const Vector2 place = spawn_place(registry, team, random);
  const float heading = random.uniform(-180, 180);
  const float detection_range = random.uniform(kMinDetectionRange, kMaxDetectionRange);
  const std::uint32_t life = state.ticks(random.uniform(kMinCreatureLife, kMaxCreatureLife));
  // Creatures decide in turn, not all in one tick.
  const std::uint32_t first_decision = random.below(state.ticks(kDecisionPeriod)) + 1;

  registry.emplace<Position>(entity, place.x, place.y, 0.0f);
  registry.emplace<Heading>(entity, heading);
  registry.emplace<Health>(entity, kCreatureHealth, kCreatureHealth);
  registry.emplace<Renderable>(entity, kCreatureMesh, team);
  registry.emplace<Team>(entity, team);
  registry.emplace<AI>(entity, AiState::Idle, kNullEntity, detection_range);
  registry.emplace<Brain>(entity, tick + first_decision, tick);
  registry.emplace<Weapon>(entity, tick, false);
  registry.emplace<Lifetime>(entity, tick + life);
  return entity;
}

std::optional<Entity> spawn_pickup(Registry& registry, Random random, Tick tick) {
  const auto created = registry.try_create();
  if (!created) return std::nullopt;
  const Entity entity = *created;
  const auto& state = registry.resources().get<GameState>();
  const Vector2 place = random_place(random, state.half_size);
  const auto kind = static_cast<PickupKind>(random.below(4));
  const std::uint32_t life = state.ticks(random.uniform(kMinPickupLife, kMaxPickupLife));
  const std::uint16_t amount = kind == PickupKind::Points ? kPointsAmount : kHealAmount;

  registry.emplace<Position>(entity, place.x, place.y, 0.0f);
  registry.emplace<Renderable>(entity, kPickupMesh, static_cast<std::uint8_t>(kind));
  registry.emplace<Pickup>(entity, kind, amount);
  registry.emplace<Lifetime>(entity, tick + life);
  return entity;
}

std::optional<Entity> spawn_drop(Registry& registry, Random random, Vector2 position, Tick tick) {
  const auto entity = spawn_pickup(registry, random, tick);
  if (!entity) return std::nullopt;
  registry.replace<Position>(*entity, position.x, position.y, kMuzzleHeight);
  registry.emplace<Velocity>(*entity, 0.0f, 0.0f, kTossSpeed);
  return entity;
}

std::optional<Entity> spawn_scenery(Registry& registry, Random random) {
  const auto created = registry.try_create();
  if (!created) return std::nullopt;
  const auto& state = registry.resources().get<GameState>();
  const Vector2 place = random_place(random, state.half_size);
  const auto mesh = static_cast<std::uint16_t>(kFirstSceneryMesh + random.below(kSceneryMeshes));
  registry.emplace<Position>(*created, place.x, place.y, 0.0f);
  registry.emplace<Renderable>(*created, mesh, std::uint8_t{0});
  return created;
}

void spawn_projectile(CommandBuffer& commands, const GameState& state, const Shot& shot, Tick tick) {
  const Entity entity = commands.create();
  const Vector2 velocity = direction_of(shot.heading_degrees) * kProjectileSpeed;
  commands.emplace<Position>(entity, shot.from.x, shot.from.y, kMuzzleHeight);
  commands.emplace<Velocity>(entity, velocity.x, velocity.y, 0.0f);
  commands.emplace<Renderable>(entity, kProjectileMesh, shot.team);
  commands.emplace<Projectile>(entity, shot.owner, kProjectileDamage);
  commands.emplace<Team>(entity, shot.team);
  commands.emplace<Lifetime>(entity, tick + state.ticks(kProjectileLife));
}

}  // namespace shoal::demo
