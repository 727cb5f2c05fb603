// At the end every connected client's mirror is the server's world, filtered: computed by a plain loop over
// both registries, component by component, so that a failure names what differs.
#pragma once

#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {

class MirrorChecker final : public Checker {
 public:
  const char* name() const override { return "mirror"; }
  void at_end(const Simulation& simulation) override;
};

/// The first difference between a mirror and what it should be; empty if there is none.
std::string first_difference(const Registry& world, const Registry& mirror, const ComponentTable& table);

}  // namespace shoal::simulation
