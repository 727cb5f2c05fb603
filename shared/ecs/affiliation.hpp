// Whose an entity is, for components that not everyone receives. Set by the game on the server; neither is
// replicated by itself.
#pragma once

#include <cstdint>

#include "shared/ecs/entity.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal {

/// On an entity with components for its team: who is on that team receives them. On a player: which team's
/// components it receives.
struct OnTeam {
  std::uint32_t team = 0;
};

/// On an entity with components for its owner: the player that receives them. A player without it owns itself.
struct OwnedBy {
  Entity player{};
};

/// Registers both. A server does it by itself; for worlds without one. REQUIRES: not frozen.
inline void register_affiliation(Registry& registry) {
  registry.register_component<OnTeam>("shoal.OnTeam");
  registry.register_component<OwnedBy>("shoal.OwnedBy");
}

}  // namespace shoal
