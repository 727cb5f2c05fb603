// What a bot does with its player: one function per scenario, which looks at the mirror like any client and
// gives the next input.
#pragma once

#include <optional>
#include <string_view>

#include "client/client.hpp"
#include "shared/base/random.hpp"
#include "shared/game/input.hpp"

namespace shoal {

enum class Scenario {
  Wander,  // walks here and there, looks around, shoots now and then
};

class Behaviour {
 public:
  Behaviour(Scenario scenario, std::uint64_t seed) : scenario_(scenario), random_(seed) {}

  /// The input for the next tick.
  demo::PlayerInput next();

 private:
  demo::PlayerInput wander();

  Scenario scenario_;
  Random random_;
  demo::PlayerInput current_{};
  std::uint32_t ticks_left_ = 0;
};

}  // namespace shoal
