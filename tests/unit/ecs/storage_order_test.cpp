// The order of a pool: sorted by value, by entity, and as another pool; and the memory that a pool gives back.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "shared/base/random.hpp"
#include "tests/unit/ecs/test_components.hpp"

namespace shoal::test {
namespace {

using Indices = std::vector<std::uint32_t>;

Indices indices_of(const StorageBase& pool) {
  return {pool.indices().begin(), pool.indices().end()};
}
std::set<std::uint32_t> possibly_changed(const StorageBase& pool) {
  std::set<std::uint32_t> indices;
  pool.for_each_possibly_changed([&](std::uint32_t index, const void*) { indices.insert(index); });
  return indices;
}
std::set<std::uint32_t> dirty(const StorageBase& pool) {
  std::set<std::uint32_t> indices;
  pool.for_each_dirty([&](std::uint32_t index, const void*) { indices.insert(index); });
  return indices;
}
bool lower_x(const Position& a, const Position& b) {
  return a.x < b.x;
}

/// Entities 0 to count - 1 with a position whose x falls as the index rises.
struct StorageOrder : testing::Test {
  void fill(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      world.emplace<Position>(world.create(), static_cast<float>(count - i), static_cast<float>(i));
    }
    world.clear_changes();
  }
  Entity at(std::uint32_t index) { return world.entity_at(index); }

  World world;
  const Storage<Position>& pool = world.storage<Position>();
};

TEST_F(StorageOrder, SortByValueMovesValuesWithTheirEntities) {
  fill(300);
  world.sort<Position>(lower_x);
  EXPECT_TRUE(std::is_sorted(pool.values().begin(), pool.values().end(), lower_x));
  for (std::uint32_t index = 0; index < 300; ++index) {
    EXPECT_EQ(world.get<const Position>(at(index)),
              (Position{static_cast<float>(300 - index), static_cast<float>(index)}));
    EXPECT_EQ(pool.indices()[pool.position(index)], index);
  }
}

TEST_F(StorageOrder, SortByEntityNeedsNoValue) {
  for (int i = 0; i < 100; ++i) world.create();
  for (std::uint32_t i = 0; i < 100; ++i) world.emplace<Burning>(at(i * 37 % 100));
  world.sort<Burning>([](Entity a, Entity b) { return a < b; });
  const Indices sorted = indices_of(world.storage<Burning>());
  EXPECT_EQ(sorted.size(), 100u);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
}

TEST_F(StorageOrder, EqualsKeepTheirOrder) {
  fill(200);
  world.sort<Position>([](const Position& a, const Position& b) {
    return static_cast<int>(a.y) % 3 < static_cast<int>(b.y) % 3;
  });
  const auto place = [](std::uint32_t index) { return std::pair(index % 3, index); };
  const Indices sorted = indices_of(pool);
  EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end(),
                             [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); }));
}

TEST_F(StorageOrder, OwningValuesAreMovedOnce) {
  for (int i = 0; i < 50; ++i)
    world.emplace<Name>(world.create(), std::string(40, static_cast<char>('z' - i % 25)));
  world.sort<Name>([](const Name& a, const Name& b) { return a.text < b.text; });
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(world.get<const Name>(at(i)).text, std::string(40, static_cast<char>('z' - i % 25)));
  }
  EXPECT_EQ(world.storage<Name>().entity_at(0), at(24));
}

TEST_F(StorageOrder, AnEmptyPoolMayBeSorted) {
  world.sort<Position>(lower_x);
  world.sort_as<Position, Health>();
  EXPECT_TRUE(pool.empty());
}

TEST_F(StorageOrder, DirtyFollowsTheValueAndNothingElseBecomesDirty) {
  fill(1000);
  world.patch<Position>(at(3), [](Position&) {});
  world.patch<Position>(at(700), [](Position&) {});
  world.sort<Position>(lower_x);
  EXPECT_EQ(dirty(pool), (std::set<std::uint32_t>{3, 700}));
  EXPECT_EQ(possibly_changed(pool), (std::set<std::uint32_t>{3, 700}));
  EXPECT_TRUE(pool.is_dirty(at(3)));
}

TEST_F(StorageOrder, WriteThroughAReferenceIsStillNoticedAfterASort) {
  fill(1000);
  world.get<Position>(at(3)).x = 500.5f;
  world.sort<Position>(lower_x);
  EXPECT_TRUE(possibly_changed(pool).contains(3));
  EXPECT_TRUE(dirty(pool).empty()) << "handed out is not announced";
}

TEST_F(StorageOrder, AtRestASortLeavesThePoolAtRest) {
  fill(1000);
  world.sort<Position>(lower_x);
  EXPECT_FALSE(pool.any_changes());
}

