// What creatures do: rest and walk about while they see nobody, chase whom they see, attack whom they reach,
// flee when they are hurt.
#pragma once

#include "shared/base/tick.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal::demo {

/// Lists all living bodies in the grid, for every system that asks who is near.
void index_bodies(Registry& registry, Tick tick);
/// Each creature decides five times a second. Cost: creatures × neighbours in sight.
void think(Registry& registry, Tick tick);

}  // namespace shoal::demo
