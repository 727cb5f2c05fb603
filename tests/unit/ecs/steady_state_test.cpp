// A tick in the steady state takes nothing from the heap, and readers do not disturb each other.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "shared/base/random.hpp"
#include "shared/ecs/schedule.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

TEST(SteadyState, ATickAllocatesNothing) {
  std::size_t heard = 0;
  World world;
  Schedule schedule;
  ChangeSummary summary;
  Random random(5);
  const auto note = [&](Registry&, Entity) { ++heard; };
  world.on_construct<Position>().connect(note);
  world.on_update<Position>().connect(note);
  world.on_destroy<Position>().connect(note);
  schedule.add("spawn", [](Registry& registry, Tick, CommandBuffer& commands) {
    for (std::size_t i = registry.alive_count(); i < 2'000; ++i) {
      const Entity entity = commands.create();
      commands.emplace<Position>(entity, 1.0f, 1.0f);
      commands.emplace<Health>(entity, Health{10, 10});
    }
  });
  schedule.add("move", [](Registry& registry, Tick) {
    registry.view<Position>(exclude<Burning>).each([](Position& position) { position.x += 1; });
  });
  schedule.add("burn", [&](Registry& registry, Tick) {
    for (auto [entity, health] : registry.view<Health>()) {
      if (random.below(20) == 0) registry.get_or_emplace<Burning>(entity);
      if (random.below(20) == 0) registry.remove<Burning>(entity);
      if (random.below(20) == 0) registry.patch<Position>(entity, [](Position& position) { position.y = 0; });
      if (random.below(20) == 0) registry.destroy(entity);
    }
  });
  const auto tick = [&](std::uint32_t number) {
    schedule.run(world, Tick{number});
    heard += summary.summarize(world.log().entries()).size();
    world.storage<Position>().for_each_possibly_changed([&](std::uint32_t, const void*) { ++heard; });
    world.log().clear();
    world.clear_changes();
  };
  for (std::uint32_t number = 0; number < 300; ++number) tick(number);
  const std::size_t before = test::allocations_so_far();
  for (std::uint32_t number = 300; number < 400; ++number) tick(number);
  EXPECT_EQ(test::allocations_so_far() - before, 0u) << "allocations in 100 ticks";
  EXPECT_GT(heard, 0u);
}

// R8
TEST(SteadyState, ManyThreadsMayMakeAndReadConstViews) {
  World world;
  for (int i = 0; i < 2'000; ++i) {
    const Entity entity = world.create();
    if (i % 2 == 0) world.emplace<Position>(entity, 1.0f, 1.0f);
    if (i % 3 == 0) world.emplace<Health>(entity, Health{1, 1});
  }
  std::atomic<std::size_t> total{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&world, &total] {
      std::size_t sum = 0;
      for (int round = 0; round < 20; ++round) {
        std::as_const(world).view<Position, Health>().each(
            [&](const Position&, const Health& h) { sum += h.current; });
        for (auto [entity, position] : world.view<const Position>(exclude<Health>))
          sum += world.alive(entity);
        sum += std::as_const(world).storage<Position>().values().size();
        sum += std::as_const(world).get<Health>(world.entity_at(0)).current;
      }
      total += sum;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(total, 4u * 20u * (334u + 666u + 1000u + 1u));
}

}  // namespace
}  // namespace shoal::test