TEST_F(StorageOrder, AsAnotherPoolComesFirstAndTheRestKeepsItsOrder) {
  fill(8);
  for (const std::uint32_t index : {6u, 1u, 4u}) world.emplace<Health>(at(index));
  world.emplace<Health>(world.create());  // has no position
  world.sort_as<Position, Health>();
  EXPECT_EQ(indices_of(pool), (Indices{6, 1, 4, 0, 2, 3, 5, 7}));
  EXPECT_EQ(world.get<const Position>(at(5)), (Position{3, 5}));
  world.sort_as<Position, Position>();
  EXPECT_EQ(indices_of(pool), (Indices{6, 1, 4, 0, 2, 3, 5, 7})) << "as itself";
}

TEST_F(StorageOrder, ComparisonThatThrowsMovesNothing) {
  fill(50);
  const Indices before = indices_of(pool);
  EXPECT_THROW(world.sort<Position>([](const Position&, const Position&) -> bool { throw 1; }), int);
  EXPECT_EQ(indices_of(pool), before);
  EXPECT_EQ(pool.values()[7], (Position{43, 7}));
}

TEST_F(StorageOrder, SortInsideALoopOverAnotherPoolIsAllowed) {
  fill(20);
  for (std::uint32_t i = 0; i < 5; ++i) world.emplace<Health>(at(i));
  int visited = 0;
  world.view<const Health>().each([&](Entity, const Health&) {
    world.sort<Position>(lower_x);
    ++visited;
  });
  EXPECT_EQ(visited, 5);
}

