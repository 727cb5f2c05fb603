#include "shared/game/effects.hpp"

#include <algorithm>

#include "shared/game/combat.hpp"
#include "shared/game/rules.hpp"
#include "shared/game/server_components.hpp"

namespace shoal::demo {
namespace {

std::uint32_t ticks(const Registry& registry, float seconds) {
  return registry.resources().get<GameState>().ticks(seconds);
}

// Entities take turns, so that a second's work is spread over its ticks.
bool is_turn(Entity entity, Tick tick, std::uint32_t period) {
  return (entity.index + tick.value) % period == 0;
}

}  // namespace

void ignite(Registry& registry, Entity entity, Tick tick) {
  if (registry.all_of<Invulnerable>(entity)) return;
  registry.get_or_emplace<Burning>(entity);
  registry.emplace_or_replace<BurningTimer>(entity, tick + ticks(registry, kBurnTime));
}

void shield(Registry& registry, Entity entity, Tick tick, float seconds) {
  registry.remove<Burning>(entity);
  registry.remove<BurningTimer>(entity);
  registry.get_or_emplace<Invulnerable>(entity);
  registry.emplace_or_replace<InvulnerableTimer>(entity, tick + ticks(registry, seconds));
}

void hasten(Registry& registry, Entity entity, Tick tick) {
  registry.emplace_or_replace<HasteTimer>(entity, tick + ticks(registry, kHasteTime));
}

void end_effects(Registry& registry, Entity entity) {
  registry.remove<Burning>(entity);
  registry.remove<BurningTimer>(entity);
  registry.remove<Invulnerable>(entity);
  registry.remove<InvulnerableTimer>(entity);
  registry.remove<HasteTimer>(entity);
}

void burn(Entity entity, With<Burning>, Ref<Health> health, Without<Invulnerable>, Read<GameState> state,
          Tick tick) {
  if (health->current == 0 || !is_turn(entity, tick, state->ticks(kBurnPeriod))) return;
  health.patch([](Health& burnt) { lose(burnt, kBurnDamage); });
}

void regenerate_health(Entity entity, Ref<Health> health, Without<Burning>, Read<GameState> state,
                       Tick tick) {
  if (health->current == health->maximum || health->current == 0) return;
  if (!is_turn(entity, tick, state->ticks(kRegenerationPeriod))) return;
  health.patch([](Health& changed) {
    changed.current =
        static_cast<std::uint16_t>(std::min(changed.current + kRegeneration, int{changed.maximum}));
  });
}

void end_expired_effects(Registry& registry, Tick tick) {
  for (auto [entity, timer] : registry.view<const BurningTimer>()) {
    if (tick < timer.ends) continue;
    registry.remove<Burning>(entity);
    registry.remove<BurningTimer>(entity);
  }
  for (auto [entity, timer] : registry.view<const InvulnerableTimer>()) {
    if (tick < timer.ends) continue;
    registry.remove<Invulnerable>(entity);
    registry.remove<InvulnerableTimer>(entity);
  }
  for (auto [entity, timer] : registry.view<const HasteTimer>()) {
    if (tick >= timer.ends) registry.remove<HasteTimer>(entity);
  }
}

}  // namespace shoal::demo
