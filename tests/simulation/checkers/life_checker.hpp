// At every moment: no mirror shows an entity in a generation that the server has not reached yet, and none
// shows two lives of one index; after an entity's end was applied it does not come back.
#pragma once

#include <unordered_set>
#include <vector>

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class LifeChecker final : public Checker {
 public:
  const char* name() const override { return "life"; }
  void after_step(const Simulation& simulation) override;

 private:
  struct Seen {
    std::uint32_t world = 0;                       // which of the client's this is about
    std::vector<std::uint32_t> newest_generation;  // by index, as it was shown
  };
  std::vector<Seen> seen_;
  std::uint32_t steps_ = 0;
};

}  // namespace shoal::simulation
