// The server's tick with the demo's world and real clients over a network in memory (20 ms each way). The clients' own
// work is not measured. Microseconds of processor time per tick, by phase:
//
//   1_poll     taking in what clients sent since the last tick
//   2_systems  the game's systems, by the server's own measure
//   3_rest     what else run_tick does: players and inputs, changes into chunks, frames out. Without clients that is the
//            changes alone; the difference to it is what the clients cost
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "client/bots/behaviour.hpp"
#include "client/client.hpp"
#include "schema/components_descriptors.hpp"
#include "server/demo/demo_game.hpp"
#include "server/server.hpp"
#include "shared/base/log.hpp"
#include "shared/game/spawn.hpp"
#include "shared/net/simulated_network.hpp"

namespace shoal {
namespace {

// Processor time, which can be told to jump: ticks do not wait for each other, and other programs do not count.
class JumpingClock final : public Clock {
 public:
  Time now() const override { return Time{process_cpu_time() + jumped_}; }
  void jump(Duration duration) { jumped_ += duration; }

 private:
  Duration jumped_{};
};

constexpr Duration kPeriod = Duration(seconds(1)) / 30;
constexpr int kWarmUpTicks = 150;
constexpr Endpoint kServer = Endpoint::ipv4(10, 0, 0, 1, 7777);

struct Player {
  std::unique_ptr<DatagramPort> port;
  std::unique_ptr<Client> client;
  Behaviour behaviour;
};

class Arena {
 public:
  Arena(std::uint32_t entities, std::uint32_t clients)
      : game_({.entities = entities}), port_(network_.open(kServer)) {
    set_log_level(LogLevel::Off);
    network_.set_default_link({.latency = milliseconds(20)});
    server = std::make_unique<Server>(game_, *port_, clock, entropy_, ServerConfig{});
    for (std::uint32_t i = 0; i < clients; ++i) {
      Player player{network_.open(Endpoint::ipv4(10, 0, 1, static_cast<std::uint8_t>(i + 1), 4000)),
                    {},
                    Behaviour(Scenario::Wander, i + 1)};
      ClientConfig config;
      config.server = kServer;
      config.components = demo::component_descriptors();
      config.register_components = demo::register_shared_components;
      player.client = std::make_unique<Client>(*player.port, clock, entropy_, config);
      player.client->connect();
      players_.push_back(std::move(player));
    }
  }

  void run_clients() {
    for (Player& player : players_) {
      player.client->poll();
      if (player.client->state() != ClientState::Connected) continue;
      player.client->add_input(demo::encode_input(player.behaviour.next()));
      player.client->send_update();
    }
  }
  std::size_t connected() const {
    std::size_t count = 0;
    for (const Player& player : players_) count += player.client->state() == ClientState::Connected ? 1u : 0u;
    return count;
  }
  Duration systems_time() const {
    Duration total{};
    for (const auto& system : server->schedule().systems()) total += system.total;
    return total;
  }

  JumpingClock clock;
  std::unique_ptr<Server> server;

 private:
  SeededEntropy entropy_{1};
  SimulatedNetwork network_{clock, 2};
  demo::DemoGame game_;
  std::unique_ptr<DatagramPort> port_;
  std::vector<Player> players_;
};

void tick(benchmark::State& state) {
  const auto clients = static_cast<std::uint32_t>(state.range(1));
  Arena arena(static_cast<std::uint32_t>(state.range(0)), clients);
  Duration poll{}, run{}, systems{};
  const auto step = [&] {
    arena.clock.jump(kPeriod);
    arena.run_clients();
    const Duration systems_before = arena.systems_time();
    const Time begin = arena.clock.now();
    arena.server->poll();
    const Time polled = arena.clock.now();
    arena.server->run_tick();
    const Time done = arena.clock.now();
    poll += polled - begin;
    run += done - polled;
    systems += arena.systems_time() - systems_before;
    return done - begin;
  };
  for (int i = 0; i < kWarmUpTicks; ++i) step();
  if (arena.connected() != clients) return state.SkipWithError("not every client joined");
  poll = run = systems = {};
  const std::uint64_t bytes_before = arena.server->transport_counters().sent_bytes;
  for (auto _ : state) state.SetIterationTime(to_seconds(step()));

  const auto ticks = static_cast<double>(state.iterations());
  state.counters["1_poll_us"] = 1000 * to_milliseconds(poll) / ticks;
  state.counters["2_systems_us"] = 1000 * to_milliseconds(systems) / ticks;
  state.counters["3_rest_us"] = 1000 * to_milliseconds(run - systems) / ticks;
  const auto bytes = static_cast<double>(arena.server->transport_counters().sent_bytes - bytes_before);
  state.counters["bytes/client"] = clients == 0 ? 0 : bytes / ticks / clients;
}

BENCHMARK(tick)
    ->ArgNames({"entities", "clients"})
    ->ArgsProduct({{500, 5000}, {0, 10, 50}})
    ->Iterations(300)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace shoal
