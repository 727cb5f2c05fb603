// At the end every connected client's mirror is the server's world, filtered: computed by a plain loop over
// both registries, component by component, so that a failure names what differs. P6, P20.
#pragma once

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class MirrorChecker final : public Checker {
 public:
  const char* name() const override { return "mirror"; }
  void at_end(const Simulation& simulation) override;
};

/// What a client of that player must see of the world, and what it may: squares and their hysteresis decide about
/// what lies between.
struct Expectation {
  Entity player{};
  Place centre;  // where it looks from
  InterestConfig interest;
};

/// The first difference between a mirror and what it should be; empty if there is none. A plain loop over both
/// registries, by the rules for layers, audiences and distance, that knows no chunks.
std::string first_difference(const Registry& world, const Registry& mirror, const ComponentTable& table,
                             const Expectation& expectation);

}  // namespace shoal::simulation
