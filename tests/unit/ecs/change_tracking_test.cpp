#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "shared/base/random.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

std::vector<std::uint32_t> possibly_changed(const StorageBase& pool) {
  std::vector<std::uint32_t> indices;
  pool.for_each_possibly_changed([&](std::uint32_t index, const void* value) {
    EXPECT_EQ(value, pool.find(index));
    indices.push_back(index);
  });
  std::sort(indices.begin(), indices.end());
  EXPECT_EQ(std::adjacent_find(indices.begin(), indices.end()), indices.end()) << "each value once";
  return indices;
}

struct ChangeTracking : testing::Test {
  ChangeTracking() {
    for (int i = 0; i < 1000; ++i) {
      world.emplace<Position>(world.create(), static_cast<float>(i), 0.0f);
      world.emplace<Burning>(world.entity_at(static_cast<std::uint32_t>(i)));
    }
    world.clear_changes();
  }
  Entity at(std::uint32_t index) { return world.entity_at(index); }
  std::vector<std::uint32_t> run(std::uint32_t index) {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t i = index / 64 * 64; i < index / 64 * 64 + 64 && i < 1000; ++i) indices.push_back(i);
    return indices;
  }

  World world;
  Storage<Position>& pool = world.storage<Position>();
};

TEST_F(ChangeTracking, NothingChangedCallsNobody) {
  EXPECT_FALSE(pool.any_changes());
  EXPECT_TRUE(possibly_changed(pool).empty());
}

TEST_F(ChangeTracking, AnnouncedChangesAreNotedOneByOne) {
  world.patch<Position>(at(70), [](Position& position) { position.x = 1; });
  world.replace<Position>(at(300), 1.0f, 1.0f);
  world.emplace_or_replace<Position>(at(500), 1.0f, 1.0f);
  pool.mark_dirty(at(999));
  EXPECT_EQ(possibly_changed(pool), (std::vector<std::uint32_t>{70, 300, 500, 999}));
  world.clear_changes();
  EXPECT_TRUE(possibly_changed(pool).empty());
}

TEST_F(ChangeTracking, AdditionsAreChangesOfTagsToo) {
  const Entity entity = world.create();
  world.emplace<Burning>(entity);
  EXPECT_EQ(possibly_changed(world.storage<Burning>()), (std::vector<std::uint32_t>{entity.index}));
}

// R13
TEST_F(ChangeTracking, WriteThroughAPlainReferenceIsNoticedWithItsRun) {
  world.get<Position>(at(130)).x = 7;
  EXPECT_EQ(possibly_changed(pool), run(130));
}

// R13
TEST_F(ChangeTracking, MutableTryGetTouchesAndConstAccessDoesNot) {
  world.get<const Position>(at(1));
  std::as_const(world).get<Position>(at(1));
  std::as_const(world).try_get<Position>(at(1));
  world.try_get<const Position>(at(1));
  pool.find(1);
  for ([[maybe_unused]] auto [entity, position] : world.view<const Position>()) {
  }
  world.view<const Position, Burning>().each([](const Position&) {});
  std::as_const(world).view<Position>().each([](const Position&) {});
  std::as_const(pool).values();
  EXPECT_TRUE(possibly_changed(pool).empty());
  world.try_get<Position>(at(1))->x = 2;
  EXPECT_EQ(possibly_changed(pool), run(1));
}

// R13
TEST_F(ChangeTracking, MutableLoopTouchesWhatItVisits) {
  for (std::uint32_t index = 100; index < 1000; ++index) world.remove<Burning>(at(index));
  world.view<Position, const Burning>().each([](Position& position) { position.x += 1; });
  std::vector<std::uint32_t> expected = run(0);
  for (const std::uint32_t index : run(64)) expected.push_back(index);
  EXPECT_EQ(possibly_changed(pool), expected) << "100 visited: two runs of 64";
  world.clear_changes();
  for (auto [entity, position] : world.view<Position>(exclude<Burning>)) position.x += 1;
  EXPECT_EQ(possibly_changed(pool).size(), 1000u - 64u);
  world.clear_changes();
  pool.values()[0].x = 9;
  EXPECT_EQ(possibly_changed(pool).size(), 1000u) << "a mutable span may write to any of them";
}

TEST_F(ChangeTracking, MarksFollowAValueThatIsMovedIntoAHole) {
  world.patch<Position>(at(999), [](Position&) {});
  world.remove<Position>(at(0));  // 999 moves to the place of 0
  EXPECT_EQ(possibly_changed(pool), (std::vector<std::uint32_t>{999}));
  EXPECT_TRUE(pool.is_dirty(at(999)));

  world.clear_changes();
  world.get<Position>(at(998)).x = 1;  // touches the last run
  world.remove<Position>(at(64));      // 998 moves into the run of 64 … 127
  const auto changed = possibly_changed(pool);
  EXPECT_TRUE(std::count(changed.begin(), changed.end(), 998u))
      << "the write before the move must not be lost";
}

TEST_F(ChangeTracking, AHoleDoesNotInheritTheMarkOfWhoLeft) {
  world.patch<Position>(at(5), [](Position&) {});
  world.remove<Position>(at(5));
  EXPECT_TRUE(possibly_changed(pool).empty());
}

// A model of what must be reported, over random operations: everything announced or handed out, and nobody
// twice.
TEST_F(ChangeTracking, ReportsEverythingWrittenOverRandomOperations) {
  Random random(3);
  std::set<std::uint32_t> written;
  std::set<std::uint32_t> announced;
  for (int step = 0; step < 50'000; ++step) {
    const Entity entity = at(random.below(1000));
    const bool has = world.all_of<Position>(entity);
    switch (random.below(7)) {
      case 0:
        if (has) {
          world.remove<Position>(entity);
          written.erase(entity.index);
          announced.erase(entity.index);
        }
        break;
      case 1:
        if (!has) {
          world.emplace<Position>(entity);
          announced.insert(entity.index);
        }
        break;
      case 2:
        if (has) {
          world.get<Position>(entity).x += 1;
          written.insert(entity.index);
        }
        break;
      case 3:
        if (has) {
          world.patch<Position>(entity, [](Position&) {});
          announced.insert(entity.index);
        }
        break;
      case 4:
        if (has) {
          world.replace<Position>(entity);
          announced.insert(entity.index);
        }
        break;
      default:
        break;
    }
    if (step % 97 != 0) continue;
    const auto reported = possibly_changed(pool);
    for (const std::uint32_t index : written) {
      ASSERT_TRUE(std::binary_search(reported.begin(), reported.end(), index)) << "lost a write to " << index;
    }
    std::set<std::uint32_t> dirty;
    pool.for_each_dirty([&](std::uint32_t index, const void*) { dirty.insert(index); });
    ASSERT_EQ(dirty, announced);
    if (random.below(4) == 0) {
      world.clear_changes();
      written.clear();
      announced.clear();
      ASSERT_TRUE(possibly_changed(pool).empty());
    }
  }
}

}  // namespace
}  // namespace shoal::test
