#include "tests/simulation/checkers/wait_checker.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "shared/net/transport_limits.hpp"

namespace shoal::simulation {

void WaitChecker::after_step(const Simulation& simulation) {
  const Server& server = simulation.server();
  const Plan& plan = simulation.plan();
  // Everything once, to one client; a far chunk counts a quarter of a near one, so it may wait four rounds of those.
  const double world_bytes = static_cast<double>(server.chunks().size()) * kMaxDatagramBytes;
  double seconds = 2;
  if (plan.full_state_bytes_per_second > 0) {
    std::size_t sessions = plan.clients.size();
    for (const auto& attacker : simulation.attackers())
      sessions += attacker->plan().kind == AttackerKind::Silent ? attacker->most_sessions() : 0;
    seconds += 2 * static_cast<double>(sessions) * world_bytes /
               static_cast<double>(plan.full_state_bytes_per_second);
  }
  const double datagrams_per_second = plan.max_datagrams_per_tick * plan.tick_rate_hz;
  seconds += 4 * static_cast<double>(server.chunks().size()) / datagrams_per_second;
  server.for_each_view([&](PlayerNumber player, const Endpoint&, const ClientView& view) {
    // A bad path gets less than the plan grants, and what waited then waited long.
    std::uint64_t& least = least_rate_.try_emplace(player.value, kMostBytesPerSecond).first->second;
    least = std::min(least, server.bytes_per_second(player));
    const double own_seconds = seconds + 4 * world_bytes / static_cast<double>(least);
    const auto limit = static_cast<std::uint32_t>(own_seconds * plan.tick_rate_hz);
    if (view.longest_wait(server.tick()) > limit) {
      fail(fmt::format("player {}: a chunk waits for {} ticks, {} are enough for all of them", player.value,
                       view.longest_wait(server.tick()), limit));
    }
  });
}

}  // namespace shoal::simulation
