// A swarm of bots and a real server with the demo world, in one process, under one manual clock.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "client/bots/swarm.hpp"
#include "server/demo/demo_game.hpp"
#include "server/server.hpp"
#include "server/tick_schedule.hpp"
#include "shared/net/simulated_network.hpp"

namespace shoal {

class SwarmHarness {
 public:
  SwarmHarness(SwarmConfig config, const demo::GameConfig& world)
      : entropy_(1),
        network_(clock_, 1),
        game_(world),
        port_(network_.open(kServer)),
        server_(game_, *port_, clock_, entropy_, server_config()),
        schedule_(clock_.now(), server_config().tick_rate_hz) {
    config.server = kServer;
    swarm_ = std::make_unique<Swarm>(config, clock_, entropy_,
                                     [this] { return network_.open(endpoint_of(started_++)); });
  }

  void step() {
    clock_.advance(milliseconds(5));
    server_.poll();
    for (std::uint32_t due = schedule_.take_due(clock_.now()); due > 0; --due) server_.run_tick();
    swarm_->run();
  }
  template <class EachStep>
  void run_for(Duration duration, EachStep each_step) {
    for (const Time end = clock_.now() + duration; clock_.now() < end;) {
      step();
      each_step();
    }
  }
  void run_for(Duration duration) {
    run_for(duration, [] {});
  }
  /// As shoal-server ends: every mirror is compared, then everyone is told.
  void freeze_and_end() {
    server_.freeze();
    for (int i = 0; i < 4000 && !server_.all_compared(); ++i) step();
    server_.shut_down();
    for (int i = 0; i < 4000 && !swarm_->is_over(); ++i) step();
  }

  /// From now on nothing passes between this bot, by its number, and the server.
  void cut_off(std::size_t bot) { network_.partition(endpoint_of(bot), kServer); }
  void end_cut(std::size_t bot) { network_.heal(endpoint_of(bot), kServer); }

  Swarm& swarm() { return *swarm_; }
  Server& server() { return server_; }
  const Clock& clock() const { return clock_; }
  Duration now() const { return clock_.now() - Time{}; }
  /// What the server says of the player of each connected bot: f(index of the bot, its entity).
  template <class F>
  void for_each_player(F f) {
    for (std::size_t i = 0; i < swarm_->size(); ++i) {
      const Client& client = swarm_->client(i);
      if (client.state() == ClientState::Connected && server_.registry().alive(client.controlled()))
        f(i, client.controlled());
    }
  }

 private:
  static constexpr Endpoint kServer = Endpoint::ipv4(10, 0, 0, 1, 7777);
  static Endpoint endpoint_of(std::size_t bot) {
    return Endpoint::ipv4(10, 0, 1, 1, static_cast<std::uint16_t>(4000 + bot));
  }
  static ServerConfig server_config() {
    ServerConfig config;
    config.max_entities = 4096;
    return config;
  }

  ManualClock clock_;
  SeededEntropy entropy_;
  SimulatedNetwork network_;
  demo::DemoGame game_;
  std::unique_ptr<DatagramPort> port_;
  Server server_;
  TickSchedule schedule_;
  std::size_t started_ = 0;
  std::unique_ptr<Swarm> swarm_;
};

}  // namespace shoal