constexpr std::size_t whole_lines(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

TEST_F(StorageOrder, ShrinkGivesBackTheMemoryOfWhoLeft) {
  fill(10'000);
  const std::size_t full = pool.memory_bytes();
  for (std::uint32_t index = 100; index < 10'000; ++index) world.remove<Position>(at(index));
  EXPECT_EQ(pool.memory_bytes(), full) << "removal keeps the memory for those who come";
  world.shrink_to_fit();
  EXPECT_EQ(pool.capacity(), 104u) << "whole cache lines";
  constexpr std::size_t kValues = whole_lines(100 * sizeof(Position));
  constexpr std::size_t kIndices =
      whole_lines(100 * sizeof(std::uint32_t)) + SparseSet::kPageEntries * sizeof(std::uint32_t);
  constexpr std::size_t kMarks = whole_lines(8 * sizeof(std::uint64_t)) + whole_lines(8);  // eight runs of 64
  EXPECT_EQ(pool.memory_bytes(), kValues + kIndices + kMarks + sizeof(void*)) << "one page and its pointer";
  for (std::uint32_t index = 0; index < 100; ++index) {
    EXPECT_EQ(world.get<const Position>(at(index)).y, static_cast<float>(index));
  }
}

TEST_F(StorageOrder, ShrunkToNothingAPoolGrowsAgain) {
  for (int i = 0; i < 1000; ++i) world.emplace<Name>(world.create(), std::string(30, 'a'));
  StorageBase& names = world.storage<Name>();
  world.clear<Name>();
  names.shrink_to_fit();
  EXPECT_EQ(names.memory_bytes(), 0u);
  EXPECT_EQ(names.capacity(), 0u);
  EXPECT_FALSE(names.contains_index(999));
  world.emplace<Name>(at(999), "back");
  EXPECT_EQ(world.get<const Name>(at(999)).text, "back");
  EXPECT_TRUE(names.is_dirty(at(999)));
}

TEST_F(StorageOrder, ShrinkKeepsAnEmptyPageBetweenTwoUsedOnesReadable) {
  fill(1000);
  for (std::uint32_t index = 1; index < 999; ++index) world.remove<Position>(at(index));
  world.shrink_to_fit();
  EXPECT_TRUE(pool.contains_index(0));
  EXPECT_FALSE(pool.contains_index(500));
  EXPECT_TRUE(pool.contains_index(999));
  EXPECT_FALSE(pool.contains_index(5000));
  constexpr std::size_t kPages = 2 * SparseSet::kPageEntries * sizeof(std::uint32_t) + 4 * sizeof(void*);
  EXPECT_EQ(pool.memory_bytes(),
            whole_lines(2 * sizeof(Position)) + whole_lines(2 * sizeof(std::uint32_t)) + kPages + 2 * 64)
      << "the two pages between are gone";
  world.emplace<Position>(at(500), 5.0f, 0.0f);
  EXPECT_EQ(world.get<const Position>(at(500)).x, 5.0f);
}

TEST_F(StorageOrder, ShrinkKeepsWhatChanged) {
  fill(2000);
  for (std::uint32_t index = 600; index < 2000; ++index) world.remove<Position>(at(index));
  world.clear_changes();
  world.patch<Position>(at(599), [](Position&) {});
  world.shrink_to_fit();
  EXPECT_EQ(dirty(pool), (std::set<std::uint32_t>{599}));
  EXPECT_EQ(possibly_changed(pool), (std::set<std::uint32_t>{599}));
}

TEST_F(StorageOrder, MemoryOfTheRegistryIsThatOfItsParts) {
  fill(5000);
  std::size_t parts = world.entity_table().memory_bytes();
  for (std::uint16_t type = 0; type < world.component_count(); ++type) {
    parts += world.storage(ComponentType{type}).memory_bytes();
  }
  EXPECT_EQ(world.memory_bytes(), parts);
  EXPECT_GT(parts, 5000 * sizeof(Position));
}

struct StorageOrderDeathTest : StorageOrder {};

TEST_F(StorageOrderDeathTest, SortInsideALoopOverThePool) {
  fill(4);
  EXPECT_DEATH(world.view<Position>().each([&](Position&) { world.sort<Position>(lower_x); }),
               "the leading pool may change for the entity at hand only, and is not sorted");
  const auto sort_in_loop = [&] {
    for ([[maybe_unused]] auto [entity, position] : world.view<const Position>()) {
      world.sort_as<Position, Health>();
    }
  };
  EXPECT_DEATH(sort_in_loop(), "is not sorted");
}

TEST_F(StorageOrderDeathTest, SortInsideASignalOfThePool) {
  fill(4);
  const ScopedConnection connection = world.on_destroy<Position>().connect_scoped(
      [](Registry& registry, Entity) { registry.sort<Position>(lower_x); });
  EXPECT_DEATH(world.remove<Position>(at(0)), "sort of test.Position: a signal of this pool runs");
}

TEST_F(StorageOrderDeathTest, SortAsAPoolOfAnotherRegistry) {
  World other;
  EXPECT_DEATH(world.storage<Position>().sort_as(other.storage<Position>()), "another registry");
}

// Random additions, removals, writes and sorts, against a map of the values and the order that a sort of a
// plain vector gives.
class StorageOrderModel : public testing::TestWithParam<std::uint64_t> {
 protected:
  static constexpr std::uint32_t kEntities = 400;
  StorageOrderModel() : random(GetParam()) {
    for (std::uint32_t i = 0; i < kEntities; ++i) world.create();
  }

  void change(Entity entity) {
    const std::uint32_t index = entity.index;
    const auto x = static_cast<float>(random.below(20));  // few values, so that many are equal
    if (!world.all_of<Position>(entity)) {
      world.emplace<Position>(entity, x, 1.0f);
      announced.insert(index);
    } else if (random.below(3) == 0) {
      world.remove<Position>(entity);
      model.erase(index);
      announced.erase(index);
      written.erase(index);
      return;
    } else if (random.below(2) == 0) {
      world.replace<Position>(entity, x, 1.0f);
      announced.insert(index);
    } else {
      world.get<Position>(entity).x = x;
      written.insert(index);
    }
    model[index] = x;
  }
  void change_other(Entity entity) {
    if (world.all_of<Health>(entity)) {
      world.remove<Health>(entity);
    } else {
      world.emplace<Health>(entity);
    }
  }
  void sort() {
    Indices expected = indices_of(pool);
    switch (random.below(3)) {
      case 0:
        world.sort<Position>(lower_x);
        std::stable_sort(expected.begin(), expected.end(),
                         [&](auto a, auto b) { return model[a] < model[b]; });
        break;
      case 1:
        world.sort<Position>([](Entity a, Entity b) { return a > b; });
        std::sort(expected.begin(), expected.end(), std::greater<>());
        break;
      default: {
        world.sort_as<Position, Health>();
        const auto rank = [&](std::uint32_t index) { return world.storage<Health>().position(index); };
        std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return rank(a) < rank(b); });
      }
    }
    ASSERT_EQ(indices_of(pool), expected);
  }
  void compare() {
    ASSERT_EQ(pool.size(), model.size());
    for (const auto& [index, x] : model) {
      const std::uint32_t at = pool.position(index);
      ASSERT_NE(at, StorageBase::kAbsent) << index;
      ASSERT_EQ(pool.indices()[at], index);
      ASSERT_EQ(pool.values()[at].x, x) << "the value of " << index;
    }
    ASSERT_EQ(dirty(pool), announced);
    const auto reported = possibly_changed(pool);
    for (const std::uint32_t index : written)
      ASSERT_TRUE(reported.contains(index)) << "lost a write to " << index;
  }

  World world;
  const Storage<Position>& pool = world.storage<Position>();
  Random random;
  std::map<std::uint32_t, float> model;
  std::set<std::uint32_t> announced;
  std::set<std::uint32_t> written;
};

TEST_P(StorageOrderModel, ValuesEntitiesAndMarksStayTogether) {
  for (int step = 0; step < 20'000; ++step) {
    const Entity entity = world.entity_at(random.below(kEntities));
    random.below(4) == 0 ? change_other(entity) : change(entity);
    if (random.below(50) != 0) continue;
    sort();
    compare();
    if (HasFatalFailure()) return;
    if (random.below(3) == 0) {
      world.clear_changes();
      announced.clear();
      written.clear();
      ASSERT_TRUE(possibly_changed(pool).empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StorageOrderModel, testing::Range<std::uint64_t>(1, 5));

}  // namespace
}  // namespace shoal::test
