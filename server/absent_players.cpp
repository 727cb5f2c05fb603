#include "server/absent_players.hpp"

#include <algorithm>
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
  const auto first_to_stay = waiting_.end() - static_cast<std::ptrdiff_t>(most_);
  std::vector<Absent> taken(waiting_.begin(), first_to_stay);
  waiting_.erase(waiting_.begin(), first_to_stay);
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
