// The world is the same, bit for bit, whatever the number of threads: 10,000 ticks of systems that patch with listeners,
// spawn and destroy by commands, send events and draw random numbers, over several pieces.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "shared/base/random.hpp"
#include "shared/ecs/events.hpp"
#include "shared/ecs/schedule.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

constexpr std::size_t kPopulation = 3000;  // three pieces

struct Bang {
  Entity where;
  std::uint32_t tick;
};
struct Pressure {
  std::uint64_t bangs = 0;
};

/// Everything that somebody heard, in order.
struct Heard {
  std::uint64_t hash = 0;
  std::uint64_t count = 0;
  void add(std::uint64_t kind, std::uint64_t what) {
    hash = mix64(hash ^ mix64(kind) ^ what);
    ++count;
  }
};

void move(Position& position, const Velocity& velocity, Tick tick) {
  position.x += velocity.dx * 0.25f;
  position.y += velocity.dy * 0.25f + static_cast<float>(tick.value % 3) * 0.01f;
}

// A random change of course, heard by nobody; it marks what it writes.
void steer(SystemContext& context, Entity entity, Ref<Velocity> velocity) {
  Random random = context.random(entity);
  if (!random.chance(0.05)) return;
  velocity.write().dx = random.uniform(-1, 1);
  velocity.write().dy = random.uniform(-1, 1);
}

// Listeners hear of it, and what they do goes into the same tick.
void wound(SystemContext& context, Entity entity, Ref<Health> health, const Velocity* velocity,
           Without<Local>) {
  Random random = context.random(entity);
  if (!random.chance(0.01)) return;
  const auto harm = static_cast<std::uint16_t>(random.below(30) + (velocity != nullptr ? 1 : 0));
  health.patch([&](Health& hurt) {
    hurt.current = static_cast<std::uint16_t>(hurt.current > harm ? hurt.current - harm : 0);
  });
  if (random.chance(0.1)) context.commands().push_event<Bang>(entity, context.tick().value);
}

void bury(Entity entity, const Health& health, CommandBuffer& commands) {
  if (health.current == 0) commands.destroy(entity);
}

void ignite(SystemContext& context, Entity entity, const Position& position, With<Health>,
            CommandBuffer& commands) {
  if (!context.random(entity).chance(0.003)) return;
  if (position.x > 0) {
    commands.emplace<Burning>(entity);
  } else {
    commands.remove<Burning>(entity);
  }
}

void spawn(SystemContext& context, Pool<const Health> living, CommandBuffer& commands) {
  for (std::size_t i = living.size(); i < kPopulation; ++i) {
    Random random = context.random({static_cast<std::uint32_t>(i), 1});
    const Entity entity = commands.create();
    commands.emplace<Position>(entity, random.uniform(-10, 10), random.uniform(-10, 10));
    if (random.chance(0.8)) commands.emplace<Velocity>(entity, random.uniform(-1, 1), random.uniform(-1, 1));
    commands.emplace<Health>(entity, static_cast<std::uint16_t>(1 + random.below(100)), std::uint16_t{100});
    if (random.chance(0.1)) commands.emplace<Name>(entity, std::to_string(random.below(1000)));
  }
}

void count_bangs(Read<EventQueue<Bang>> bangs, Write<Pressure> pressure) {
  for (const Bang& bang : bangs->read())
    pressure->bangs = mix64(pressure->bangs ^ bang.where.bits() ^ bang.tick);
}

struct Arena {
  explicit Arena(std::uint32_t threads) : executor(make_executor(threads)) {
    events.add_queue<Bang>(world);
    world.resources().emplace<Pressure>();
    world.on_construct<Burning>().connect([this](Registry&, Entity entity) { heard.add(1, entity.bits()); });
    world.on_destroy<Burning>().connect([this](Registry&, Entity entity) { heard.add(2, entity.bits()); });
    world.on_destroy<Health>().connect([this](Registry&, Entity entity) { heard.add(3, entity.bits()); });
    // A listener that changes structure, and the values of others.
    world.on_update<Health>().connect([this](Registry& registry, Entity entity) {
      heard.add(4, entity.bits() ^ registry.get<const Health>(entity).current);
      if (registry.get<const Health>(entity).current < 5) registry.get_or_emplace<Burning>(entity);
      if (heard.count % 97 == 0) registry.remove<Velocity>(entity);
    });
    schedule.set_executor(executor.get());
    schedule.set_seed(11);
    schedule.add_each("move", move);
    schedule.add_each("wound", wound);
    schedule.add_each("bury", bury).writes<Health>();
    schedule.add_each("steer", steer);
    schedule.add_each("ignite", ignite).writes<Burning>();
    schedule.add("spawn", spawn).writes<Position, Velocity>();
    schedule.add("count_bangs", count_bangs);
    schedule.add("exclusive", [](Registry& registry, Tick tick) {
      if (tick.value % 1000 == 999)
        registry.sort<Position>([](Entity a, Entity b) { return a.index < b.index; });
    });
  }

