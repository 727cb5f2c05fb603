// What leaves for one client, in which order, and what an acknowledgement or a loss means.
#include "server/client_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/unit/server/client_view_harness.hpp"

namespace shoal {
namespace {

class ClientViewTest : public test::ClientViewHarness {
 protected:
  ClientViewTest() : entity(create_at(16, 16)) {}
  ChunkId chunk() const { return chunk_id(entity); }

  Entity entity;
};

TEST_F(ClientViewTest, VersionInFlightIsNotSentAgainUntilItIsLost) {
  const auto first = run_tick();
  ASSERT_EQ(blocks_of(first).size(), 1u);
  EXPECT_TRUE(run_tick().empty());
  lose(first);
  const auto second = run_tick();
  EXPECT_EQ(blocks_of(second).size(), 1u) << "lost";
  acknowledge(second);
  EXPECT_TRUE(run_tick().empty());
  EXPECT_TRUE(view.has_everything());
  change(entity);
  EXPECT_EQ(run_tick().size(), 1u);
  EXPECT_TRUE(run_tick().empty()) << "the same for what leads from a baseline";
}

TEST_F(ClientViewTest, WhileTheFirstFullStateIsInFlightThereIsNoSecond) {
  const auto first = run_tick();
  const Tick first_tick = world.now;
  for (int i = 0; i < 20; ++i) {
    change(entity);
    ASSERT_TRUE(run_tick().empty());
  }
  EXPECT_EQ(counters.full_states, 1u);
  EXPECT_EQ(view.chunks_missing(), 1u);
  acknowledge(first);
  EXPECT_EQ(view.chunks_missing(), 0u);
  const auto blocks = blocks_of(run_tick());
  ASSERT_EQ(blocks.size(), 1u) << "what changed meanwhile";
  EXPECT_EQ(blocks[0].from, first_tick);
}

TEST_F(ClientViewTest, LostFullStateIsFollowedByTheNewestOne) {
  const auto first = run_tick();
  change(entity);
  ASSERT_TRUE(run_tick().empty());
  const Tick newest = world.now;
  lose(first);
  const auto blocks = blocks_of(run_tick());
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_FALSE(blocks[0].from);
  EXPECT_EQ(blocks[0].to, newest);
  EXPECT_EQ(counters.lost_full_states, 1u);
}

TEST_F(ClientViewTest, AcknowledgementThatComesAfterALaterLossCounts) {
  settle();
  change(entity);
  const auto second = run_tick();
  const Tick second_tick = world.now;
  change(entity);
  const auto third = run_tick();
  lose(third);
  acknowledge(second);
  EXPECT_FALSE(view.has_everything());
  const auto again = run_tick();
  ASSERT_EQ(blocks_of(again).size(), 1u) << "the third";
  EXPECT_GT(blocks_of(again)[0].to, second_tick);
  acknowledge(again);
  EXPECT_TRUE(view.has_everything());
  EXPECT_TRUE(run_tick().empty());
}

TEST_F(ClientViewTest, BaselineNeverGoesBack) {
  settle();
  run_until_common_tick_of(chunk());
  change(entity);
  const auto earlier = run_tick();
  run_until_common_tick_of(chunk());
  change(entity);
  const auto later = run_tick();
  const Tick later_tick = world.now;
  acknowledge(later);
  ASSERT_EQ(baseline(chunk()), later_tick);
  acknowledge(earlier);
  EXPECT_EQ(baseline(chunk()), later_tick);
  EXPECT_TRUE(view.has_everything());
}

/// Any number of receivers is a crowd.
class ClientViewInACrowdTest : public test::ClientViewHarness {
 protected:
  ClientViewInACrowdTest() : test::ClientViewHarness({.crowd = 0}), entity(create_at(16, 16)) {}
  ChunkId chunk() const { return chunk_id(entity); }

