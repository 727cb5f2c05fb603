// Nobody is in who should not be, and nobody gets more than they sent without being in: sessions belong to the honest and
// to those who have an account, and are never more than those; the server sends to an address that is none of theirs at
// most as many bytes as came from there.
#pragma once

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class StrangerChecker final : public Checker {
 public:
  const char* name() const override { return "stranger"; }
  void after_step(const Simulation& simulation) override;
};

}  // namespace shoal::simulation