  void tick() {
    schedule.run(world, ++now);
    events.end_tick(world);
    for (std::uint16_t type = 0; type < world.component_count(); ++type) {
      std::as_const(world)
          .storage(ComponentType{type})
          .for_each_possibly_changed(
              [&](std::uint32_t index, const void*) { changes = mix64(changes ^ type) + index; });
    }
    world.log().clear();
    world.clear_changes();
  }

  /// Entities, values and the order of every pool.
  std::uint64_t hash() const {
    std::uint64_t hash = heard.hash ^ world.resources().get<Pressure>().bangs;
    const auto add = [&](std::uint64_t value) { hash = mix64(hash ^ value); };
    world.for_each_entity([&](Entity entity) { add(entity.bits()); });
    for (const auto [entity, position] : world.view<const Position>()) {
      add(entity.bits());
      add(std::bit_cast<std::uint64_t>(position));
    }
    for (const auto [entity, velocity] : world.view<const Velocity>()) {
      add(entity.bits());
      add(std::bit_cast<std::uint64_t>(velocity));
    }
    for (const auto [entity, health] : world.view<const Health>()) {
      add(entity.bits());
      add(std::bit_cast<std::uint32_t>(health));
    }
    for (const auto [entity] : world.view<const Burning>()) add(entity.bits());
    for (const auto [entity, name] : world.view<const Name>()) {
      add(entity.bits());
      for (const char c : name.text) add(static_cast<std::uint8_t>(c));
    }
    return hash;
  }

  World world;
  Events events;
  Heard heard;
  std::uint64_t changes = 0;
  std::unique_ptr<Executor> executor;
  Schedule schedule;
  Tick now;
};

TEST(ScheduleDeterminism, TenThousandTicksAreTheSameOnOneTwoAndEightThreads) {
  Arena one(1), two(2), eight(8);
  for (int tick = 0; tick < 10'000; ++tick) {
    one.tick();
    two.tick();
    eight.tick();
    ASSERT_EQ(one.heard.hash, two.heard.hash) << "listeners, tick " << tick;
    ASSERT_EQ(one.heard.hash, eight.heard.hash) << "listeners, tick " << tick;
    ASSERT_EQ(one.changes, two.changes) << "change bits, tick " << tick;
    ASSERT_EQ(one.changes, eight.changes) << "change bits, tick " << tick;
    if (tick % 500 != 499) continue;
    ASSERT_EQ(one.hash(), two.hash()) << "tick " << tick;
    ASSERT_EQ(one.hash(), eight.hash()) << "tick " << tick;
  }
  EXPECT_GT(one.heard.count, 100'000u);
  EXPECT_GT(one.world.resources().get<Pressure>().bangs, 0u);
  EXPECT_GT(one.schedule.systems()[0].pieces, 2u);
  EXPECT_GT(one.world.storage<Burning>().size(), 10u);
}

TEST(ScheduleDeterminism, ASteadyTickAllocatesNothing) {
  Arena arena(3);
  arena.world.on_construct<Name>().connect([](Registry& registry, Entity entity) {
    registry.remove<Name>(entity);  // names take memory of their own
  });
  for (int i = 0; i < 3000; ++i) arena.tick();
  const std::size_t before = allocations_so_far();
  for (int i = 0; i < 100; ++i) arena.tick();
  EXPECT_EQ(allocations_so_far() - before, 0u) << "allocations in 100 ticks";
}

}  // namespace
}  // namespace shoal::test
