#include "tests/simulation/checkers/silence_checker.hpp"

#include <fmt/core.h>

namespace shoal::simulation {
namespace {

// The transport looks at its sessions now and then.
constexpr Duration kLooksEvery = milliseconds(20);

}  // namespace

void SilenceChecker::after_step(const Simulation& simulation) {
  for (const auto& attacker : simulation.attackers()) {
    if (attacker->plan().kind != AttackerKind::Silent) continue;
    std::size_t sessions = 0;
    simulation.server().for_each_session_status([&](const SessionStatus& status) {
      if (status.peer.address != attacker->home().address) return;
      ++sessions;
      const Duration age = simulation.now() - status.joined_at.since_zero;
      if (age > simulation.time_out() + kLooksEvery) {
        fail(fmt::format("player {} has been silent for {:.3f} s and is still in session",
                         status.number.value, to_seconds(age)));
      }
    });
    if (sessions > attacker->most_sessions())
      fail(fmt::format("{} sessions of one address outside", sessions));
  }
}

}  // namespace shoal::simulation
