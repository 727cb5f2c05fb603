#include "client/bots/behaviour.hpp"

namespace shoal {

demo::PlayerInput Behaviour::next() {
  switch (scenario_) {
    case Scenario::Wander:
      return wander();
  }
  return {};
}

// A direction for half a second to three, sometimes a rest; a shot every other second.
demo::PlayerInput Behaviour::wander() {
  if (ticks_left_ == 0) {
    ticks_left_ = 15 + random_.below(75);
    const bool rests = random_.chance(0.2);
    current_.move_x = rests ? 0 : random_.uniform(-1, 1);
    current_.move_y = rests ? 0 : random_.uniform(-1, 1);
    current_.aim_degrees = random_.uniform(-180, 180);
  }
  --ticks_left_;
  current_.fire = random_.chance(1.0 / 60);
  return current_;
}

}  // namespace shoal
