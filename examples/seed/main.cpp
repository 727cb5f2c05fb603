// A server on a UDP port, and two clients in the same process that run for the nearest apple. At the end every client
// compares its mirror with the server's world. Usage: seed [port [seconds]]; without a port it takes a free one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "client/client.hpp"
#include "seed.hpp"
#include "seed_descriptors.hpp"
#include "seed_game.hpp"
#include "server/server.hpp"
#include "server/tick_schedule.hpp"
#include "shared/net/udp_port.hpp"

using namespace shoal;

namespace {

constexpr std::uint32_t kTickRate = 30;
constexpr Endpoint localhost(std::uint16_t port) {
  return Endpoint::ipv4(127, 0, 0, 1, port);
}

std::unique_ptr<UdpPort> open_port(const UdpPortConfig& config) {
  auto port = UdpPort::open(config);
  if (port.ok()) return std::move(*port);
  std::fprintf(stderr, "%s\n", port.error().c_str());
  std::exit(2);
}

// What a player does who sees only the mirror.
seed::Input choose_input(const Client& client) {
  const Registry& mirror = *client.registry();
  const auto* self = mirror.try_get<seed::Position>(client.controlled());
  if (self == nullptr) return {};
  float nearest = INFINITY;
  seed::Input input;
  for (auto [apple, place] : mirror.view<seed::Position, seed::Apple>()) {
    const float x = place.x - self->x;
    const float y = place.y - self->y;
    if (x * x + y * y >= nearest) continue;
    nearest = x * x + y * y;
    const auto towards = [](float way) {
      return static_cast<std::int8_t>(way > 0.2f ? 1 : way < -0.2f ? -1 : 0);
    };
    input = {towards(x), towards(y)};
  }
  return input;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const auto port_number = static_cast<std::uint16_t>(argument_count > 1 ? std::atoi(arguments[1]) : 0);
  const Duration length = seconds(argument_count > 2 ? std::atoi(arguments[2]) : 3);
  SteadyClock clock;
  SystemEntropy entropy;

  UdpPortConfig server_port_config;
  server_port_config.local = localhost(port_number);
  server_port_config.ring_datagrams = 1024;
  const auto server_port = open_port(server_port_config);
  seed::SeedGame game(kTickRate);
  ServerConfig server_config;
  server_config.tick_rate_hz = kTickRate;
  Server server(game, *server_port, clock, entropy, server_config);
  std::printf("listening on port %u\n", server_port->local().port);

  // A game's own client is another program; it needs these lines and the schema.
  ClientConfig client_config;
  client_config.server = server_port->local();
  client_config.components = seed::component_descriptors();
  client_config.register_components = seed::register_components;
  std::vector<std::unique_ptr<UdpPort>> ports;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 2; ++i) {
    UdpPortConfig port_config;
    port_config.local = localhost(0);
    port_config.only_peer = server_port->local();
    ports.push_back(open_port(port_config));
    clients.push_back(std::make_unique<Client>(*ports.back(), clock, entropy, client_config));
    clients.back()->connect();
  }

  TickSchedule ticks(clock.now(), kTickRate);
  const Time end = clock.now() + length;
  while (!(server.is_frozen() && server.all_compared())) {
    server_port->wait(std::max(Duration{}, ticks.next_deadline() - clock.now()));
    server.poll();
    for (const auto& client : clients) client->poll();
    for (std::uint32_t due = ticks.take_due(clock.now()); due > 0; --due) {
      if (clock.now() >= end && !server.is_frozen())
        server.freeze();  // the world stands still, mirrors are compared
      server.run_tick();
      for (const auto& client : clients) {
        if (client->state() != ClientState::Connected) continue;
        client->add_input(seed::encode_input(choose_input(*client)));
        client->send_update();
      }
    }
  }

  int exact = 0;
  for (const auto& client : clients) exact += client->comparison() == Comparison::Exact;
  int apples = 0;
  server.registry().view<const seed::Player>().each(
      [&](const seed::Player& player) { apples += player.apples; });
  std::printf("%d apples gathered, %d of %zu mirrors exact\n", apples, exact, clients.size());
  return exact == static_cast<int>(clients.size()) ? 0 : 1;
}
