// At every moment: a client's baseline of a chunk never goes back and is a version that its mirror verified,
// a mirror's chunk never shows an older version, and no block fails its hash (links may damage datagrams, but
// those never reach the mirror).
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class ProgressChecker final : public Checker {
 public:
  const char* name() const override { return "progress"; }
  void after_step(const Simulation& simulation) override;

 private:
  struct Seen {
    std::uint32_t world = 0;                             // which of the client's this is about
    std::map<std::uint32_t, std::optional<Tick>> shown;  // by chunk
  };
  std::vector<Seen> shown_;
  std::map<SessionId, std::map<std::uint32_t, std::optional<Tick>>> baselines_;  // by session, then chunk
};

}  // namespace shoal::simulation
