// A whole server with clients that are served over a network in memory: what a tick costs when nothing special happens.
#include <gtest/gtest.h>

#include "client/client.hpp"
#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "server/demo/demo_game.hpp"
#include "server/server.hpp"
#include "shared/game/spawn.hpp"
#include "shared/net/simulated_network.hpp"
#include "tests/support/allocation_counter.hpp"

namespace shoal {
namespace {

/// Fixed numbers of things that move for ever, from square to square, and of things that rest.
class MovingGame final : public Game {
 public:
  std::span<const ComponentDescriptor> components() const override { return demo::component_descriptors(); }
  void register_components(Registry& registry) override { demo::register_shared_components(registry); }
  void register_systems(Schedule& schedule) override {
    schedule.add_each("move", [](const demo::Velocity& velocity, demo::Position& position) {
      position.x += velocity.x;
      if (position.x > 100) position.x = -100;
    });
    // Beside it, on another thread.
    schedule.add_each("look", [](const demo::Velocity&) {});
  }
  void start(Registry& registry) override {
    for (int i = 0; i < 300; ++i) {
      const Entity entity = registry.create();
      const bool moves = i % 3 == 0;
      // As many enter each square as leave it: whoever crosses an edge finds room in a chunk that is there.
      const float x = moves ? static_cast<float>(i) * 2 / 3 - 100 : static_cast<float>(i);
      registry.emplace<demo::Position>(entity, x, 0.0f, 0.0f);
      if (moves) registry.emplace<demo::Velocity>(entity, 0.5f, 0.0f, 0.0f);
    }
  }
  Entity spawn_player(Registry&, PlayerNumber, Tick) override { return kNullEntity; }
  bool apply_input(Registry&, Entity, Tick, std::span<const std::byte>) override { return true; }
  void player_left(Registry&, Entity, CloseReason) override {}
};

/// The network in memory takes from the heap for what is under way, a real port does not: counted apart.
class CountedPort final : public DatagramPort {
 public:
  explicit CountedPort(DatagramPort& inner) : inner_(inner) {}
  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override {
    const std::size_t before = test::allocations_so_far();
    const bool sent = inner_.send(peer, bytes);
    allocations += test::allocations_so_far() - before;
    return sent;
  }
  void flush() override { inner_.flush(); }
  bool receive(Datagram& datagram) override { return inner_.receive(datagram); }
  Endpoint local() const override { return inner_.local(); }
  PortCounters counters() const override { return inner_.counters(); }

  std::size_t allocations = 0;

 private:
  DatagramPort& inner_;
};

TEST(SteadyTick, ServerAllocatesNothingWhileItServesClientsWithLosses) {
  ManualClock clock;
  SeededEntropy entropy(1);
  SimulatedNetwork network(clock, 1);
  const auto endpoint = Endpoint::ipv4(10, 0, 0, 1, 7777);
  const auto network_port = network.open(endpoint);
  CountedPort port(*network_port);
  MovingGame game;
  ServerConfig server_config;
  server_config.threads = 2;
  Server server(game, port, clock, entropy, server_config);
  LinkFaults faults;
  faults.loss_percent = 5;
  faults.latency = milliseconds(40);
  network.set_default_link(faults);
  std::vector<std::unique_ptr<DatagramPort>> ports;
  std::vector<std::unique_ptr<Client>> clients;
  for (std::uint8_t i = 0; i < 4; ++i) {
    ports.push_back(network.open(Endpoint::ipv4(10, 0, 1, i, 4000)));
    ClientConfig config;
    config.server = endpoint;
    config.components = demo::component_descriptors();
    config.register_components = demo::register_shared_components;
    clients.push_back(std::make_unique<Client>(*ports.back(), clock, entropy, config));
    clients.back()->connect();
  }
  std::size_t in_ticks = 0;
  const auto play = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      clock.advance(Duration(seconds(1)) / 30);
      server.poll();
      port.allocations = 0;
      const std::size_t before = test::allocations_so_far();
      server.run_tick();
      in_ticks += test::allocations_so_far() - before - std::exchange(port.allocations, 0);
      for (const auto& client : clients) {
        client->poll();
        client->send_update();
      }
    }
  };
  play(600);
  ASSERT_EQ(server.session_count(), 4u);
  in_ticks = 0;
  const std::uint64_t sent = server.transport_counters().sent_datagrams;
  play(300);
  const std::uint64_t datagrams = server.transport_counters().sent_datagrams - sent;
  EXPECT_GT(datagrams, 1000u);
  EXPECT_EQ(in_ticks, 0u) << "allocations in 300 ticks with " << datagrams << " datagrams";
  EXPECT_GT(clients[0]->mirror()->counters().blocks_verified, 1000u);
}

}  // namespace
}  // namespace shoal
