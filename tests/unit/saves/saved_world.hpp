// The demo's world on a server without clients, and saves of it in memory.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "memory_disk.hpp"
#include "server/demo/demo_game.hpp"
#include "server/saves/open_saves.hpp"
#include "server/saves/world_saver.hpp"
#include "server/server.hpp"
#include "shared/game/world_hash.hpp"
#include "shared/net/simulated_network.hpp"

namespace shoal::test {

inline constexpr std::uint32_t kMaxEntities = 4096;

struct SavedWorld {
  explicit SavedWorld(demo::GameConfig config = {.entities = 400, .seed = 5}) : game(config) {}

  /// Loads what is on `disk`, and saves there.
  std::optional<std::string> open(std::unique_ptr<MemoryDisk> folder, SaveOptions options = {}) {
    disk = folder.get();
    options.folder = "saves";
    auto opened = open_saves(std::move(folder), options, game, kMaxEntities, "test 1.0");
    if (!opened) return opened.error();
    saves = std::move(*opened);
    ServerConfig server_config;
    server_config.max_entities = kMaxEntities;
    if (saves->loaded) {
      server_config.resumed = ResumedWorld{.registry = saves->twin.get(),
                                           .tick = saves->loaded->tick,
                                           .newest_player = saves->loaded->newest_player};
    }
    start(server_config);
    if (saves->loaded) server->restore_players(saves->loaded->players);
    return std::nullopt;
  }
  void start(ServerConfig config) {
    port.reset();
    port = network.open(Endpoint::ipv4(10, 0, 0, 1, 7777));
    server.emplace(game, *port, clock, entropy, config);
  }
  void run(int ticks) {
    for (int i = 0; i < ticks; ++i) {
      clock.advance(Duration(seconds(1)) / 30);
      server->poll();
      server->run_tick();
    }
  }
  std::uint64_t hash() const { return demo::world_hash(server->registry()); }
  /// One save, as at the end of a server's life.
  void save() {
    WorldSaver saver(*server, game, *saves, steady, {});
    saver.on_phase(ServicePhase::Ended);
    EXPECT_EQ(saver.status().last_failure, "");
  }

  ManualClock clock;
  SteadyClock steady;
  SeededEntropy entropy{1};
  SimulatedNetwork network{clock, 1};
  demo::DemoGame game;
  MemoryDisk* disk = nullptr;
  std::unique_ptr<Saves> saves;
  std::unique_ptr<DatagramPort> port;
  std::vector<std::unique_ptr<DatagramPort>> guest_ports;
  std::optional<Server> server;
};

/// What a crash leaves when nothing was left to be synced.
inline std::unique_ptr<MemoryDisk> copy_of(const MemoryDisk& disk) {
  return disk.after_power_loss(disk.pending(), Unsynced::There);
}

}  // namespace shoal::test
