// The parts of a tick that are timed one by one, in their order (docs/architecture.md, the life of a tick).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "shared/base/time.hpp"

namespace shoal {

enum class TickPhase : std::uint8_t {
  Inputs,      // players who left and joined, and what players did
  Systems,     // of the game
  Changes,     // into the chunks
  Views,       // what each client sees
  GameEvents,  // what the game tells of this tick
  Frames,      // blocks encoded, frames sealed
  Flush,       // digests of a frozen world, and all that waits goes to the system
};
inline constexpr std::size_t kTickPhases = 7;

inline constexpr std::array<std::string_view, kTickPhases> kTickPhaseNames{
    "inputs", "systems", "changes", "views", "game_events", "frames", "flush"};

/// By phase.
using TickPhaseTimes = std::array<Duration, kTickPhases>;

/// Gives each phase the time since the one before ended.
class TickPhaseTimer {
 public:
  TickPhaseTimer(const Clock& clock, TickPhaseTimes& times)
      : clock_(&clock), times_(&times), began_(clock.now()) {}
  void end(TickPhase phase) {
    const Time now = clock_->now();
    (*times_)[static_cast<std::size_t>(phase)] = now - began_;
    began_ = now;
  }

 private:
  const Clock* clock_;
  TickPhaseTimes* times_;
  Time began_;
};

}  // namespace shoal
