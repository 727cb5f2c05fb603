#include "server/absent_players.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "shared/base/fault.hpp"

namespace shoal {

bool may_return(CloseReason reason) {
  switch (reason) {
    case CloseReason::TimedOut:
    case CloseReason::Replaced:
    case CloseReason::KeyUsedUp:
    case CloseReason::ServerShutDown:
    case CloseReason::ServerRestart:
      return true;
    default:
      return false;
  }
}

std::vector<AbsentPlayers::Absent> AbsentPlayers::take_surplus() {
  if (waiting_.size() <= most_ || fault("absent-for-ever")) return {};
  // How many wait from the same address who came later, and itself: it is as if those of the largest crowd were taken
  // one by one.
  std::vector<std::size_t> rank(waiting_.size(), 1);
  std::map<AddressHolder, std::size_t> crowds;
  for (std::size_t i = waiting_.size(); i-- > 0;) {
    if (waiting_[i].holder) rank[i] = ++crowds[*waiting_[i].holder];
  }
  std::vector<std::size_t> order(waiting_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rank[a] > rank[b]; });
  std::vector<bool> is_taken(waiting_.size());
  for (std::size_t i = 0; i < waiting_.size() - most_; ++i) is_taken[order[i]] = true;
  std::vector<Absent> taken, staying;
  for (std::size_t i = 0; i < waiting_.size(); ++i) (is_taken[i] ? taken : staying).push_back(waiting_[i]);
  waiting_ = std::move(staying);
  return taken;
}

std::optional<AbsentPlayers::Absent> AbsentPlayers::take(const PlayerId& id) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Absent& absent) {
    return absent.player.id == id || fault("return-as-anyone");
  });
  if (found == waiting_.end()) return std::nullopt;
  const Absent taken = *found;
  waiting_.erase(found);
  return taken;
}

std::vector<AbsentPlayers::Absent> AbsentPlayers::take_overdue(Tick now) {
  if (fault("absent-for-ever")) return {};
  return take_if([now](const Absent& absent) { return now >= absent.until; });
}

}  // namespace shoal
