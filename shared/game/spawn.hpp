// How things of the demo come to life. Each function gives a finished entity, or none when the registry is
// full.
#pragma once

#include <cstdint>
#include <optional>

#include "schema/components.hpp"
#include "shared/base/random.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/game/config.hpp"
#include "shared/game/state.hpp"
#include "shared/game/vector.hpp"

namespace shoal::demo {

/// Registers the schema's components, which server and client share.
void register_shared_components(Registry& registry);
/// Registers those and the server's own.
void register_all_components(Registry& registry);

/// Makes the resources and the first population. REQUIRES: register_all_components, freeze; tick_rate > 0.
/// Entities beyond kMaxEntities are not made; what the registry's limit refuses is missing.
void create_world(Registry& registry, const GameConfig& config);

// A world that is saved and goes on with the same handles, and to the last bit as it would have without.

/// Of the copy that is saved: spawn points, which are Local, become what images hold.
void include_spawn_points(Registry& copy);
/// In place of create_world, with the entities of such a copy; `spawned` as GameState had it. REQUIRES: as create_world.
void resume_world(Registry& registry, const GameConfig& config, std::uint64_t spawned);

// Random ones, for the population. All numbers come from `random`.
std::optional<Entity> spawn_creature(Registry& registry, Random random, Tick tick);
std::optional<Entity> spawn_pickup(Registry& registry, Random random, Tick tick);
std::optional<Entity> spawn_scenery(Registry& registry, Random random);

/// What a dead creature leaves behind; it flies up and falls down.
std::optional<Entity> spawn_drop(Registry& registry, Random random, Vector2 position, Tick tick);

struct Shot {
  Entity owner;
  Vector2 from;
  float heading_degrees = 0;
  std::uint8_t team = 0;
};
/// Recorded, so that the loop that shoots may go over the components that a projectile has.
void spawn_projectile(CommandBuffer& commands, const GameState& state, const Shot& shot, Tick tick);

/// A place where this team comes to life; the middle of the world when it has none.
Vector2 spawn_place(const Registry& registry, std::uint8_t team, Random& random);

}  // namespace shoal::demo
