// At every moment: a player whose entity lives steers that one and no other, whatever sessions it had meanwhile, under the
// number that it had; no entity ever has two players; nobody is away twice.
#pragma once

#include <map>

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class PlayerChecker final : public Checker {
 public:
  const char* name() const override { return "player"; }
  void after_step(const Simulation& simulation) override;

 private:
  std::uint32_t servers_ = 0;  // so many began; each begins a new world
  std::map<PlayerId, SavedPlayer> known_;
  std::map<std::uint64_t, PlayerId> owners_;  // by the entity's bits: for all of its life
};

}  // namespace shoal::simulation
