#include "server/change_tracker.hpp"

#include <gtest/gtest.h>

#include <set>

#include "shared/base/random.hpp"
#include "shared/ecs/local.hpp"
#include "tests/unit/server/replicated_world.hpp"

namespace shoal {
namespace {

using namespace demo;

class ChangeTrackerTest : public ::testing::Test, protected test::ReplicatedWorld {
 protected:
  const ChunkVersion& version_of(Entity entity) { return chunk_of(entity).current(); }
  template <class T>
  T replicated(Entity entity, std::string_view name) {
    const auto binding = tracker->binding(entity);
    const auto index = component(name);
    std::uint32_t values[16] = {};
    for (unsigned i = 0; i < table[index].column_count; ++i) {
      values[i] = version_of(entity).value(table[index].first_column + i, binding.slot);
    }
    T value{};
    table.dequantise(index, values, &value);
    return value;
  }
  bool has(Entity entity, std::string_view name) {
    const auto binding = tracker->binding(entity);
    return (version_of(entity).present(component(name)) & slot_bit(binding.slot)) != 0;
  }
};

// R13: a system writes and no signal is raised; it is replicated all the same, however the reference was got.
TEST_F(ChangeTrackerTest, WriteThroughAPlainReferenceIsReplicated) {
  const Entity entity = registry.create();
  registry.emplace<Health>(entity, std::uint16_t{10}, std::uint16_t{100});
  end_tick();
  registry.get<Health>(entity).current = 11;
  Tick tick = end_tick();
  EXPECT_EQ(replicated<Health>(entity, "shoal.demo.Health").current, 11);
  EXPECT_EQ(version_of(entity).tick(), tick);
  for (auto [each, health] : registry.view<Health>()) health.current = 12;
  tick = end_tick();
  EXPECT_EQ(replicated<Health>(entity, "shoal.demo.Health").current, 12);
  EXPECT_EQ(version_of(entity).tick(), tick);
  registry.patch<Health>(entity, [](Health& health) { health.current = 13; });
  end_tick();
  EXPECT_EQ(replicated<Health>(entity, "shoal.demo.Health").current, 13);
}

TEST_F(ChangeTrackerTest, ChangeBelowTheStepIsNoChange) {
  const Entity entity = registry.create();
  registry.emplace<Position>(entity, 1.0f, 2.0f, 3.0f);
  const Tick first = end_tick();
  registry.patch<Position>(entity, [](Position& position) { position.x += 0.001f; });
  end_tick();
  EXPECT_EQ(version_of(entity).tick(), first);
}

// P18: nothing changed, nothing done: no chunk gets a version.
TEST_F(ChangeTrackerTest, NothingChangedNothingDone) {
  for (int i = 0; i < 100; ++i) registry.emplace<Health>(registry.create());
  const Tick first = end_tick();
  for (int i = 0; i < 10; ++i) end_tick();
  chunks.for_each([&](ChunkIndex, const Chunk& chunk) { EXPECT_EQ(chunk.current().tick(), first); });
}

// P15: an empty entity is bound, and so is one that gains a component later, a tag included.
TEST_F(ChangeTrackerTest, EmptyEntityIsBoundAndATagThatComesLaterIsSeen) {
  const Entity entity = registry.create();
  end_tick();
  ASSERT_TRUE(tracker->binding(entity).is_bound());
  registry.emplace<Burning>(entity);
  end_tick();
  EXPECT_TRUE(has(entity, "shoal.demo.Burning"));
  registry.remove<Burning>(entity);
  end_tick();
  EXPECT_FALSE(has(entity, "shoal.demo.Burning"));
}

// R14: within one tick, removed and added is a change of value; added and removed, born and dead leave no
// trace.
TEST_F(ChangeTrackerTest, WhatCameAndWentWithinATickLeavesNoTrace) {
  const Entity entity = registry.create();
  registry.emplace<Health>(entity, std::uint16_t{1}, std::uint16_t{1});
  const Tick first = end_tick();
  registry.emplace<Burning>(entity);
  registry.remove<Burning>(entity);
  const Entity short_lived = registry.create();
  registry.emplace<Health>(short_lived);
  registry.destroy(short_lived);
  end_tick();
  EXPECT_EQ(version_of(entity).tick(), first);
  EXPECT_FALSE(tracker->binding(short_lived).is_bound());

  registry.remove<Health>(entity);
  registry.emplace<Health>(entity, std::uint16_t{2}, std::uint16_t{1});
  end_tick();
  EXPECT_EQ(replicated<Health>(entity, "shoal.demo.Health").current, 2);
}

// P2: the index comes back within the same tick, in the slot of the one before.
TEST_F(ChangeTrackerTest, ReusedIndexIsBoundAnewAndTheDepartureIsLogged) {
  const Entity first = registry.create();
  registry.emplace<Health>(first, std::uint16_t{7}, std::uint16_t{7});
  end_tick();
  const ChunkIndex chunk = tracker->binding(first).chunk;
  registry.destroy(first);
  Entity second = registry.create();
  while (second.index != first.index) second = registry.create();
  end_tick();
  EXPECT_FALSE(tracker->binding(first).is_bound());
  EXPECT_TRUE(tracker->binding(second).is_bound());
  EXPECT_FALSE(has(second, "shoal.demo.Health"));
  const auto log = chunks[chunk].departures();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].entity, first);
  EXPECT_EQ(log[0].reason, DepartureReason::Destroyed);
}

