#include "tests/simulation/checkers/wait_checker.hpp"

#include <fmt/core.h>

namespace shoal::simulation {

void WaitChecker::after_step(const Simulation& simulation) {
  const Server& server = simulation.server();
  const Plan& plan = simulation.plan();
  // Everything once, to one client; a far chunk counts a quarter of a near one, so it may wait four rounds of those.
  const double world_bytes = static_cast<double>(server.chunks().size()) * kMaxDatagramBytes;
  double seconds = 2;
  if (plan.client_bytes_per_second > 0)
    seconds += 4 * world_bytes / static_cast<double>(plan.client_bytes_per_second);
  if (plan.full_state_bytes_per_second > 0) {
    seconds += 2 * static_cast<double>(plan.clients.size()) * world_bytes /
               static_cast<double>(plan.full_state_bytes_per_second);
  }
  const double datagrams_per_second = plan.max_datagrams_per_tick * plan.tick_rate_hz;
  seconds += 4 * static_cast<double>(server.chunks().size()) / datagrams_per_second;
  const auto limit = static_cast<std::uint32_t>(seconds * plan.tick_rate_hz);
  server.for_each_view([&](PlayerNumber player, const Endpoint&, const ClientView& view) {
    if (view.longest_wait(server.tick()) > limit) {
      fail(fmt::format("player {}: a chunk waits for {} ticks, {} are enough for all of them", player.value,
                       view.longest_wait(server.tick()), limit));
    }
  });
}

}  // namespace shoal::simulation
