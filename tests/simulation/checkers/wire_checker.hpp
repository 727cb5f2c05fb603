// At every moment: nothing that the honest sent was sealed with a number that its key had sealed with before, whatever
// session, ended session or server it was of. And nobody took more of a session's packets for good than its honest other
// side sent: what was forged, damaged or comes again is not among them. The books are tests/simulation/wire.hpp.
#pragma once

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class WireChecker final : public Checker {
 public:
  const char* name() const override { return "wire"; }
  void after_step(const Simulation& simulation) override;
  void at_end(const Simulation& simulation) override;

 private:
  bool was_anyone_connected_ = false;
};

}  // namespace shoal::simulation
