#include "tests/simulation/checkers/stranger_checker.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace shoal::simulation {

void StrangerChecker::after_step(const Simulation& simulation) {
  const Plan& plan = simulation.plan();
  const auto is_honest = [&](const Endpoint& peer) {
    return std::any_of(simulation.clients().begin(), simulation.clients().end(),
                       [&](const auto& actor) { return actor->is_at(peer); });
  };
  const auto may_join = [&](const Endpoint& peer) {
    return std::any_of(
        simulation.attackers().begin(), simulation.attackers().end(),
        [&](const auto& attacker) { return attacker->may_join_from(peer, plan.has_password); });
  };
  std::size_t sessions = 0;
  simulation.server().for_each_view([&](PlayerNumber player, const Endpoint& peer, const ClientView&) {
    ++sessions;
    if (!is_honest(peer) && !may_join(peer))
      fail(fmt::format("player {} plays from {}, where nobody lives", player.value, to_string(peer)));
  });
  std::size_t most = simulation.clients().size();
  for (const auto& attacker : simulation.attackers()) most += attacker->most_sessions();
  if (sessions > most) fail(fmt::format("{} sessions where {} may be", sessions, most));
  for (const auto& [peer, exchange] : simulation.exchanges()) {
    if (exchange.from_server <= exchange.to_server) continue;
    if (is_honest(peer) || may_join(peer)) continue;
    fail(fmt::format("{} sent {} bytes and got {}", to_string(peer), exchange.to_server,
                     exchange.from_server));
  }
}

}  // namespace shoal::simulation
