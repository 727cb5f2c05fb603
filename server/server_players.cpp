// The part of Server about players who are away: whose entities wait, who gets one back, what a saved world keeps of
// them.
#include <algorithm>
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
  departed_.push_back({absent.player.entity, absent.reason});
}

void Server::end_player(const Session& session, CloseReason reason) {
  if (session.player.is_null()) return;
  const AbsentPlayers::Absent absent{
      {session.player_id, session.number, session.player}, reason, return_deadline()};
  if (config_.return_time.count() == 0 || !may_return(reason)) return give_up(absent);
  if (const auto given_up = absent_.add(absent)) give_up(*given_up);
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
  for (const Departed& departed : std::exchange(departed_, {}))
    game_->player_left(registry_, departed.player, departed.reason);
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
  for (const auto& session : sessions_) {
    if (session && registry_.alive(session->player))
      players.push_back({session->player_id, session->number, session->player});
  }
  for (const AbsentPlayers::Absent& absent : absent_.all()) {
    if (registry_.alive(absent.player.entity)) players.push_back(absent.player);
  }
  for (const Departed& departed : departed_) {
    if (registry_.alive(departed.player)) players.push_back({{}, {}, departed.player});
  }
  std::sort(players.begin(), players.end(),
            [](const SavedPlayer& a, const SavedPlayer& b) { return a.number < b.number; });
  return players;
}

void Server::restore_players(std::span<const SavedPlayer> players) {
  for (const SavedPlayer& player : players) {
    if (player.id == PlayerId{}) {
      departed_.push_back({player.entity, CloseReason::ServerShutDown});
      continue;
    }
    const bool is_known =
        std::any_of(absent_.all().begin(), absent_.all().end(), [&](const AbsentPlayers::Absent& absent) {
          return absent.player.id == player.id || absent.player.entity == player.entity;
        });
    if (is_known || !registry_.alive(player.entity)) {
      log_warn("player {} of the saved world has {}: it joins as a new one", player.number.value,
               is_known ? "the id or the entity of another one" : "no living entity");
      continue;
    }
    players_ = std::max(players_, player.number.value);
    if (const auto given_up = absent_.add({player, CloseReason::ServerShutDown, return_deadline()}))
      give_up(*given_up);
  }
}

void Server::set_bans(BanList bans) {
  for (const AbsentPlayers::Absent& absent :
       absent_.take_if([&](const AbsentPlayers::Absent& waiting) { return bans.bans(waiting.player.id); }))
    give_up(absent);
  transport_.set_bans(std::move(bans));
}

}  // namespace shoal
