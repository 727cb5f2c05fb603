// What creatures do: rest and walk about while they see nobody, chase whom they see, attack whom they reach,
// flee when they are hurt.
#pragma once

#include "schema/components.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/each_system.hpp"
#include "shared/game/grid.hpp"
#include "shared/game/server_components.hpp"
#include "shared/game/state.hpp"

namespace shoal::demo {

/// Lists all living bodies in the grid, for every system that asks who is near.
void index_bodies(ViewOf<const Health, const Position, const Team> living, Read<GameState> state,
                  Write<Bodies> bodies);

/// Each creature decides five times a second. Cost: creatures × neighbours in sight.
void think(Entity entity, Ref<AI> ai, Ref<Brain> brain, Ref<Heading> heading, Ref<Weapon> weapon,
           const Position& position, const Health& health, const Team& team, const Velocity* velocity,
           const HasteTimer* haste, Read<Bodies> bodies, Read<GameState> state, Tick tick,
           CommandBuffer& commands);

}  // namespace shoal::demo
