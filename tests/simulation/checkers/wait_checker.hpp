// P13. At every moment: no chunk waits for longer to be sent to a client than the client's budget explains.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class WaitChecker final : public Checker {
 public:
  const char* name() const override { return "wait"; }
  void after_step(const Simulation& simulation) override;

 private:
  std::unordered_map<std::uint32_t, std::uint64_t> least_rate_;  // by player, bytes per second so far
};

}  // namespace shoal::simulation
