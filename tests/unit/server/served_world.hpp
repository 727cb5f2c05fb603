// A whole server with honest clients, over a network in memory, and a port that writes down what leaves. What the world
// is made of, and what moves in it, is the test's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/client.hpp"
#include "schema/components.hpp"
#include "schema/components_descriptors.hpp"
#include "server/server.hpp"
#include "shared/base/hash.hpp"
#include "shared/base/log.hpp"
#include "shared/game/spawn.hpp"
#include "shared/net/simulated_network.hpp"
#include "tests/support/allocation_counter.hpp"

namespace shoal::test {

inline constexpr int kTickRate = 30;

class ServedGame : public Game {
 public:
  std::span<const ComponentDescriptor> components() const override { return demo::component_descriptors(); }
  void register_components(Registry& registry) override { demo::register_shared_components(registry); }
  void register_systems(Schedule& schedule) override {
    schedule.add("world", [this](Registry& registry, Tick tick) {
      inputs_in_tick = 0;
      if (each_tick) each_tick(registry, tick);
    });
  }
  void start(Registry& registry) override {
    if (begin) begin(registry);
  }
  /// In the middle of the world, where it stays.
  Entity spawn_player(Registry& registry, PlayerNumber, Tick) override {
    const Entity player = registry.create();
    registry.emplace<demo::Position>(player, 0.0f, 0.0f, 0.0f);
    return player;
  }
  bool apply_input(Registry& registry, Entity player, Tick, std::span<const std::byte> input) override {
    ++inputs;
    most_inputs_in_tick = std::max(most_inputs_in_tick, ++inputs_in_tick);
    return when_input ? when_input(registry, player, input) : true;
  }
  void player_left(Registry& registry, Entity player, CloseReason) override { registry.destroy(player); }

  void after_tick(const Registry&, GameMessages& messages, Tick) override {
    if (when_tick_is_over) when_tick_is_over(messages);
  }

  std::function<void(Registry&)> begin;
  std::function<void(Registry&, Tick)> each_tick;
  std::function<bool(Registry&, Entity, std::span<const std::byte>)> when_input;
  std::function<void(GameMessages&)> when_tick_is_over;
  std::uint64_t inputs = 0;
  std::uint64_t inputs_in_tick = 0;  // of all players, since the systems ran last
  std::uint64_t most_inputs_in_tick = 0;
};

/// What leaves, by whom it goes to. What the network in memory takes from the heap is counted apart: a real port takes
/// nothing.
class MeteredPort final : public DatagramPort {
 public:
  explicit MeteredPort(DatagramPort& inner) : inner_(inner) {}
  bool send(const Endpoint& peer, std::span<const std::byte> datagram) override {
    const std::size_t before = allocations_so_far();
    bytes_to[peer] += datagram.size();
    ++datagrams;
    bytes += datagram.size();
    largest = std::max(largest, datagram.size());
    const bool sent = inner_.send(peer, datagram);
    allocations += allocations_so_far() - before;
    return sent;
  }
  void flush() override { inner_.flush(); }
  bool receive(Datagram& datagram) override { return inner_.receive(datagram); }
  Endpoint local() const override { return inner_.local(); }
  PortCounters counters() const override { return inner_.counters(); }

  std::unordered_map<Endpoint, std::uint64_t> bytes_to;
  std::uint64_t datagrams = 0;
  std::uint64_t bytes = 0;
  std::size_t largest = 0;
  std::size_t allocations = 0;

 private:
  DatagramPort& inner_;
};

/// The lines that run() logs, from Info on.
template <class F>
std::string log_of(F run) {
  set_log_level(LogLevel::Info);
  testing::internal::CaptureStderr();
  run();
  set_log_level(LogLevel::Off);
  return testing::internal::GetCapturedStderr();
}

/// The most that a number grew within any second, told its value after each tick.
class RateMeter {
 public:
  void add(std::uint64_t total) {
    totals_.push_back(total);
    if (totals_.size() > kTickRate + 1) totals_.pop_front();
    most_ = std::max(most_, total - totals_.front());
  }
  std::uint64_t most_in_a_second() const { return most_; }

 private:
  std::deque<std::uint64_t> totals_;
  std::uint64_t most_ = 0;
};

class ServedWorldTest : public ::testing::Test {
 protected:
  static constexpr Endpoint kServer = Endpoint::ipv4(10, 0, 0, 1, 7777);
  static constexpr Endpoint client_at(std::uint8_t number) { return Endpoint::ipv4(10, 0, 2, number, 4000); }

