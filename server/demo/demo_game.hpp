// The demo world as a Game: what a user writes for a game of their own, next to the rules themselves.
#pragma once

#include "server/game.hpp"
#include "shared/game/config.hpp"

namespace shoal::demo {

class DemoGame final : public Game {
 public:
  explicit DemoGame(const GameConfig& config) : asked_(config), config_(config) {}

  std::span<const ComponentDescriptor> components() const override;
  void register_components(Registry& registry) override;
  void register_systems(Schedule& schedule) override;
  void start(Registry& registry) override;
  Entity spawn_player(Registry& registry, shoal::PlayerNumber number, Tick tick) override;
  bool apply_input(Registry& registry, Entity player, Tick tick, std::span<const std::byte> input) override;
  void player_left(Registry& registry, Entity player, CloseReason reason) override;
  /// It stands still and holds its fire.
  void player_absent(Registry& registry, Entity player, CloseReason reason) override;
  void register_messages(GameMessages& messages) override;
  void after_tick(const Registry& registry, GameMessages& messages, Tick tick) override;
  std::optional<ImageTypes> image_types() const override;
  std::vector<ImageSection> save_sections(const Registry& registry) const override;
  void prepare_save(Registry& copy) const override;
  /// The seed and the number of entities of the saved world win; the rate of ticks is this server's.
  std::optional<std::string> read_sections(std::span<const ImageSection> sections) override;
  void resume(Registry& registry, Tick tick) override;

 private:
  const GameConfig asked_;
  GameConfig config_;
  std::uint64_t spawned_ = 0;  // of the saved world
};

}  // namespace shoal::demo
