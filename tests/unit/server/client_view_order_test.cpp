// Who comes first when not everything fits, and what all clients share.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "tests/unit/server/client_view_harness.hpp"

namespace shoal {
namespace {

constexpr InterestConfig kConfig{.square_size = 32, .radius = 200};

class ClientViewOrderTest : public test::ClientViewHarness {
 protected:
  ClientViewOrderTest() : ClientViewHarness(kConfig) {}
};

// P13: age rises until it is really sent.
TEST_F(ClientViewOrderTest, FarChunkIsSentThoughNearOnesChangeAllTheTime) {
  constexpr int kNearChunks = 20;
  std::vector<Entity> near;
  for (int i = 0; i < kNearChunks; ++i)
    near.push_back(
        create_at(static_cast<float>(i % 5 - 2) * 32 + 16, static_cast<float>(i / 5 - 2) * 32 + 16));
  const Entity far = create_at(208, 16);  // 176 away: the slowest level
  settle();
  ASSERT_EQ(world.chunks.size(), kNearChunks + 1u);
  std::uint32_t longest_far = 0, longest_near = 0;
  std::map<std::uint32_t, Tick> sent_at;
  for (int i = 0; i < 1000; ++i) {
    for (const Entity entity : near) change(entity);
    change(far);
    const auto left = run_tick(1, test::kOneBlock);
    ASSERT_EQ(blocks_of(left).size(), 1u);
    acknowledge(left);
    const ChunkId chunk = blocks_of(left)[0].chunk;
    if (sent_at.contains(chunk.value)) {
      auto& longest = chunk == chunk_id(far) ? longest_far : longest_near;
      longest = std::max(longest, world.now.value - sent_at[chunk.value].value);
    }
    sent_at[chunk.value] = world.now;
  }
  EXPECT_EQ(sent_at.size(), kNearChunks + 1u) << "each came to its turn";
  EXPECT_LE(longest_near, 2u * kNearChunks);
  EXPECT_LE(longest_far, 4u * (kNearChunks + 2u)) << "four times as long as a near one, no longer";
  EXPECT_GT(longest_far, longest_near) << "near ones come more often";
}

TEST_F(ClientViewOrderTest, NearestIsSentFirstWhenAJoinTakesManyTicks) {
  for (int i = 0; i < 8; ++i) create_at(static_cast<float>(7 - i) * 16 + 16, 16);
  std::vector<float> distances;
  for (int i = 0; i < 20; ++i) {
    for (const ChosenBlock& block : blocks_of(run_tick(1, test::kOneBlock))) {
      for (const auto& watched : view.interest().squares()) {
        if (watched.square == world.chunks.square_of(block.index)) distances.push_back(watched.distance);
      }
    }
  }
  ASSERT_GE(distances.size(), 4u);
  EXPECT_TRUE(std::is_sorted(distances.begin(), distances.end()));
}

TEST_F(ClientViewOrderTest, LostBlockLeavesBeforeFresherOnes) {
  const Entity old = create_at(80, 16);
  const Entity fresh = create_at(16, 16);
  settle();
  change(old);
  ASSERT_TRUE(run_tick(0).empty());
  ASSERT_TRUE(run_tick(0).empty());
  change(fresh);
  ASSERT_TRUE(run_tick(0).empty());
  const auto left = run_tick(1, test::kOneBlock);
  ASSERT_TRUE(holds(left, chunk_id(old))) << "it has waited longer";
  ASSERT_TRUE(run_tick(0).empty());
  lose(left);
  EXPECT_TRUE(holds(run_tick(1, test::kOneBlock), chunk_id(old))) << "its age is back";
  EXPECT_TRUE(holds(run_tick(1, test::kOneBlock), chunk_id(fresh)));
}

TEST_F(ClientViewOrderTest, ChunkThatWasDueAndDidNotFitIsDueUntilItLeaves) {
  const Entity far = create_at(208, 16);
  const Entity near = create_at(16, 16);
  settle();
  run_until_common_tick_of(chunk_id(far));
  change(far);
  change(near);
  const auto left = run_tick(1, test::kOneBlock);
  ASSERT_TRUE(holds(left, chunk_id(near)));
  EXPECT_TRUE(holds(run_tick(1, test::kOneBlock), chunk_id(far))) << "its next turn would be in four ticks";
}

TEST_F(ClientViewOrderTest, BudgetOfFullStatesDelaysThemAndNothingElse) {
  const Entity here = create_at(16, 16);
  settle();
  full_states = SendBudget(1000, Time{});
  full_states.spend_state(1u << 20);
  std::vector<Entity> more;
  for (int i = 1; i < 5; ++i) more.push_back(create_at(16, 16 + 32 * static_cast<float>(i)));
  for (int i = 0; i < 10; ++i) {
    change(here);
    const auto left = run_tick();
    ASSERT_EQ(blocks_of(left).size(), 1u);
    EXPECT_EQ(blocks_of(left)[0].chunk, chunk_id(here));
    acknowledge(left);
  }
  EXPECT_EQ(view.chunks_missing(), 4u);
  full_states = SendBudget(1000, Time{});
  full_states.spend_state(kMaxDatagramBytes - 1);
  EXPECT_EQ(blocks_of(run_tick()).size(), 1u) << "one more, into debt";
  EXPECT_EQ(counters.full_states, 2u);
  full_states = SendBudget{};
  EXPECT_EQ(blocks_of(run_tick()).size(), 3u);
}

// Two who see a chunk at the same rate are sent it in the same ticks, whenever they joined, and share the block.
TEST_F(ClientViewOrderTest, ClientsOfOneLevelAreServedInTheSameTicksFromOneEncoding) {
  std::vector<Entity> entities;
  for (int i = 0; i < 6; ++i) entities.push_back(create_at(16 + static_cast<float>(i) * 32, 16));
  settle();
  acknowledge(run_tick());
  ReplicationCounters others;
  ClientView other(world.chunks, kConfig, others, full_states);
  const auto serve_other = [&] {
    const auto left = send_all(other);
    for (const auto& datagram : left) other.on_acknowledged(datagram.sequence);
    return left;
  };
  std::size_t in_one_tick_of_four[4] = {};
  for (int i = 0; i < 80; ++i) {
    for (const Entity entity : entities) change(entity);
    const std::uint64_t encoded = counters.blocks_encoded + others.blocks_encoded;
    const auto mine = run_tick();
    acknowledge(mine);
    const auto theirs = serve_other();
    if (i < 12) continue;  // the other one joins
    auto left = blocks_of(mine), right = blocks_of(theirs);
    const auto by_chunk = [](const auto& a, const auto& b) { return a.chunk < b.chunk; };
    std::sort(left.begin(), left.end(), by_chunk);
    std::sort(right.begin(), right.end(), by_chunk);
    ASSERT_EQ(left.size(), right.size()) << "tick " << world.now.value;
    for (std::size_t k = 0; k < left.size(); ++k) {
      EXPECT_EQ(left[k].chunk, right[k].chunk);
      EXPECT_EQ(left[k].from, right[k].from);
      EXPECT_EQ(left[k].body.data(), right[k].body.data()) << "the very same bytes";
    }
    EXPECT_EQ(counters.blocks_encoded + others.blocks_encoded - encoded, left.size());
    in_one_tick_of_four[i % 4] += left.size();
  }
  EXPECT_LT(in_one_tick_of_four[0], 17u * entities.size()) << "far ones are not due in each tick";
}

TEST_F(ClientViewOrderTest, ClientsMoveOnToTheirNextBaselineWhenMostHaveIt) {
  const Entity entity = create_at(16, 16);
  std::vector<std::unique_ptr<ClientView>> others;
  InterestConfig crowd = kConfig;
  crowd.crowd = 0;
  for (int i = 0; i < 4; ++i)
    others.push_back(std::make_unique<ClientView>(world.chunks, crowd, counters, full_states));
  const std::array<ClientView*, 4> views{others[0].get(), others[1].get(), others[2].get(), others[3].get()};
  std::array<std::vector<test::Sent>, 4> left;
  const auto run_tick_of_all = [&] {
    world.end_tick();
    for (std::size_t i = 0; i < views.size(); ++i) left[i] = send_all(*views[i]);
  };
  const auto acknowledge_as = [&](std::size_t i, const std::vector<test::Sent>& datagrams) {
    for (const test::Sent& datagram : datagrams) views[i]->on_acknowledged(datagram.sequence);
  };
  run_tick_of_all();
  const Tick first = world.now;
  for (std::size_t i = 0; i < views.size(); ++i) acknowledge_as(i, left[i]);
  while (((world.now.value + 1 + chunk_id(entity).number()) & 3) != 0) run_tick_of_all();
  change(entity);
  run_tick_of_all();
  const Tick common = world.now;
  const auto of_common = left;
  const auto next_from = [&](std::size_t i) {
    EXPECT_EQ(left[i].size(), 1u);
    return left[i].at(0).blocks.at(0).from;
  };
  const auto change_and_run = [&] {
    change(entity);
    const std::uint64_t encoded = counters.blocks_encoded;
    run_tick_of_all();
    return counters.blocks_encoded - encoded;
  };
  EXPECT_EQ(change_and_run(), 1u);
  acknowledge_as(0, of_common[0]);
  acknowledge_as(1, of_common[1]);
  EXPECT_EQ(change_and_run(), 1u) << "two of four wait for the others";
  EXPECT_EQ(next_from(0), first);
  acknowledge_as(2, of_common[2]);
  EXPECT_EQ(change_and_run(), 2u) << "three of four move on";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(next_from(i), common);
  EXPECT_EQ(next_from(3), first);
  acknowledge_as(3, of_common[3]);
  EXPECT_EQ(change_and_run(), 1u);
  EXPECT_EQ(next_from(3), common);
}

TEST_F(ClientViewOrderTest, LargeBlockThatDoesNotFitTheRestLetsASmallerOnePass) {
  const Entity here = create_at(16, 16);
  std::vector<Entity> crowd;
  for (int i = 0; i < 40; ++i) crowd.push_back(create_at(16, 48));
  world.end_tick();
  view.begin_tick(world.now, viewer);
  const Choice choice = view.choose({.bytes = 200, .per_block = 20, .per_dropped = 8, .per_absent = 4});
  ASSERT_EQ(choice.blocks.size(), 1u);
  EXPECT_EQ(choice.blocks[0].chunk, chunk_id(here));
  view.sent(Sequence{1}, world.now);
  const Choice next = view.choose(test::kWholeDatagram);
  ASSERT_EQ(next.blocks.size(), 1u);
  EXPECT_EQ(next.blocks[0].chunk, chunk_id(crowd[0]));
}

}  // namespace
}  // namespace shoal
