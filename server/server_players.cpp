// The part of Server about players who are away: whose entities wait, who gets one back, what a saved world keeps of
// them.
#include <algorithm>
#include <unordered_set>
#include <utility>

#include "server/server.hpp"
#include "shared/base/log.hpp"

namespace shoal {

Tick Server::return_deadline() const {
  const auto per_second = Duration(std::chrono::seconds(1)) / config_.tick_rate_hz;
  const auto ticks = (config_.return_time + per_second - Duration(1)) / per_second;
  return tick_ + static_cast<std::uint32_t>(ticks);
}

void Server::give_up(const AbsentPlayers::Absent& absent) {
  departed_.push_back(absent);
}

void Server::end_player(const Session& session, CloseReason reason) {
  if (session.player.is_null()) return;
  const AbsentPlayers::Absent absent{
      {session.player_id, session.number, session.player}, reason, return_deadline(), false, session.holder};
  if (config_.return_time.count() == 0 || !may_return(reason)) return give_up(absent);
  absent_.add(absent);
}

bool Server::take_back(Session& session) {
  const auto absent = absent_.take(session.player_id);
  if (!absent) return false;
  if (!registry_.alive(absent->player.entity)) {
    give_up(*absent);
    return false;
  }
  session.number = absent->player.number;
  session.player = absent->player.entity;
  returned_.push_back(session.id);
  ++counters_.returned;
  return true;
}

void Server::tell_of_absent_players() {
  for (const AbsentPlayers::Absent& absent : absent_.take_overdue(tick_)) give_up(absent);
  for (const AbsentPlayers::Absent& absent : absent_.take_surplus()) give_up(absent);
  for (const AbsentPlayers::Absent& departed : std::exchange(departed_, {}))
    game_->player_left(registry_, departed.player.entity, departed.reason);
  for (AbsentPlayers::Absent& absent : absent_.all()) {
    if (std::exchange(absent.is_told, true)) continue;
    game_->player_absent(registry_, absent.player.entity, absent.reason);
  }
}

void Server::tell_of_returned_players() {
  for (const SessionId id : std::exchange(returned_, {})) {
    if (const Session* session = find(id)) game_->player_returned(registry_, session->player, tick_);
  }
}

std::vector<SavedPlayer> Server::players_to_save() const {
  std::vector<SavedPlayer> players;
  for (const AbsentPlayers::Absent& departed : departed_) {
    if (registry_.alive(departed.player.entity)) players.push_back(departed.player);
  }
  for (const AbsentPlayers::Absent& absent : absent_.all()) {
    if (registry_.alive(absent.player.entity)) players.push_back(absent.player);
  }
  const auto in_session = static_cast<std::ptrdiff_t>(players.size());
  for (const auto& session : sessions_) {
    if (session && registry_.alive(session->player))
      players.push_back({session->player_id, session->number, session->player});
  }
  std::sort(players.begin() + in_session, players.end(),
            [](const SavedPlayer& a, const SavedPlayer& b) { return a.number < b.number; });
  return players;
}

void Server::restore_players(std::span<const SavedPlayer> players) {
  std::unordered_set<PlayerId> ids;
  std::unordered_set<std::uint64_t> entities;
  std::vector<AbsentPlayers::Absent> waiting;
  // From the last one, since those stand first who have been away longest.
  for (std::size_t i = players.size(); i-- > 0;) {
    const SavedPlayer& player = players[i];
    players_ = std::max(players_, player.number.value);
    if (!registry_.alive(player.entity) || !entities.insert(player.entity.bits()).second) {
      log_warn("player {} of the saved world has no entity of its own there: it joins as a new one",
               player.number.value);
      continue;
    }
    const AbsentPlayers::Absent absent{player, CloseReason::ServerShutDown, return_deadline()};
    // One that was on its way out when the world was saved may have come anew before.
    const bool is_waited_for = config_.return_time.count() > 0 && waiting.size() < config_.max_sessions &&
                               ids.insert(player.id).second;
    if (is_waited_for) {
      waiting.push_back(absent);
    } else {
      give_up(absent);
    }
  }
  for (std::size_t i = waiting.size(); i-- > 0;) absent_.add(waiting[i]);
}

void Server::set_bans(BanList bans) {
  for (const AbsentPlayers::Absent& absent :
       absent_.take_if([&](const AbsentPlayers::Absent& waiting) { return bans.bans(waiting.player.id); }))
    give_up(absent);
  transport_.set_bans(std::move(bans));
}

}  // namespace shoal
