// Components that the tests of shared/ecs have in common.
#pragma once

#include <cstdint>
#include <string>

#include "shared/ecs/registry.hpp"

namespace shoal::test {

struct Position {
  float x = 0;
  float y = 0;
  friend bool operator==(const Position&, const Position&) = default;
};
struct Velocity {
  float dx = 0;
  float dy = 0;
};
struct Health {
  std::uint16_t current = 0;
  std::uint16_t maximum = 0;
};
struct Burning {};  // a tag
struct Name {       // not trivially copyable
  std::string text;
};

/// With all of the above, frozen, with a change log.
struct World : Registry {
  explicit World(RegistryLimits limits = {}) : Registry(limits) {
    register_component<Position>("test.Position");
    register_component<Velocity>("test.Velocity");
    register_component<Health>("test.Health");
    register_component<Burning>("test.Burning");
    register_component<Name>("test.Name");
    freeze();
    log().set_enabled(true);
  }
};

}  // namespace shoal::test