TEST_F(ChangeTrackerTest, LocalEntityIsNotReplicatedAndLeavingIsToldAsSuch) {
  const Entity entity = registry.create();
  end_tick();
  const ChunkIndex chunk = tracker->binding(entity).chunk;
  registry.emplace<Local>(entity);
  end_tick();
  EXPECT_FALSE(tracker->binding(entity).is_bound());
  ASSERT_EQ(chunks[chunk].departures().size(), 1u);
  EXPECT_EQ(chunks[chunk].departures()[0].reason, DepartureReason::NoLongerReplicated);
  registry.remove<Local>(entity);
  end_tick();
  EXPECT_TRUE(tracker->binding(entity).is_bound());
}

TEST_F(ChangeTrackerTest, EntityThatOutgrowsItsChunkMovesAndIsToldAsMoved) {
  std::vector<Entity> entities;
  for (int i = 0; i < 50; ++i) {
    entities.push_back(registry.create());
    registry.emplace<Position>(entities.back(), 10.0f, 10.0f, 0.0f);
  }
  end_tick();
  ASSERT_EQ(chunks.size(), 1u);
  const ChunkIndex home = tracker->binding(entities[0]).chunk;
  for (const Entity entity : entities) {
    registry.emplace<Velocity>(entity);
    registry.emplace<AI>(entity);
    registry.emplace<Projectile>(entity);
  }
  end_tick();
  EXPECT_GT(chunks.size(), 1u);
  std::size_t moved = 0;
  for (const auto& departure : chunks[home].departures()) {
    EXPECT_EQ(departure.reason, DepartureReason::Moved);
    EXPECT_EQ(square_of(departure.entity), chunks.square_of(home));
    EXPECT_EQ(departure.target, chunks[tracker->binding(departure.entity).chunk].id());
    ++moved;
  }
  EXPECT_GT(moved, 0u);
  // Whatever happened, each full state fits a datagram.
  std::uint64_t encoded = 0;
  chunks.for_each([&](ChunkIndex index, const Chunk&) {
    EXPECT_GT(chunks[index].encode(std::nullopt, encoded)->size, 0u);
  });
}

TEST_F(ChangeTrackerTest, BoundExactlyWhatTheRegistryHoldsAfterRandomOperations) {
  Random random(5);
  std::vector<Entity> alive;
  for (int round = 0; round < 300; ++round) {
    for (std::uint32_t i = random.below(12); i > 0; --i) {
      const std::uint32_t what = random.below(6);
      if (what < 2 || alive.empty()) {
        alive.push_back(registry.create());
        if (random.chance(0.7))
          registry.emplace<Health>(alive.back(), static_cast<std::uint16_t>(random.below(1000)));
        continue;
      }
      const std::size_t at = random.below(static_cast<std::uint32_t>(alive.size()));
      const Entity entity = alive[at];
      if (what == 2) {
        registry.destroy(entity);
        alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(at));
      } else if (what == 3) {
        if (!registry.remove<Local>(entity)) registry.emplace<Local>(entity);
      } else if (what == 4) {
        if (!registry.remove<AI>(entity)) registry.emplace<AI>(entity);
      } else if (auto* health = registry.try_get<Health>(entity)) {
        health->current = static_cast<std::uint16_t>(random.below(1000));
      }
    }
    end_tick();
    std::set<std::uint64_t> bound;
    chunks.for_each([&](ChunkIndex, const Chunk& chunk) {
      for_each_slot(chunk.current().bound(), [&](Slot slot) {
        EXPECT_TRUE(bound.insert(chunk.current().id(slot).bits()).second) << "bound twice";
      });
    });
    std::set<std::uint64_t> expected;
    for (const Entity entity : alive) {
      if (registry.all_of<Local>(entity)) continue;
      expected.insert(entity.bits());
      ASSERT_EQ(has(entity, "shoal.demo.Health"), registry.all_of<Health>(entity));
      ASSERT_EQ(has(entity, "shoal.demo.AI"), registry.all_of<AI>(entity));
      if (const auto* health = registry.try_get<const Health>(entity)) {
        ASSERT_EQ(replicated<Health>(entity, "shoal.demo.Health").current, health->current);
      }
    }
    ASSERT_EQ(bound, expected);
  }
}

}  // namespace
}  // namespace shoal
