#include "tests/simulation/checkers/player_checker.hpp"

#include <fmt/core.h>

#include <set>

namespace shoal::simulation {

void PlayerChecker::after_step(const Simulation& simulation) {
  const Server& server = simulation.server();
  if (simulation.servers() != servers_) {
    servers_ = simulation.servers();
    known_.clear();
    owners_.clear();
  }
  std::set<std::uint64_t> entities;
  std::set<PlayerNumber> numbers;
  for (const SavedPlayer& player : server.players_to_save()) {
    if (!entities.insert(player.entity.bits()).second)
      fail(fmt::format("entity {} has two players", player.entity.index));
    if (!numbers.insert(player.number).second) fail(fmt::format("two players are {}", player.number.value));
    const auto owner = owners_.try_emplace(player.entity.bits(), player.id).first;
    if (owner->second != player.id) {
      fail(fmt::format("player {} has entity {}, which is another one's", player.number.value,
                       player.entity.index));
    }
    const auto [known, is_new] = known_.try_emplace(player.id, player);
    const bool is_other = known->second != player;
    if (!is_new && is_other && server.registry().alive(known->second.entity)) {
      fail(fmt::format("player {} has entity {}, and as player {} had entity {}, which still lives",
                       player.number.value, player.entity.index, known->second.number.value,
                       known->second.entity.index));
    }
    known->second = player;
  }
  if (server.absent_count() > simulation.players())
    fail(fmt::format("{} of {} players are away", server.absent_count(), simulation.players()));
}

}  // namespace shoal::simulation
