// At the end everyone who should be in the game is in it, unless the network kept them out for longer than a
// time-out; nobody was refused.
#pragma once

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class SessionChecker final : public Checker {
 public:
  const char* name() const override { return "session"; }
  void at_end(const Simulation& simulation) override;
};

}  // namespace shoal::simulation
