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
struct Pinned {  // not trivially copyable, with stable addresses
  int number = 0;
  std::string text;
};

}  // namespace shoal::test

template <>
inline constexpr bool shoal::kStableAddress<shoal::test::Pinned> = true;

namespace shoal::test {

/// The entities of a range, in its order.
template <class Range>
std::vector<Entity> listed(const Range& range) {
  std::vector<Entity> entities;
  for (const Entity entity : range) entities.push_back(entity);
  return entities;
}

/// With all of the above, frozen, with a change log.
struct World : Registry {
  explicit World(RegistryLimits limits = {}) : World(limits, [](Registry&) {}) {}
  /// before_freeze(Registry&) registers more, and declares groups.
  template <class F>
  World(RegistryLimits limits, F before_freeze) : Registry(limits) {
    register_component<Position>("test.Position");
    register_component<Velocity>("test.Velocity");
    register_component<Health>("test.Health");
    register_component<Burning>("test.Burning");
    register_component<Name>("test.Name");
    before_freeze(static_cast<Registry&>(*this));
    freeze();
    log().set_enabled(true);
  }
};

}  // namespace shoal::test
