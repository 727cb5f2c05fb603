// At every moment: a session in which nobody speaks ends with the time-out, and an address outside has no more sessions
// than one may have, however many it opens. That the honest play and join meanwhile is what the other checkers say.
#pragma once

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class SilenceChecker final : public Checker {
 public:
  const char* name() const override { return "silence"; }
  void after_step(const Simulation& simulation) override;
};

}  // namespace shoal::simulation
