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
        simulation.attackers().begin(), simulation.attackers().end(), [&](const auto& attacker) {
          const bool has_account = attacker->plan().kind == AttackerKind::Liar ||
                                   (attacker->plan().kind == AttackerKind::Stranger && !plan.has_password);
          return has_account && attacker->home() == peer;
        });
  };
  std::size_t sessions = 0;
  simulation.server().for_each_view([&](PlayerNumber player, const Endpoint& peer, const ClientView&) {
    ++sessions;
    if (!is_honest(peer) && !may_join(peer))
      fail(fmt::format("player {} plays from {}, where nobody lives", player.value, to_string(peer)));
  });
  const std::size_t players = simulation.clients().size() + simulation.attackers().size();
  if (sessions > players) fail(fmt::format("{} sessions of {} players", sessions, players));
  for (const auto& [peer, exchange] : simulation.exchanges()) {
    if (exchange.from_server <= exchange.to_server) continue;
    if (is_honest(peer) || may_join(peer)) continue;
    fail(fmt::format("{} sent {} bytes and got {}", to_string(peer), exchange.to_server,
                     exchange.from_server));
  }
}

}  // namespace shoal::simulation
