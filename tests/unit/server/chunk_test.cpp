#include "server/chunk.hpp"

#include <gtest/gtest.h>

#include "schema/components_descriptors.hpp"
#include "server/client_view.hpp"

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

// P21: a client that acknowledges nothing more pins its baseline.
TEST(ChunkStore, ChunkAtRestForMoreThanHalfTheTicksGoesOn) {
  const ComponentTable table(demo::component_descriptors());
  ChunkStore chunks(table);
  Chunk& chunk = chunks.with_room(table.worst_slot_bits());
  chunk.bind(Entity{3, 1});
  constexpr std::uint32_t kStep = 1u << 20;
  Tick now{100};
  chunks.end_tick(now);
  for (std::uint32_t i = 0; i < 5000; ++i) {  // past the wrap
    now = now + kStep;
    chunks.end_tick(now);
    ASSERT_LE(chunk.current().tick(), now) << "a version must not seem to be of the future";
  }
  EXPECT_EQ(chunk.version_count(), 1u);
  chunk.bind(Entity{4, 1});
  chunks.touched(chunk.id());
  chunks.end_tick(now + 1);
  EXPECT_EQ(chunk.current().tick(), now + 1);
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
  const EncodedBlock& block = chunk.encode(Tick{1}, encoded);
  EXPECT_FALSE(block.from.has_value());
  EXPECT_GT(block.size, 0u);
}

TEST_F(ChunkTest, BaselineFromWhichNoBlockFitsIsTriedOnce) {
  Chunk chunk(table, pool, ChunkId{0});
  change(chunk, 1);
  for (std::uint32_t tick = 2; tick < 4 + kMaxExtraDepartures; ++tick) change(chunk, tick);
  std::uint64_t encoded = 0;
  const EncodedBlock& full = chunk.encode(Tick{1}, encoded);
  chunk.trim(Tick{1000});
  ASSERT_EQ(chunk.find(Tick{1}), nullptr);
  EXPECT_EQ(&chunk.encode(Tick{1}, encoded), &full) << "no second try: the baseline is not even looked for";
  EXPECT_EQ(encoded, 1u);
}

// --- what a client has and gets ---

class ClientViewTest : public ::testing::Test {
 protected:
  ClientViewTest() : view(chunks, counters) {}

  void change(std::uint32_t tick) {
    now = Tick{tick};
    Chunk& chunk = chunks.size() == 0 ? chunks.with_room(table.worst_slot_bits()) : chunks[ChunkId{0}];
    if (slot) chunk.unbind(*slot, now, DepartureReason::Destroyed);
    slot = chunk.bind(Entity{3, ++generation});
    chunks.touched(chunk.id());
    chunks.end_tick(now);
  }
  /// What is chosen now, sent under a new sequence; none when nothing is due.
  std::optional<ChosenBlock> send() {
    view.begin_tick(now);
    const auto blocks = view.choose(kMaxBlockBytes + 100, 20);
    if (blocks.empty()) return std::nullopt;
    const ChosenBlock block = blocks[0];
    view.sent(Sequence{++sequence}, now);
    return block;
  }

  ComponentTable table{demo::component_descriptors()};
  ChunkStore chunks{table};
  ReplicationCounters counters;
  ClientView view;
  std::optional<Slot> slot;
  std::uint32_t generation = 0;
  std::uint64_t sequence = 0;
  Tick now{};
};

TEST_F(ClientViewTest, VersionInFlightIsNotSentAgainUntilItIsLost) {
  change(1);
  EXPECT_TRUE(send());
  EXPECT_FALSE(send());
  view.on_lost(Sequence{1});
  EXPECT_TRUE(send()) << "lost";
  view.on_acknowledged(Sequence{2});
  EXPECT_FALSE(send());
  EXPECT_TRUE(view.has_everything());
}

TEST_F(ClientViewTest, AcknowledgementThatComesAfterTheLossWasAssumedCounts) {
  change(1);
  ASSERT_TRUE(send());
  change(2);
  ASSERT_TRUE(send());
  view.on_acknowledged(Sequence{1});
  view.on_lost(Sequence{2});
  ASSERT_TRUE(send());
  view.on_acknowledged(Sequence{3});
  EXPECT_EQ(view.baseline(ChunkId{0}), Tick{2});
  EXPECT_FALSE(send());
}

TEST_F(ClientViewTest, BaselineNeverGoesBack) {
  change(1);
  ASSERT_TRUE(send());
  change(2);
  ASSERT_TRUE(send());
  view.on_acknowledged(Sequence{2});
  view.on_acknowledged(Sequence{1});
  EXPECT_EQ(view.baseline(ChunkId{0}), Tick{2});
}

// P4: the baseline fell out of the history: the full state, counted.
TEST_F(ClientViewTest, BaselineOutOfHistoryIsAnsweredByTheFullState) {
  change(1);
  ASSERT_TRUE(send());
  view.on_acknowledged(Sequence{1});
  chunks[ChunkId{0}].unpin(Tick{1});  // as when more than kPinnedVersions older ones are pinned
  change(2);
  change(2 + kHistoryTicks);
  ASSERT_EQ(chunks[ChunkId{0}].find(Tick{1}), nullptr);
  const auto block = send();
  ASSERT_TRUE(block);
  EXPECT_FALSE(block->from.has_value());
  EXPECT_EQ(counters.baseline_misses, 1u);
}

TEST_F(ClientViewTest, ResyncOfAVersionThatWasAcknowledgedBeforeEnds) {
  change(1);
  ASSERT_TRUE(send());
  view.on_acknowledged(Sequence{1});
  EXPECT_TRUE(view.on_resync(ChunkId{0}, Epoch{1}, now));
  const auto block = send();
  ASSERT_TRUE(block);
  EXPECT_FALSE(block->from.has_value());
  view.on_acknowledged(Sequence{2});
  EXPECT_TRUE(view.has_everything());
}

TEST_F(ClientViewTest, EndlessResyncsAreAnsweredNowAndThen) {
  change(1);
  send();
  std::uint32_t answered = 0;
  for (std::uint32_t tick = 0; tick < 150; ++tick) {
    now = Tick{100 + tick};
    answered += view.on_resync(ChunkId{0}, Epoch{1}, now) ? 1u : 0u;
  }
  EXPECT_EQ(answered, 150u / kResyncTicks);
  EXPECT_FALSE(view.on_resync(ChunkId{9}, Epoch{1}, now));
  EXPECT_FALSE(view.on_resync(ChunkId{0}, Epoch{7}, now));
  EXPECT_EQ(counters.bad_resyncs, 2u);
}

TEST_F(ClientViewTest, ResyncLongAfterTheLastOneIsAnswered) {
  change(1);
  ASSERT_TRUE(send());
  EXPECT_TRUE(view.on_resync(ChunkId{0}, Epoch{1}, Tick{1}));
  EXPECT_TRUE(view.on_resync(ChunkId{0}, Epoch{1}, Tick{0x80000002})) << "more than half of all ticks later";
}

TEST_F(ClientViewTest, AcknowledgementOfWhatWasNeverSentIsNothing) {
  change(1);
  send();
  view.on_acknowledged(Sequence{77});
  view.on_lost(Sequence{1 + (1u << 10)});
  EXPECT_FALSE(view.baseline(ChunkId{0}));
  EXPECT_EQ(view.in_flight(), 1u);
}

}  // namespace
}  // namespace shoal
