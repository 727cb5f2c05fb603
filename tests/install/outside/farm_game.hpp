// A game of its own: sheep that graze, and a shepherd for each player.
#pragma once

#include "schemas/farm.hpp"
#include "server/game.hpp"

namespace farm {

class FarmGame final : public shoal::Game {
 public:
  std::span<const shoal::ComponentDescriptor> components() const override;
  void register_components(shoal::Registry& registry) override;
  void register_systems(shoal::Schedule& schedule) override;
  void start(shoal::Registry& registry) override;
  shoal::Entity spawn_player(shoal::Registry& registry, shoal::PlayerNumber number,
                             shoal::Tick tick) override;
  bool apply_input(shoal::Registry& registry, shoal::Entity player, shoal::Tick tick,
                   std::span<const std::byte> input) override;
  void player_left(shoal::Registry& registry, shoal::Entity player, shoal::CloseReason reason) override;
  void after_tick(const shoal::Registry& registry, shoal::GameMessages& messages, shoal::Tick tick) override;
};

}  // namespace farm
