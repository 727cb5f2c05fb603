#include "farm_game.hpp"

#include "schemas/farm_descriptors.hpp"
#include "schemas/farm_messages_generated.h"

namespace farm {

std::span<const shoal::ComponentDescriptor> FarmGame::components() const {
  return component_descriptors();
}

void FarmGame::register_components(shoal::Registry& registry) {
  farm::register_components(registry);
}

void FarmGame::register_systems(shoal::Schedule& schedule) {
  schedule.add("graze", [](shoal::Registry& registry, shoal::Tick) {
    for (auto [entity, sheep] : registry.view<Sheep>(shoal::exclude<Asleep>)) {
      if (sheep.wool < 10) ++sheep.wool;  // a plain reference: no signal, and yet replicated
    }
  });
}

void FarmGame::start(shoal::Registry& registry) {
  for (int i = 0; i < 20; ++i) {
    const shoal::Entity entity = registry.create();
    registry.emplace<Sheep>(entity,
                            Sheep{.x = 12.5f, .y = static_cast<float>(i) + 0.2f, .wool = 0, .shepherd = {}});
    if (i % 4 == 0) registry.emplace<Asleep>(entity);
  }
}

shoal::Entity FarmGame::spawn_player(shoal::Registry& registry, shoal::PlayerNumber, shoal::Tick) {
  const shoal::Entity shepherd = registry.create();
  for (auto [entity, sheep] : registry.view<Sheep>()) sheep.shepherd = shepherd;
  return shepherd;
}

bool FarmGame::apply_input(shoal::Registry&, shoal::Entity, shoal::Tick, std::span<const std::byte>) {
  return true;
}

void FarmGame::player_left(shoal::Registry& registry, shoal::Entity player, shoal::CloseReason) {
  if (registry.alive(player)) registry.destroy(player);
}

void FarmGame::after_tick(const shoal::Registry& registry, shoal::GameMessages& messages, shoal::Tick tick) {
  if (tick.value != 40) return;
  for (auto [entity, sheep] : registry.view<const Sheep>()) {
    messages.send_event_to_all<Bleat>(
        shoal::MessageChannel::Ordered, entity,
        [](shoal::MessageRouter::Builder& builder) { return CreateBleat(builder, 2); });
  }
}

}  // namespace farm
