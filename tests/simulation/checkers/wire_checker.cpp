#include "tests/simulation/checkers/wire_checker.hpp"

#include <fmt/core.h>

#include <map>

namespace shoal::simulation {

void WireChecker::after_step(const Simulation& simulation) {
  const Wire& wire = simulation.wire();
  if (!wire.failure().empty()) fail(wire.failure());
  // A client that came again took the place of its earlier session, so one of each player is enough.
  std::map<PlayerId, std::uint64_t> taken_by_server;
  simulation.server().for_each_session_status(
      [&](const SessionStatus& status) { taken_by_server[status.player] = status.traffic.received_bytes; });
  for (std::size_t i = 0; i < simulation.clients().size(); ++i) {
    const Client& client = *simulation.clients()[i]->client;
    if (client.state() != ClientState::Connected) continue;
    was_anyone_connected_ = true;
    const auto from_server = wire.sent_bytes(Direction::ToClient, client.connection_id());
    if (client.session_received_bytes() > from_server.value_or(0)) {
      fail(fmt::format("client {} took {} bytes of packets for good, of {} that the server sent it", i,
                       client.session_received_bytes(), from_server.value_or(0)));
    }
    // Before its first packet the server may know the player by a session that this client has not heard of.
    const auto to_server = wire.sent_bytes(Direction::ToServer, client.connection_id());
    const auto taken = taken_by_server.find(client.player());
    if (to_server && taken != taken_by_server.end() && taken->second > *to_server) {
      fail(fmt::format("the server took {} bytes of packets of client {} for good, of {} that it sent",
                       taken->second, i, *to_server));
    }
  }
}

void WireChecker::at_end(const Simulation& simulation) {
  if (was_anyone_connected_ && simulation.wire().packets() == 0) fail("nothing was seen on the wire");
}

}  // namespace shoal::simulation