  Entity entity;
};

// All clients are sent what changed in these ticks, so that what leads from them is encoded once for all. A client that
// is alone is most of them.
TEST_F(ClientViewInACrowdTest, VersionsOfCommonTicksBecomeBaselinesWhileThingsMove) {
  settle();
  run_until_common_tick_of(chunk());
  change(entity);
  acknowledge(run_tick());
  Tick expected = world.now;
  std::vector<test::Sent> under_way;
  for (int i = 0; i < 40; ++i) {
    change(entity);
    auto left = run_tick();
    ASSERT_EQ(left.size(), 1u);
    ASSERT_EQ(left[0].blocks[0].from, expected) << "tick " << world.now.value;
    acknowledge(under_way);
    const Tick told{world.now.value - 1};
    if (i > 0 && ((told.value + chunk().number()) & 3) == 0) expected = told;
    under_way = std::move(left);
  }
}

// All that is sent in common ticks is lost, all else arrives.
TEST_F(ClientViewTest, BaselineThatLagsFarIsReplacedByAnyVersion) {
  settle();
  std::vector<test::Sent> under_way;
  for (int i = 0; i < 100; ++i) {
    change(entity);
    auto left = run_tick();
    ASSERT_EQ(left.size(), 1u);
    const Tick before{world.now.value - 1};
    if (((before.value + chunk().number()) & 3) == 0) {
      lose(under_way);
    } else {
      acknowledge(under_way);
    }
    ASSERT_LE(ticks_between(*baseline(chunk()), world.now), 20) << "tick " << world.now.value;
    under_way = std::move(left);
  }
}

TEST_F(ClientViewTest, LossOfAnOlderVersionDoesNotSendTheNewerOneAgain) {
  settle();
  change(entity);
  const auto older = run_tick();
  change(entity);
  const auto newer = run_tick();
  ASSERT_EQ(newer.size(), 1u);
  lose(older);
  EXPECT_TRUE(run_tick().empty());
  acknowledge(newer);
  EXPECT_TRUE(view.has_everything());
}

// P4: the baseline fell out of the history: the full state, counted.
TEST_F(ClientViewTest, BaselineOutOfHistoryIsAnsweredByTheFullState) {
  settle();
  const Tick first = *baseline(chunk());
  world.chunks[world.index_of(entity)].unpin(
      first);  // as when more than kPinnedVersions older ones are pinned
  world.end_ticks(kHistoryTicks);
  change(entity);
  world.end_tick();
  world.end_tick();
  ASSERT_EQ(world.chunk_of(entity).find(first), nullptr);
  const auto left = run_tick();
  ASSERT_EQ(blocks_of(left).size(), 1u);
  EXPECT_FALSE(blocks_of(left)[0].from.has_value());
  EXPECT_EQ(counters.baseline_misses, 1u);
  EXPECT_EQ(view.chunks_missing(), 1u);
  acknowledge(left);
  EXPECT_TRUE(view.has_everything());
  EXPECT_EQ(view.chunks_missing(), 0u);
}

// P4: and it is not forgotten when it cannot leave at once.
TEST_F(ClientViewTest, FullStateForALostBaselineThatHasToWaitLeavesLater) {
  settle();
  world.chunks[world.index_of(entity)].unpin(*baseline(chunk()));
  world.end_ticks(kHistoryTicks);
  change(entity);
  world.end_ticks(2);
  full_states = SendBudget(1000, Time{});
  full_states.spend_state(1u << 20);
  EXPECT_TRUE(run_tick().empty()) << "the full states of others were first";
  ASSERT_EQ(counters.baseline_misses, 1u);
  full_states = SendBudget{};
  const auto left = run_tick();
  ASSERT_EQ(blocks_of(left).size(), 1u);
  EXPECT_FALSE(blocks_of(left)[0].from.has_value());
}

TEST_F(ClientViewTest, ResyncOfAVersionThatWasAcknowledgedBeforeEnds) {
  settle();
  EXPECT_TRUE(view.on_resync(chunk(), Epoch{1}, world.now));
  EXPECT_FALSE(view.has_everything());
  const auto left = run_tick();
  ASSERT_EQ(blocks_of(left).size(), 1u);
  EXPECT_FALSE(blocks_of(left)[0].from.has_value());
  acknowledge(left);
  EXPECT_TRUE(view.has_everything());
}

TEST_F(ClientViewTest, ResyncWhileTheFullStateIsInFlightSendsItAgain) {
  const auto first = run_tick();
  EXPECT_TRUE(view.on_resync(chunk(), Epoch{1}, world.now));
  const auto second = run_tick();
  ASSERT_EQ(blocks_of(second).size(), 1u);
  acknowledge(second);
  lose(first);
  EXPECT_TRUE(view.has_everything());
  EXPECT_TRUE(run_tick().empty());
}

TEST_F(ClientViewTest, EndlessResyncsAreAnsweredNowAndThen) {
  settle();
  std::uint32_t answered = 0;
  for (std::uint32_t tick = 0; tick < 150; ++tick) {
    answered += view.on_resync(chunk(), Epoch{1}, Tick{100 + tick}) ? 1u : 0u;
  }
  EXPECT_EQ(answered, 150u / kResyncTicks);
  EXPECT_FALSE(view.on_resync(ChunkId{9}, Epoch{1}, Tick{300}));
  EXPECT_FALSE(view.on_resync(ChunkId{UINT32_MAX}, Epoch{1}, Tick{300}));
  EXPECT_FALSE(view.on_resync(chunk(), Epoch{0}, Tick{300}));
  EXPECT_EQ(counters.bad_resyncs, 3u);
  EXPECT_FALSE(view.on_resync(chunk(), Epoch{7}, Tick{300})) << "of another epoch it was asked in good faith";
}

TEST_F(ClientViewTest, ResyncLongAfterTheLastOneIsAnswered) {
  settle();
  EXPECT_TRUE(view.on_resync(chunk(), Epoch{1}, Tick{1}));
  EXPECT_TRUE(view.on_resync(chunk(), Epoch{1}, Tick{0x80000002})) << "more than half of all ticks later";
}

TEST_F(ClientViewTest, AcknowledgementOfWhatWasNeverSentIsNothing) {
  const auto first = run_tick();
  view.on_acknowledged(Sequence{77});
  view.on_acknowledged(Sequence{});
  view.on_lost(Sequence{first[0].sequence.value + (1u << 10)});
  EXPECT_FALSE(baseline(chunk()));
  EXPECT_EQ(view.in_flight(), 1u);
}

TEST_F(ClientViewTest, SecondWordAboutADatagramIsNothing) {
  const auto first = run_tick();
  acknowledge(first);
  const auto known = baseline(chunk());
  ASSERT_TRUE(known);
  lose(first);
  acknowledge(first);
  EXPECT_EQ(baseline(chunk()), known);
  EXPECT_EQ(view.in_flight(), 0u);
  EXPECT_TRUE(run_tick().empty());
}

// P18
TEST_F(ClientViewTest, WorldAtRestIsNoWork) {
  for (int row = 0; row < 20; ++row) {
    for (int column = 0; column < 20; ++column)
      create_at(static_cast<float>(column) * 32 + 16, static_cast<float>(row) * 32 + 16);
  }
  settle();
  ASSERT_GE(view.chunk_count(), 400u);
  const std::uint64_t commits = world.chunks.commits();
  const std::uint64_t encoded = counters.blocks_encoded;
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(run_tick().empty());
  EXPECT_EQ(world.chunks.commits(), commits);
  EXPECT_EQ(counters.blocks_encoded, encoded);
}

// P18: whoever has old versions is looked at in each tick.
TEST_F(ClientViewTest, ChunkAtRestKeepsNoVersionButTheCurrentOne) {
  settle();
  for (int i = 0; i < 7; ++i) {
    change(entity);
    const auto left = run_tick();
    run_tick();
    acknowledge(left);
    for (std::uint32_t tick = 0; tick <= kHistoryTicks; ++tick) acknowledge(run_tick());
    EXPECT_TRUE(view.has_everything());
    EXPECT_EQ(world.chunk_of(entity).version_count(), 1u) << "change " << i;
  }
}

TEST_F(ClientViewTest, ViewThatEndsLetsGoOfAllItHeld) {
  {
    ReplicationCounters others;
    ClientView other(world.chunks, InterestConfig{}, others, full_states);
    world.end_tick();
    ASSERT_EQ(send_all(other).size(), 1u);
    other.on_acknowledged(Sequence{sequence});
    change(entity);
    world.end_tick();
    ASSERT_EQ(send_all(other).size(), 1u);
  }
  world.end_ticks(kHistoryTicks + 1);
  EXPECT_EQ(world.chunk_of(entity).version_count(), 1u);
  world.registry.destroy(entity);
  world.end_ticks(kRetireTicks + 1);
  EXPECT_EQ(world.chunks.size(), 0u);
}

// P14
TEST_F(ClientViewTest, WrapOfTheTicksIsNothingSpecial) {
  settle();
  for (Tick start : {Tick{0x7FFFFFF0}, Tick{0xFFFFFFF0}}) {
    // A chunk at rest is renewed long before; here the clock jumps, so it changes on the way.
    for (std::uint32_t part = 1; part <= 4; ++part) {
      world.now = world.now + (start.value - world.now.value) / 4 * 1;
      change(entity);
      acknowledge(run_tick());
      acknowledge(run_tick());
    }
    world.now = start;
    for (int i = 0; i < 40; ++i) {
      change(entity);
      const auto left = run_tick();
      ASSERT_EQ(blocks_of(left).size(), 1u) << "tick " << world.now.value;
      if (i % 5 == 4) {
        lose(left);
      } else {
        acknowledge(left);
      }
    }
    settle();
  }
}

}  // namespace
}  // namespace shoal
