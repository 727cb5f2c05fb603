// Players whose session broke off, and whose entities wait for them: by time-out, for a newer session of theirs, or with
// the process. Who comes back in time, known by its PlayerId, has its entity and its number again.
//
// 1. An entity waits for one player, a player has one entity that waits.
// 2. At most `most` wait from one tick to the next. Of more those are given up first from whose address most others wait,
//    and of these who has waited longest: who joins and breaks off again and again costs nobody else the place.
// 3. Time is ticks: a frozen world gives nobody up.
// Threads: one, the tick's.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "server/game_messages.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/net/address_range.hpp"
#include "shared/net/player_id.hpp"
#include "shared/net/reasons.hpp"

namespace shoal {

/// What a saved world keeps of a player, so that it finds its entity after a restart.
struct SavedPlayer {
  PlayerId id;
  PlayerNumber number;
  Entity entity;
  friend bool operator==(const SavedPlayer&, const SavedPlayer&) = default;
};

/// Whether a session that ended like this is taken up again: nobody wanted it to end.
bool may_return(CloseReason reason);

class AbsentPlayers {
 public:
  struct Absent {
    SavedPlayer player;
    CloseReason reason = CloseReason::Unspecified;  // of the session's end
    Tick until{};
    bool is_told = false;  // the game has heard of it
    std::optional<AddressHolder>
        holder{};  // of the address its session was opened from; none: exempt, or not known
  };

  explicit AbsentPlayers(std::size_t most) : most_(most) {}

  /// REQUIRES: nobody waits under this id.
  void add(const Absent& absent) { waiting_.push_back(absent); }
  /// Those who are too many, and wait no longer. Asked before a tick and not by each newcomer: a session that a newer one
  /// replaces is absent for a moment, and must cost nobody else its place. O(n log n) of those who wait when there are too
  /// many.
  std::vector<Absent> take_surplus();
  /// The player's, who waits no longer.
  std::optional<Absent> take(const PlayerId& id);
  /// Those whose time is over at that tick, and who wait no longer.
  std::vector<Absent> take_overdue(Tick now);
  /// Those for whom the question is answered with true, and who wait no longer.
  template <class F>
  std::vector<Absent> take_if(F question) {
    std::vector<Absent> taken;
    std::erase_if(waiting_, [&](const Absent& absent) {
      if (!question(absent)) return false;
      taken.push_back(absent);
      return true;
    });
    return taken;
  }

  std::vector<Absent>& all() { return waiting_; }
  const std::vector<Absent>& all() const { return waiting_; }

 private:
  std::size_t most_;
  std::vector<Absent> waiting_;  // who came first stands first
};

}  // namespace shoal
