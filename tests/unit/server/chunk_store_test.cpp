#include "server/chunk_store.hpp"

#include <gtest/gtest.h>

#include <set>

#include "shared/base/random.hpp"
#include "tests/unit/server/replicated_world.hpp"

namespace shoal {
namespace {

using namespace demo;

class ChunkStoreTest : public ::testing::Test, protected test::ReplicatedWorld {
 protected:
  static constexpr float kHere = 16;
  const SquareKey here = SquareKey::cell(0, 0);
  std::vector<Entity> create_here(int count) {
    std::vector<Entity> result;
    for (int i = 0; i < count; ++i) result.push_back(create_at(kHere, kHere));
    return result;
  }
};

TEST_F(ChunkStoreTest, EmptyChunkIsRetiredAndItsIndexUsedAgainUnderANewId) {
  const Entity entity = create_at(kHere, kHere);
  end_tick();
  const ChunkIndex index = index_of(entity);
  const ChunkId id = chunks[index].id();
  registry.destroy(entity);
  end_tick();
  end_ticks(kRetireTicks - 1);
  EXPECT_EQ(chunks.index_of(id), index) << "clients should hear what became of who was in it";
  end_tick();
  EXPECT_EQ(chunks.find(id), nullptr);
  EXPECT_EQ(chunks.size(), 0u);

  const Entity next = create_at(500, 500);
  end_tick();
  EXPECT_EQ(index_of(next), index);
  EXPECT_NE(chunk_of(next).id(), id);
  EXPECT_EQ(chunks.find(id), nullptr);
  EXPECT_EQ(chunks.index_end(), 1u);
  EXPECT_EQ(chunks.current_ticks()[index.value], now);
}

TEST_F(ChunkStoreTest, ChunkThatIsFilledAndEmptiedAgainStaysItsTime) {
  const Entity first = create_at(kHere, kHere);
  end_tick();
  const ChunkId id = chunk_of(first).id();
  registry.destroy(first);
  end_ticks(kRetireTicks / 2);
  const Entity second = create_at(kHere, kHere);
  end_ticks(2 * kRetireTicks);
  EXPECT_EQ(chunk_of(second).id(), id) << "somebody is in it";
  registry.destroy(second);
  end_ticks(kRetireTicks);
  EXPECT_NE(chunks.find(id), nullptr);
  end_tick();
  EXPECT_EQ(chunks.find(id), nullptr);
}

TEST_F(ChunkStoreTest, ChunkThatWasFilledAndEmptiedBetweenTwoLooksStaysItsTime) {
  const Entity first = create_at(kHere, kHere);
  end_tick();
  const ChunkId id = chunk_of(first).id();
  registry.destroy(first);
  end_ticks(kRetireTicks - 10);
  const Entity second = create_at(kHere, kHere);
  end_tick();
  registry.destroy(second);
  end_ticks(kRetireTicks);
  EXPECT_NE(chunks.find(id), nullptr) << "it is as if it had been empty since then only";
  end_tick();
  EXPECT_EQ(chunks.find(id), nullptr);
}

TEST_F(ChunkStoreTest, RetiredChunkIsKeptWhileAClientFollowsIt) {
  const Entity entity = create_at(kHere, kHere);
  end_tick();
  const ChunkIndex index = index_of(entity);
  const ChunkId id = chunks[index].id();
  chunks.follow(index);
  chunks.follow(index);
  registry.destroy(entity);
  end_ticks(kRetireTicks + 1);
  EXPECT_TRUE(chunks.chunks_of(here).empty()) << "it belongs to no square any more";
  ASSERT_NE(chunks.find(id), nullptr);
  const Entity next = create_at(kHere, kHere);
  end_tick();
  EXPECT_NE(index_of(next), index) << "nobody moves in";
  chunks.unfollow(index);
  EXPECT_NE(chunks.find(id), nullptr) << "one of two let go";
  chunks.unfollow(index);
  EXPECT_EQ(chunks.find(id), nullptr);
  EXPECT_EQ(chunks.size(), 1u);
  end_ticks(3);
}

TEST_F(ChunkStoreTest, SquareVanishesWithItsLastChunkAndComesBack) {
  const Entity entity = create_at(kHere, kHere);
  create_at(500, 500);
  end_tick();
  EXPECT_EQ(chunks.square_count(), 2u);
  const std::uint64_t layout = chunks.layout();
  move_to(entity, 505, 505);
  end_tick();
  EXPECT_EQ(chunks.layout(), layout) << "it went into a chunk that was there";
  end_ticks(kRetireTicks);
  EXPECT_EQ(chunks.square_count(), 1u);
  EXPECT_TRUE(chunks.chunks_of(here).empty());
  EXPECT_EQ(chunks.layout(), layout + 1);
  move_to(entity, kHere, kHere);
  end_tick();
  ASSERT_EQ(chunks.chunks_of(here).size(), 1u);
  EXPECT_EQ(chunks.chunks_of(here)[0], index_of(entity));
  EXPECT_EQ(chunks.layout(), layout + 2);
}

TEST_F(ChunkStoreTest, NearlyEmptyChunkMovesInWithAFullerOne) {
  const auto entities = create_here(90);
  for (const Entity entity : entities) registry.emplace<Health>(entity, std::uint16_t{7}, std::uint16_t{9});
  end_tick();
  ASSERT_EQ(chunks.size(), 2u);
  const ChunkIndex first = index_of(entities.front());
  const ChunkIndex last = index_of(entities.back());
  ASSERT_NE(first, last);
  std::vector<Entity> in_last;
  int kept_in_first = 0;
  for (const Entity entity : entities) {
    const bool is_kept =
        index_of(entity) == last ? in_last.size() < 6 : index_of(entity) == first && ++kept_in_first <= 20;
    if (!is_kept) {
      registry.destroy(entity);
    } else if (index_of(entity) == last) {
      in_last.push_back(entity);
    }
  }
  end_tick();
  const auto still_there = [&] {
    return std::count_if(in_last.begin(), in_last.end(),
                         [&](Entity entity) { return index_of(entity) == last; });
  };
  const std::uint64_t commits = chunks.commits();
  for (std::uint32_t i = 0; i < 8 && still_there() > 0; ++i) end_tick();
  ASSERT_EQ(still_there(), 0);
  EXPECT_LE(chunks.commits() - commits, 8u) << "two chunks a tick";
  std::size_t told = 0;
  for (const Departure& departure : chunks[last].departures()) {
    if (departure.reason != DepartureReason::Moved) continue;
    ++told;
    EXPECT_EQ(departure.target, chunks[first].id());
  }
  EXPECT_EQ(told, in_last.size());
  for (const Entity entity : in_last) {
    EXPECT_EQ(index_of(entity), first);
    const ColumnIndex current = table[component("shoal.demo.Health")].first_column;
    EXPECT_EQ(chunks[first].current().value(current, tracker->binding(entity).slot), 7u);
  }
  EXPECT_EQ(chunks[first].bound_count(), 26u);
  end_ticks(kRetireTicks + 1);
  EXPECT_EQ(chunks.chunks_of(here).size(), 1u) << "the empty ones are gone";
}

TEST_F(ChunkStoreTest, ChunksThatAreNotNearlyEmptyStayApart) {
  const auto entities = create_here(100);
  end_tick();
  ASSERT_EQ(chunks.size(), 2u);
  const ChunkIndex first = index_of(entities.front());
  std::size_t left[2] = {};
  for (const Entity entity : entities) {
    if (++left[index_of(entity) == first ? 0 : 1] > 20) registry.destroy(entity);
  }
  end_tick();
  const std::uint64_t commits = chunks.commits();
  end_ticks(20);
  EXPECT_EQ(chunks.commits(), commits) << "twenty and twenty would fit; yet each move costs its full values";
  EXPECT_EQ(chunks[first].bound_count(), 20u);
}

TEST_F(ChunkStoreTest, IdsAreNeverGivenAgain) {
  Random random(4);
  std::set<std::uint32_t> seen;
  std::vector<ChunkId> owner_of(64);  // by index, as of the last tick
  std::vector<Entity> alive;
  std::uint32_t next_number = 0;
  for (int round = 0; round < 40; ++round) {
    for (const Entity entity : alive) registry.destroy(entity);
    alive.clear();
    for (std::uint32_t i = random.below(6); i > 0; --i)
      alive.push_back(create_at(random.uniform(-1000, 1000), random.uniform(-1000, 1000)));
    end_tick();
    chunks.for_each([&](ChunkIndex index, const Chunk& chunk) {
      owner_of.resize(std::max<std::size_t>(owner_of.size(), index.value + 1));
      if (owner_of[index.value] == chunk.id() && seen.contains(chunk.id().value)) return;
      EXPECT_TRUE(seen.insert(chunk.id().value).second) << "id " << chunk.id().value << " lives again";
      next_number = std::max(next_number, chunk.id().number() + 1);
      owner_of[index.value] = chunk.id();
    });
    end_ticks(kRetireTicks / 4);
  }
  EXPECT_EQ(seen.size(), next_number) << "in order, without gaps";
  EXPECT_LT(chunks.index_end(), seen.size()) << "indices are used again, ids are not";
}

// P20: one filter for values, removals and reasons: what is not of the audience never gets into the chunk.
TEST_F(ChunkStoreTest, ChunkHoldsOnlyComponentsOfItsAudience) {
  for (std::uint32_t i = 0; i < 10; ++i) {
    const Entity entity = create_at(kHere * static_cast<float>(i), kHere);
    registry.emplace<OnTeam>(entity, i % 2);
    registry.emplace<OwnedBy>(entity, entity);
    registry.emplace<Health>(entity);
    registry.emplace<Waypoint>(entity);
    registry.emplace<Ammunition>(entity);
  }
  end_tick();
  std::array<std::size_t, kAudiences> bound{};
  chunks.for_each([&](ChunkIndex index, const Chunk& chunk) {
    const Audience audience = chunks.square_of(index).audience();
    EXPECT_EQ(chunk.id().audience(), audience);
    bound[static_cast<std::size_t>(audience)] += chunk.bound_count();
    for (ComponentIndex component = 0; component < table.size(); ++component) {
      if (table[component].audience != audience) {
        EXPECT_EQ(chunk.current().present(component), 0u) << table[component].name;
      }
    }
  });
  EXPECT_EQ(bound, (std::array<std::size_t, kAudiences>{10, 10, 10}));
}

// P14, and the order of ticks: what rests for more than half of them must not seem to be of the future.
TEST_F(ChunkStoreTest, ChunkAtRestForMoreThanHalfTheTicksGoesOn) {
  const ChunkIndex index = chunks.with_room(SquareKey::always(), table.worst_slot_bits(Audience::Everyone));
  chunks[index].bind(Entity{3, 1});
  constexpr std::uint32_t kStep = 1u << 20;
  now = Tick{100};
  chunks.end_tick(now);
  for (std::uint32_t i = 0; i < 5000; ++i) {  // past the wrap
    now = now + kStep;
    chunks.end_tick(now);
    ASSERT_LE(chunks[index].current().tick(), now);
    ASSERT_EQ(chunks.current_ticks()[index.value], chunks[index].current().tick());
  }
  EXPECT_EQ(chunks[index].version_count(), 1u);
  chunks[index].bind(Entity{4, 1});
  chunks.touched(index);
  chunks.end_tick(now + 1);
  EXPECT_EQ(chunks[index].current().tick(), now + 1);
}

}  // namespace
}  // namespace shoal
