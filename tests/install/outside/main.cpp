// A server of the farm and one client in one process, over a network in memory: after two seconds the client
// sees the flock, and its mirror is exact.
#include <cstdio>

#include "client/client.hpp"
#include "farm_game.hpp"
#include "schemas/farm_descriptors.hpp"
#include "schemas/farm_messages_generated.h"
#include "server/server.hpp"
#include "shared/net/simulated_network.hpp"

int main() {
  shoal::ManualClock clock;
  shoal::SeededEntropy entropy(1);
  shoal::SimulatedNetwork network(clock, 1);
  network.set_default_link({.loss_percent = 10, .latency = shoal::milliseconds(20)});
  const auto server_endpoint = shoal::Endpoint::ipv4(10, 0, 0, 1, 7777);
  const auto server_port = network.open(server_endpoint);
  const auto client_port = network.open(shoal::Endpoint::ipv4(10, 0, 0, 2, 4000));

  farm::FarmGame game;
  shoal::Server server(game, *server_port, clock, entropy, {.tick_rate_hz = 30});
  shoal::ClientConfig config;
  config.server = server_endpoint;
  config.components = farm::component_descriptors();
  config.register_components = farm::register_components;
  shoal::Client client(*client_port, clock, entropy, config);
  int bleats = 0;
  client.messages().on_event<farm::Bleat>(
      [&](const shoal::MessageSource&, const shoal::EventInfo& event, const farm::Bleat& bleat) {
        if (!event.is_late) bleats += bleat.times();
      });
  client.connect();

  for (int tick = 0; tick < 300 && !(server.is_frozen() && server.all_compared()); ++tick) {
    clock.advance(shoal::Duration(shoal::seconds(1)) / 30);
    if (tick == 60) server.freeze();
    server.poll();
    server.run_tick();
    client.poll();
    if (client.state() == shoal::ClientState::Connected) client.send_update();
  }

  if (client.registry() == nullptr) {
    std::printf("no session: %s\n", client.describe_close().c_str());
    return 1;
  }
  int sheep_count = 0;
  int full_of_wool = 0;
  int shepherded = 0;
  int asleep = 0;
  client.registry()->view<const farm::Sheep>().each([&](shoal::Entity entity, const farm::Sheep& sheep) {
    ++sheep_count;
    full_of_wool += sheep.wool == 10;
    shepherded += !sheep.shepherd.is_null() && sheep.shepherd == client.controlled();
    asleep += client.registry()->all_of<farm::Asleep>(entity);
  });
  std::printf("%d sheep, %d full of wool, %d asleep, %d mine, %d bleats, mirror %s\n", sheep_count,
              full_of_wool, asleep, shepherded, bleats,
              client.comparison() == shoal::Comparison::Exact ? "exact" : "not exact");
}
