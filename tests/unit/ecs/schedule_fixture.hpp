// A world, a schedule and what tests of both do with them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "shared/ecs/schedule.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {

inline void tick_over(Registry& registry) {
  registry.log().clear();
  registry.clear_changes();
}

inline Entity make(Registry& registry, float x, std::uint16_t health = 10) {
  const Entity entity = registry.create();
  registry.emplace<Position>(entity, x, 0.0f);
  registry.emplace<Health>(entity, health, std::uint16_t{100});
  return entity;
}

struct ScheduleTest : testing::Test {
  void run(std::uint32_t tick = 1) { schedule.run(world, Tick{tick}); }
  std::vector<std::uint32_t> stages() {
    schedule.build(world);
    std::vector<std::uint32_t> found;
    for (const auto& system : schedule.systems()) found.push_back(system.stage);
    return found;
  }

  World world;
  Schedule schedule;
};

}  // namespace shoal::test