  void start(const ServerConfig& config) {
    network_port = network.open(kServer);
    port.emplace(*network_port);
    server.emplace(game, *port, clock, entropy, config);
  }
  /// Says Hello; it joins with the next ticks.
  Client& add_client() {
    const auto number = static_cast<std::uint8_t>(clients.size());
    client_ports.push_back(network.open(client_at(number)));
    ClientConfig config;
    config.server = kServer;
    config.components = demo::component_descriptors();
    config.register_components = demo::register_shared_components;
    if (configure_client) configure_client(config);
    clients.push_back(std::make_unique<Client>(*client_ports.back(), clock, entropy, config));
    clients.back()->connect();
    return *clients.back();
  }
  void run_tick() {
    clock.advance(Duration(seconds(1)) / kTickRate);
    if (before_poll) before_poll();
    server->poll();
    port->allocations = 0;
    const std::size_t before = allocations_so_far();
    server->run_tick();
    allocations_in_tick = allocations_so_far() - before - port->allocations;
    for (const auto& client : clients) {
      client->poll();
      client->send_update();
    }
  }
  void run_ticks(int ticks, const std::function<void()>& after_each = {}) {
    for (int i = 0; i < ticks; ++i) {
      run_tick();
      if (after_each) after_each();
    }
  }
  void run_seconds(double count, const std::function<void()>& after_each = {}) {
    run_ticks(static_cast<int>(count * kTickRate), after_each);
  }

  const ClientView& view_of(const Endpoint& peer) const {
    const ClientView* result = nullptr;
    server->for_each_view([&](PlayerNumber, const Endpoint& at, const ClientView& view) {
      if (at == peer) result = &view;
    });
    EXPECT_NE(result, nullptr) << "no session at " << to_string(peer);
    return *result;
  }
  const ClientView& view_of(std::size_t client) const {
    return view_of(client_at(static_cast<std::uint8_t>(client)));
  }
  bool has_session(const Endpoint& peer) const {
    bool result = false;
    server->for_each_view(
        [&](PlayerNumber, const Endpoint& at, const ClientView&) { result = result || at == peer; });
    return result;
  }
  /// For how many ticks the client has lacked a version that is there, of the chunk for which that is most; of chunks
  /// that it shows. To be called after each tick.
  std::uint32_t update_age(std::size_t client) {
    std::uint32_t oldest = 0;
    view_of(client).for_each_chunk([&](ChunkIndex index, ChunkId id, Epoch, std::optional<Tick>) {
      std::deque<Tick>& lacking = versions_lacking_[{client, id.value}];
      const Tick current = server->chunks()[index].current().tick();
      const ChunkVersion* shown = clients[client]->mirror()->shown(id);
      if (shown && current > shown->tick() && (lacking.empty() || current > lacking.back()))
        lacking.push_back(current);
      while (!lacking.empty() && shown && lacking.front() <= shown->tick()) lacking.pop_front();
      if (!lacking.empty()) oldest = std::max(oldest, (server->tick() - lacking.front().value).value + 1);
    });
    return oldest;
  }
  std::size_t most_versions() const {
    std::size_t most = 0;
    server->chunks().for_each(
        [&](ChunkIndex, const Chunk& chunk) { most = std::max(most, chunk.version_count()); });
    return most;
  }
  /// The world stands still, and the client's mirror is what the server's registry says. Ends the test's run.
  void expect_exact(std::size_t client) {
    server->freeze();
    for (int i = 0; i < 20 * kTickRate && clients[client]->comparison() == Comparison::None; ++i) run_tick();
    EXPECT_EQ(clients[client]->comparison(), Comparison::Exact) << clients[client]->describe_close();
  }

  ManualClock clock;
  SeededEntropy entropy{1};
  SimulatedNetwork network{clock, 1};
  ServedGame game;
  std::unique_ptr<DatagramPort> network_port;
  std::optional<MeteredPort> port;
  std::optional<Server> server;
  std::vector<std::unique_ptr<DatagramPort>> client_ports;
  std::vector<std::unique_ptr<Client>> clients;
  std::function<void()> before_poll;
  std::function<void(ClientConfig&)> configure_client;
  std::size_t allocations_in_tick = 0;

 private:
  std::map<std::pair<std::size_t, std::uint32_t>, std::deque<Tick>> versions_lacking_;  // by client and chunk
};

}  // namespace shoal::test
