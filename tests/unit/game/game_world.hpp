// A demo world for tests: registry, systems and tick in one place.
#pragma once

#include <cstdint>

#include "schema/components.hpp"
#include "shared/ecs/affiliation.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/ecs/schedule.hpp"
#include "shared/game/grid.hpp"
#include "shared/game/player.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/server_components.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/state.hpp"
#include "shared/game/systems.hpp"

namespace shoal::demo {

struct GameWorld {
  explicit GameWorld(const GameConfig& config, RegistryLimits limits = {}) : registry(limits) {
    register_all_components(registry);
    register_affiliation(registry);
    registry.freeze();
    registry.log().set_enabled(true);
    create_world(registry, config);
    register_systems(schedule);
  }

  /// What the server does at the end of a tick, too: nobody reads the log here.
  void run(std::uint32_t ticks = 1) {
    for (std::uint32_t i = 0; i < ticks; ++i) {
      ++tick;
      registry.log().clear();
      registry.clear_changes();
      schedule.run(registry, tick);
    }
  }
  /// One system alone, now.
  template <class F>
  void run_system(F fn) {
    Schedule alone;
    alone.add("alone", fn);
    alone.run(registry, tick);
  }
  template <class F>
  void run_each(F fn) {
    Schedule alone;
    alone.add_each("alone", fn);
    alone.run(registry, tick);
  }
  std::uint32_t ticks(float seconds) const { return registry.resources().get<GameState>().ticks(seconds); }

  /// A creature at a known place that neither grows old nor was born by chance.
  Entity creature(Vector2 place, std::uint8_t team, float detection_range = 20) {
    const Entity entity = *spawn_creature(registry, Random(1), tick);
    registry.replace<Position>(entity, place.x, place.y, 0.0f);
    registry.replace<Team>(entity, team);
    registry.replace<AI>(entity, AiState::Idle, kNullEntity, detection_range);
    registry.remove<Lifetime>(entity);
    return entity;
  }
  Entity projectile(Vector2 from, Vector2 velocity, std::uint8_t team, Entity owner = kNullEntity) {
    CommandBuffer commands;
    spawn_projectile(commands, registry.resources().get<GameState>(), {owner, from, 0, team}, tick);
    commands.apply(registry);
    const Entity entity = commands.created()[0];
    registry.replace<Velocity>(entity, velocity.x, velocity.y, 0.0f);
    return entity;
  }
  Vector2 place(Entity entity) const {
    const auto& position = registry.get<Position>(entity);
    return {position.x, position.y};
  }
  std::size_t replicated_count() const { return registry.alive_count() - registry.storage<Local>().size(); }

  Registry registry;
  Schedule schedule;
  Tick tick;
};

}  // namespace shoal::demo
