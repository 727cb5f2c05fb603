#include "server/chunk.hpp"

#include <gtest/gtest.h>

#include "schema/components_descriptors.hpp"
namespace shoal {
namespace {

class ChunkTest : public ::testing::Test {
 protected:
  /// Changes the chunk so that it has a new version at this tick.
  void change(Chunk& chunk, std::uint32_t tick) {
    if (slot_) chunk.unbind(*slot_, Tick{tick}, DepartureReason::Destroyed);
    slot_ = chunk.bind(Entity{3, ++generation_});
    chunk.commit(Tick{tick});
  }

  /// The same without anyone leaving.
  void change_value(Chunk& chunk, std::uint32_t tick) {
    ComponentIndex component = 0;
    while (table[component].column_count != 1) ++component;
    if (!slot_) {
      slot_ = chunk.bind(Entity{3, 1});
      chunk.add_component(component, *slot_);
    }
    const std::uint32_t value = 1 + tick % 2;
    chunk.set_values(component, *slot_, std::span(&value, 1));
    chunk.commit(Tick{tick});
  }

  ComponentTable table{demo::component_descriptors()};
  ColumnPool pool;
  std::optional<Slot> slot_;
  std::uint32_t generation_ = 0;
};

TEST_F(ChunkTest, OldVersionsGoUnlessPinnedAndOfThosePinnedTheNewestStay) {
  Chunk chunk(table, pool, ChunkId{0});
  for (std::uint32_t tick = 1; tick <= 200; ++tick) {
    change_value(chunk, tick);
    if (tick <= 20) {
      EXPECT_TRUE(chunk.pin(Tick{tick}));
    }
    chunk.trim(Tick{tick});
  }
  EXPECT_EQ(chunk.version_count(), kHistoryTicks + kPinnedVersions);
  EXPECT_EQ(chunk.find(Tick{12}), nullptr);
  EXPECT_NE(chunk.find(Tick{13}), nullptr);
  EXPECT_FALSE(chunk.pin(Tick{50})) << "neither young nor pinned";
  for (std::uint32_t tick = 13; tick <= 20; ++tick) chunk.unpin(Tick{tick});
  EXPECT_TRUE(chunk.trim(Tick{120}));
  EXPECT_FALSE(chunk.trim(Tick{400})) << "at rest: only the current version is left";
  EXPECT_EQ(chunk.version_count(), 1u);
}

TEST_F(ChunkTest, DepartureLogReachesBackToTheOldestVersionNoFurther) {
  Chunk chunk(table, pool, ChunkId{0});
  for (std::uint32_t tick = 1; tick <= 20; ++tick) change(chunk, tick);
  EXPECT_EQ(chunk.departures().size(), 19u);
  chunk.trim(Tick{20 + kHistoryTicks});
  EXPECT_EQ(chunk.version_count(), 1u);
  EXPECT_TRUE(chunk.departures().empty());
}

// P21: a client that acknowledges nothing more pins its baseline; who leaves meanwhile must not be logged for ever.
TEST_F(ChunkTest, PinnedBaselineIsGivenUpWhenABlockCouldNotTellWhoLeft) {
  Chunk chunk(table, pool, ChunkId{0});
  change(chunk, 1);
  ASSERT_TRUE(chunk.pin(Tick{1}));
  for (std::uint32_t tick = 2; tick <= 1000; ++tick) {
    change(chunk, tick);
    chunk.trim(Tick{tick});
    ASSERT_LE(chunk.departures().size(), kChunkSlots + kMaxExtraDepartures + kHistoryTicks)
        << "at tick " << tick;
  }
  EXPECT_EQ(chunk.find(Tick{1}), nullptr);
}

TEST_F(ChunkTest, SameBaselineIsEncodedOnce) {
  Chunk chunk(table, pool, ChunkId{0});
  change(chunk, 1);
  change(chunk, 2);
  change(chunk, 3);
  std::uint64_t encoded = 0;
  chunk.encode(Tick{1}, encoded);
  chunk.encode(Tick{1}, encoded);
  chunk.encode(Tick{2}, encoded);
  chunk.encode(std::nullopt, encoded);
  chunk.encode(std::nullopt, encoded);
  EXPECT_EQ(encoded, 3u);
  change(chunk, 4);
  chunk.encode(Tick{1}, encoded);
  EXPECT_EQ(encoded, 4u) << "another version, another block";
}

TEST_F(ChunkTest, BlockWithTooManyDeparturesIsTheFullState) {
  Chunk chunk(table, pool, ChunkId{0});
  change(chunk, 1);
  for (std::uint32_t tick = 2; tick < 4 + kMaxExtraDepartures; ++tick) change(chunk, tick);
  std::uint64_t encoded = 0;
  const EncodedBlock* block = chunk.encode(Tick{1}, encoded);
  ASSERT_TRUE(block);
  EXPECT_FALSE(block->from.has_value());
  EXPECT_GT(block->size, 0u);
}

TEST_F(ChunkTest, FullStateServesEveryBaselineFromWhichNoBlockFits) {
  Chunk chunk(table, pool, ChunkId{0});
  change(chunk, 1);
  for (std::uint32_t tick = 2; tick < 4 + kMaxExtraDepartures; ++tick) change(chunk, tick);
  std::uint64_t encoded = 0;
  const EncodedBlock* full = chunk.encode(Tick{1}, encoded);
  EXPECT_EQ(chunk.encode(Tick{1}, encoded), full);
  EXPECT_EQ(chunk.encode(std::nullopt, encoded), full);
  EXPECT_EQ(encoded, 1u) << "one full state for all";
}

// P4: whoever names a baseline that is not kept is told so, and chooses what to do about it.
TEST_F(ChunkTest, BaselineThatIsNotKeptGivesNoBlock) {
  Chunk chunk(table, pool, ChunkId{0});
  change_value(chunk, 1);
  change_value(chunk, 2);
  std::uint64_t encoded = 0;
  EXPECT_TRUE(chunk.encode(Tick{1}, encoded));
  chunk.trim(Tick{1 + kHistoryTicks});
  change_value(chunk, 2 + kHistoryTicks);
  EXPECT_EQ(chunk.encode(Tick{1}, encoded), nullptr);
  EXPECT_EQ(encoded, 1u);
  EXPECT_TRUE(chunk.encode(std::nullopt, encoded)) << "never without one";
}

// P20: what a chunk may hold is what its audience may see, and that alone is what its room is reckoned by.
TEST_F(ChunkTest, SlotTakesLessRoomWhereTheAudienceHasFewerComponents) {
  const Chunk everyone(table, pool, ChunkId::of(Audience::Everyone, 0));
  const Chunk owner(table, pool, ChunkId::of(Audience::Owner, 1));
  EXPECT_LT(table.worst_slot_bits(Audience::Owner), table.worst_slot_bits(Audience::Everyone));
  std::size_t bits = 0;
  while (everyone.has_room(bits)) ++bits;
  EXPECT_FALSE(owner.has_room(bits)) << "an empty chunk has the same room for all audiences";
  EXPECT_TRUE(owner.has_room(bits - 1));
}

}  // namespace
}  // namespace shoal
