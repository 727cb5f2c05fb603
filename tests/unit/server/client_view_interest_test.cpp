// Chunks that come into a client's interest and leave it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/server/client_view_harness.hpp"

namespace shoal {
namespace {

constexpr InterestConfig kConfig{.square_size = 32, .radius = 100};
constexpr Place kHere{16, 16};
constexpr Place kFarAway{700, 700};

class ClientViewInterestTest : public test::ClientViewHarness {
 protected:
  ClientViewInterestTest() : ClientViewHarness(kConfig) {}
  void leave() { viewer.place = kFarAway; }
  void come_back() { viewer.place = kHere; }
};

TEST_F(ClientViewInterestTest, ChunkThatLeftIsToldUntilThatIsAcknowledged) {
  const Entity entity = create_at(16, 16);
  settle();
  leave();
  const auto first = run_tick();
  ASSERT_EQ(drops_of(first).size(), 1u);
  EXPECT_EQ(drops_of(first)[0].chunk, chunk_id(entity));
  EXPECT_EQ(drops_of(first)[0].epoch, Epoch{1});
  EXPECT_EQ(view.chunk_count(), 0u);
  EXPECT_FALSE(view.has_everything()) << "the client may not know";
  EXPECT_TRUE(run_tick().empty()) << "while it is in flight";
  lose(first);
  const auto second = run_tick();
  EXPECT_EQ(drops_of(second).size(), 1u) << "lost";
  acknowledge(second);
  EXPECT_EQ(view.pending_drops(), 0u);
  EXPECT_TRUE(view.has_everything());
  EXPECT_TRUE(run_tick().empty());
}

// P6: three that left at different times, and the word of the middle one is under way alone.
TEST_F(ClientViewInterestTest, WordOfOneDropSaysNothingOfAnotherThatIsStillUnderWay) {
  std::vector<Entity> entities;
  for (const float x : {16.0f, 48.0f, 80.0f}) entities.push_back(create_at(x, 16));
  settle();
  const auto move_out = [&](std::size_t which) {
    world.registry.destroy(entities[which]);
    world.end_ticks(kRetireTicks + 1);
    return send_all(view);
  };
  const auto first = move_out(0);
  ASSERT_EQ(drops_of(first).size(), 1u);
  const auto second = move_out(1);
  ASSERT_EQ(drops_of(second).size(), 1u);
  lose(first);
  const auto third = move_out(2);  // carries the first again, beside its own
  acknowledge(third);
  lose(second);
  std::vector<test::Sent> rest = run_tick();
  for (const test::Sent& datagram : run_tick()) rest.push_back(datagram);
  const auto told = drops_of(rest);
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [&](const DroppedChunk& drop) {
    return drop.chunk == drops_of(second)[0].chunk;
  })) << "the second was lost and must be told again";
}

TEST_F(ClientViewInterestTest, WhatNeverLeftNeedsNoEnd) {
  create_at(16, 16);
  ASSERT_TRUE(run_tick(0).empty());
  ASSERT_EQ(view.chunk_count(), 1u);
  leave();
  EXPECT_TRUE(run_tick().empty());
  EXPECT_TRUE(view.has_everything());
}

// P6: the client waits for a chunk into which something moved; it must hear when it waits in vain.
TEST_F(ClientViewInterestTest, ChunkThatNeverLeftButWasNamedAsTargetOfAMoveIsToldAsDropped) {
  const Entity anchor = create_at(16, 16);
  const Entity walker = create_at(17, 16);
  settle();
  full_states = SendBudget(1000, Time{});
  full_states.spend_state(1u << 20);  // so that the new chunk's full state has to wait
  world.move_to(walker, 80, 16);
  const auto left = run_tick();
  ASSERT_EQ(blocks_of(left).size(), 1u);
  ASSERT_EQ(blocks_of(left)[0].chunk, chunk_id(anchor));
  ASSERT_TRUE(left[0].absent.empty()) << "the target is in interest";
  leave();
  const auto next = run_tick();
  const auto told = drops_of(next);
  EXPECT_TRUE(std::any_of(told.begin(), told.end(), [&](const DroppedChunk& drop) {
    return drop.chunk == chunk_id(walker);
  })) << "who moved there would stay on the client's screen for ever";
}

