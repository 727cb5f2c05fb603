// What a demo world is made from. Two worlds of one configuration and one sequence of inputs are the same,
// tick by tick, to the last bit.
#pragma once

#include <cstdint>

namespace shoal::demo {

struct GameConfig {
  /// Creatures, pickups and scenery together; players and projectiles come on top. 0: only players.
  std::uint32_t entities = 500;
  std::uint64_t seed = 1;
  /// The world is the square from -half to half, metres. 0: so large that an entity has kAreaPerEntity.
  float world_half_size = 0;
  std::uint32_t tick_rate = 30;  // ticks per second
};

inline constexpr std::uint32_t kMaxEntities = 100'000;
/// Square metres. Creatures see some ten others at this density, whatever the size of the world.
inline constexpr float kAreaPerEntity = 40;
/// Inside the range of `Position` with room for a projectile's last step.
inline constexpr float kMinWorldHalfSize = 32;
inline constexpr float kMaxWorldHalfSize = 1000;

}  // namespace shoal::demo
