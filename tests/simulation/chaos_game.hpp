// The demo with one more system, which does to the world what a game may do and a test would not think of:
// births and deaths within one tick, components that come and go, entities that hide and come back,
// references to anything, writes past all signals.
#pragma once

#include "server/demo/demo_game.hpp"
#include "tests/simulation/mail.hpp"

namespace shoal::simulation {

struct ChaosConfig {
  demo::GameConfig game;
  std::uint32_t edits_per_tick = 4;
};

class ChaosGame final : public Game {
 public:
  ChaosGame(const ChaosConfig& config, Mail& mail) : config_(config), demo_(config.game), mail_(&mail) {}

  std::span<const ComponentDescriptor> components() const override { return demo_.components(); }
  void register_components(Registry& registry) override { demo_.register_components(registry); }
  void register_systems(Schedule& schedule) override;
  void start(Registry& registry) override { demo_.start(registry); }
  Entity spawn_player(Registry& registry, PlayerNumber number, Tick tick) override {
    return demo_.spawn_player(registry, number, tick);
  }
  bool apply_input(Registry& registry, Entity player, Tick tick, std::span<const std::byte> input) override {
    return demo_.apply_input(registry, player, tick, input);
  }
  void player_left(Registry& registry, Entity player, CloseReason reason) override {
    demo_.player_left(registry, player, reason);
  }
  void player_absent(Registry& registry, Entity player, CloseReason reason) override {
    demo_.player_absent(registry, player, reason);
  }
  void register_messages(GameMessages& messages) override {
    demo_.register_messages(messages);
    mail_->register_server(messages);
  }
  void after_tick(const Registry& registry, GameMessages& messages, Tick tick) override {
    demo_.after_tick(registry, messages, tick);
    mail_->write_from_server(registry, messages);
  }

 private:
  ChaosConfig config_;
  demo::DemoGame demo_;
  Mail* mail_;
};

}  // namespace shoal::simulation
