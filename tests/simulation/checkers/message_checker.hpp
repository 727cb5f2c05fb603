// Messages of both channels: each arrives exactly once while its session lives, in order where that is promised, nothing
// of another session, no event before its state unless it is marked late, requests answered once, memory within its
// bounds. P9, T13. The books are tests/simulation/mail.hpp.
#pragma once

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class MessageChecker final : public Checker {
 public:
  const char* name() const override { return "messages"; }
  void after_step(const Simulation& simulation) override;
  void at_end(const Simulation& simulation) override;
};

}  // namespace shoal::simulation
