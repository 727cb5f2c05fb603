#include "server/demo/demo_game.hpp"

#include "schema/components_descriptors.hpp"
#include "shared/game/player.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/systems.hpp"

namespace shoal::demo {

std::span<const ComponentDescriptor> DemoGame::components() const {
  return component_descriptors();
}

void DemoGame::register_components(Registry& registry) {
  register_all_components(registry);
}

void DemoGame::register_systems(Schedule& schedule) {
  schedule.set_seed(config_.seed);
  demo::register_systems(schedule);
}

void DemoGame::start(Registry& registry) {
  create_world(registry, config_);
}

Entity DemoGame::spawn_player(Registry& registry, shoal::PlayerNumber number, Tick tick) {
  return demo::spawn_player(registry, PlayerNumber{static_cast<std::uint16_t>(number.value)}, tick);
}

bool DemoGame::apply_input(Registry& registry, Entity player, Tick, std::span<const std::byte> input) {
  const auto decoded = decode_input(input);
  if (!decoded.ok()) return false;
  demo::apply_input(registry, player, *decoded);
  return true;
}

void DemoGame::player_left(Registry& registry, Entity player, CloseReason) {
  despawn_player(registry, player);
}

}  // namespace shoal::demo
