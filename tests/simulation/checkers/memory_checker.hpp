// P21. At every moment: what grows with time or with loss stays within its bound.
#pragma once

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class MemoryChecker final : public Checker {
 public:
  const char* name() const override { return "memory"; }
  void after_step(const Simulation& simulation) override;
};

}  // namespace shoal::simulation