TEST_F(ClientViewInterestTest, ChunkThatComesBackStartsFromNothingInANewEpoch) {
  const Entity entity = create_at(16, 16);
  settle();
  for (std::uint16_t epoch = 2; epoch < 6; ++epoch) {
    leave();
    const auto drop = run_tick();
    if (epoch % 2 == 0) acknowledge(drop);
    come_back();
    const auto left = run_tick();
    ASSERT_EQ(blocks_of(left).size(), 1u);
    EXPECT_EQ(blocks_of(left)[0].chunk, chunk_id(entity));
    EXPECT_EQ(blocks_of(left)[0].epoch, Epoch{epoch});
    EXPECT_FALSE(blocks_of(left)[0].from);
    acknowledge(left);
  }
  EXPECT_EQ(counters.chunks_entered, 5u);
}

TEST_F(ClientViewInterestTest, AcknowledgementOfAnEpochThatIsOverChangesNothing) {
  const Entity entity = create_at(16, 16);
  const auto of_first = run_tick();
  ASSERT_EQ(blocks_of(of_first).size(), 1u);
  leave();
  acknowledge(run_tick());
  come_back();
  const auto of_second = run_tick();
  ASSERT_EQ(blocks_of(of_second).size(), 1u);
  acknowledge(of_first);
  EXPECT_FALSE(baseline(chunk_id(entity))) << "the client threw that away when it heard of the drop";
  EXPECT_EQ(view.chunks_missing(), 1u);
  lose(of_second);
  const auto again = run_tick();
  ASSERT_EQ(blocks_of(again).size(), 1u);
  EXPECT_FALSE(blocks_of(again)[0].from);
}

TEST_F(ClientViewInterestTest, LossOfAnEpochThatIsOverChangesNothing) {
  create_at(16, 16);
  const auto of_first = run_tick();
  leave();
  acknowledge(run_tick());
  come_back();
  acknowledge(run_tick());
  ASSERT_TRUE(view.has_everything());
  lose(of_first);
  EXPECT_TRUE(view.has_everything());
  EXPECT_TRUE(run_tick().empty());
}

// P2, for chunks: the index is used again while a datagram of the chunk before is still under way.
TEST_F(ClientViewInterestTest, AcknowledgementOfARetiredChunkSaysNothingOfItsSuccessor) {
  const Entity entity = create_at(16, 16);
  const auto of_old = run_tick();
  const ChunkIndex index = world.index_of(entity);
  const ChunkId old = chunk_id(entity);
  world.registry.destroy(entity);
  for (std::uint32_t i = 0; i <= kRetireTicks + 1; ++i) run_tick();
  ASSERT_EQ(world.chunks.find(old), nullptr);
  const Entity next = create_at(48, 16);
  const auto of_new = run_tick();
  ASSERT_EQ(world.index_of(next), index);
  ASSERT_EQ(blocks_of(of_new).size(), 1u);
  EXPECT_EQ(blocks_of(of_new)[0].epoch, Epoch{1}) << "another chunk, its own epochs";
  acknowledge(of_old);
  EXPECT_FALSE(baseline(chunk_id(next)));
  EXPECT_EQ(view.chunks_missing(), 1u);
  EXPECT_TRUE(run_tick().empty()) << "what is in flight is still in flight";
  EXPECT_FALSE(view.on_resync(old, Epoch{1}, world.now));
  acknowledge(of_new);
  EXPECT_TRUE(baseline(chunk_id(next)));
}

