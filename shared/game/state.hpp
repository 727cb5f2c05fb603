// What the demo knows beside its entities: one `GameState` as a resource of the server's registry.
#pragma once

#include <cstdint>
#include <vector>

#include "shared/base/random.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/game/config.hpp"

namespace shoal::demo {

/// Each use of randomness has its own stream, so that one system does not shift the numbers of another.
enum class RandomStream : std::uint8_t { Spawn, Think, Hit, Drop, Respawn };

/// A projectile met a body.
struct Impact {
  Entity body;
  std::uint16_t damage;
};

struct GameState {
  GameConfig config;
  float half_size = kMinWorldHalfSize;  // metres
  float tick_seconds = 1.0f / 30;
  // The population that spawning restores.
  std::uint32_t creatures = 0;
  std::uint32_t pickups = 0;
  std::uint32_t scenery = 0;
  /// Numbers of spawned entities so far: the key of their randomness.
  std::uint64_t spawned = 0;
  std::vector<Entity> spawn_points;
  /// Of the newest tick, for those who tell of them. No rule reads it.
  std::vector<Impact> impacts;

  /// At least one tick for any time.
  std::uint32_t ticks(float seconds) const {
    const float count = seconds * static_cast<float>(config.tick_rate);
    return count < 1 ? 1 : static_cast<std::uint32_t>(count);
  }
  /// The randomness of one entity in one tick, the same in whatever order the entities are visited.
  Random random(RandomStream stream, Tick tick, std::uint64_t key) const {
    return Random::keyed(config.seed, static_cast<std::uint64_t>(stream), tick.value, key);
  }
  float clamped(float coordinate) const {
    return coordinate < -half_size ? -half_size : coordinate > half_size ? half_size : coordinate;
  }
};

}  // namespace shoal::demo
