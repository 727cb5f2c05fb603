// Effects that come and go: tags with a timer beside them, and health that comes back.
#pragma once

#include "schema/components.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/each_system.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/game/state.hpp"

namespace shoal::demo {

/// Burns for a while, longer if it burnt already; who is `Invulnerable` does not.
void ignite(Registry& registry, Entity entity, Tick tick);
/// `Invulnerable` for so many seconds; puts a fire out.
void shield(Registry& registry, Entity entity, Tick tick, float seconds);
/// Twice as fast for a while.
void hasten(Registry& registry, Entity entity, Tick tick);
void end_effects(Registry& registry, Entity entity);

/// Who burns loses health twice a second, each in a tick of its own.
void burn(Entity entity, With<Burning>, Ref<Health> health, Without<Invulnerable>, Read<GameState> state,
          Tick tick);
/// Who is wounded and does not burn gets health back once a second.
void regenerate_health(Entity entity, Ref<Health> health, Without<Burning>, Read<GameState> state, Tick tick);
void end_expired_effects(Registry& registry, Tick tick);

}  // namespace shoal::demo