TEST_F(ClientViewInterestTest, TargetOfAMoveIsNamedAsAbsentWhereItIsNotReceived) {
  const Entity anchor = create_at(16, 16);
  const Entity walker = create_at(17, 16);
  create_at(80, 16);
  create_at(500, 16);
  settle();
  world.move_to(walker, 81, 16);
  const auto within = run_tick();
  ASSERT_TRUE(holds(within, chunk_id(anchor)));
  for (const test::Sent& datagram : within) EXPECT_TRUE(datagram.absent.empty()) << "the client receives it";
  acknowledge(within);
  settle();
  const ChunkId from = chunk_id(walker);
  world.move_to(walker, 501, 16);
  const auto out_of_sight = run_tick();
  bool named = false;
  for (const test::Sent& datagram : out_of_sight) {
    const bool tells = std::any_of(datagram.blocks.begin(), datagram.blocks.end(),
                                   [&](const ChosenBlock& block) { return block.chunk == from; });
    if (!tells) continue;
    EXPECT_EQ(datagram.absent, std::vector<ChunkId>{chunk_id(walker)})
        << "in the datagram that tells of the move";
    named = true;
  }
  EXPECT_TRUE(named || !holds(out_of_sight, from));
  if (!named) {
    std::vector<ChunkId> absent;
    for (int i = 0; i < 4 && absent.empty(); ++i) {
      for (const test::Sent& datagram : run_tick()) absent = datagram.absent;
    }
    EXPECT_EQ(absent, std::vector<ChunkId>{chunk_id(walker)});
  }
}

// P20: a team's secret goes to another team's chunk; for who is in the first, that is out of sight.
TEST_F(ClientViewInterestTest, ChangeOfSidesIsAMoveOutOfSightForTheFirstTeam) {
  viewer.team = 1;
  const Entity spy = create_at(16, 16);
  world.registry.emplace<OnTeam>(spy, 1u);
  world.registry.emplace<demo::Waypoint>(spy);
  settle();
  const ChunkId of_first_team = chunk_id(spy, Audience::Team);
  world.registry.get<OnTeam>(spy).team = 2;
  const auto left = run_tick();
  ASSERT_TRUE(holds(left, of_first_team));
  const ChunkId of_second_team = chunk_id(spy, Audience::Team);
  EXPECT_FALSE(holds(left, of_second_team));
  EXPECT_EQ(left[0].absent, std::vector<ChunkId>{of_second_team});
  viewer.team = 2;
  const auto changed = run_tick();
  EXPECT_TRUE(holds(changed, of_second_team));
  ASSERT_EQ(drops_of(changed).size(), 1u);
  EXPECT_EQ(drops_of(changed)[0].chunk, of_first_team);
}

TEST_F(ClientViewInterestTest, ManyDropsTakeTurnsAndLeaveRoomForBlocks) {
  for (int row = -3; row <= 3; ++row) {
    for (int column = -3; column <= 3; ++column)
      create_at(static_cast<float>(column) * 32 + 16, static_cast<float>(row) * 32 + 16);
  }
  create_at(700, 700);
  settle();
  const std::size_t received = view.chunk_count();
  ASSERT_GT(received, 30u);
  leave();
  const DatagramRoom room{.bytes = 200, .per_block = 20, .per_dropped = 8, .per_absent = 4};
  const auto left = run_tick(1000, room);
  ASSERT_GT(left.size(), 1u);
  EXPECT_FALSE(left[0].blocks.empty()) << "at most half of the room is for drops";
  EXPECT_EQ(drops_of(left).size(), received);
  std::vector<std::uint32_t> chunks;
  for (const DroppedChunk& drop : drops_of(left)) chunks.push_back(drop.chunk.value);
  std::sort(chunks.begin(), chunks.end());
  EXPECT_EQ(std::unique(chunks.begin(), chunks.end()), chunks.end()) << "each once";
  acknowledge(left);
  EXPECT_EQ(view.pending_drops(), 0u);
}

// P21: chunks have new ids for ever, so what a silent client was not told of grows with them.
TEST_F(ClientViewInterestTest, WhoNeverAcknowledgesThatChunksLeftIsGivenUp) {
  Entity last{};
  int ticks = 0;
  for (; ticks < 4000 && !view.is_beyond_help(); ++ticks) {
    if (!last.is_null()) world.registry.destroy(last);
    // Nowhere twice before the chunk that was there is retired.
    const auto x = static_cast<float>(ticks % 40) * 50 - 1000;
    const auto y = static_cast<float>(ticks / 40 % 20) * 50 - 500;
    last = create_at(x, y);
    viewer.place = Place{x, y};
    lose(run_tick());
  }
  EXPECT_LT(ticks, 4000);
  EXPECT_LE(view.pending_drops(), ClientView::kMaxPendingDrops + world.chunks.size() + 2);
}

}  // namespace
}  // namespace shoal
