// Blocks that no honest server sends, all of which decode: histories that contradict each other, departures of
// strangers. Each is counted, none is fatal, memory stays bounded, and what an honest server sends afterwards is shown
// exactly.
#include "tests/unit/client/lying_harness.hpp"

namespace shoal {
namespace {

using namespace demo;
using test::kAnna;
using test::kBert;

constexpr Entity kCarl{7, 3};

class LyingBlocksTest : public test::LyingHarness {
 protected:
  /// The next version of the first chunk, with a departure that names anyone.
  BlockOutcome apply_departure(const ChunkVersion& from, const Departure& departure, bool keeps_slot = true) {
    ChunkVersion next = from;
    next.set_tick(departure.tick);
    if (!keeps_slot) next.unbind(departure.slot);
    return mirror->apply(block(&from, next, std::span(&departure, 1)));
  }
};

// P21, T15
TEST_F(LyingBlocksTest, BaselinesThatWereNeverSentAreAskedForOnceEach) {
  const ChunkVersion never = empty(1, 5);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    ChunkVersion next = empty(1, 10 + i);
    next.bind(0, kAnna);
    ASSERT_EQ(mirror->apply(block(&never, next)), BlockOutcome::BaselineMissing);
    ASSERT_EQ(mirror->wanted().size(), 1u);
    bodies.clear();
  }
  EXPECT_EQ(mirror->counters().baseline_misses, 3000u);
  EXPECT_EQ(mirror->counters().resyncs_asked, 1u);
  EXPECT_EQ(mirror->version_count(), 0u);
  EXPECT_EQ(registry.alive_count(), 0u);
  expect_exact_after(truth(5000));
}

TEST_F(LyingBlocksTest, HashesThatAreWrongAreNotShownHoweverOftenTheyCome) {
  ASSERT_EQ(apply(truth(10)[0]), BlockOutcome::Applied);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ChunkVersion next = truth(11 + i)[0];
    set(next, 0, "shoal.demo.Health", Health{static_cast<std::uint16_t>(i % 70), 100});
    ReceivedBlock received = block(nullptr, next);
    received.hash ^= 1;
    ASSERT_EQ(mirror->apply(received), BlockOutcome::Mismatch);
    bodies.clear();
  }
  EXPECT_EQ(mirror->counters().mismatches, 1000u);
  EXPECT_EQ(mirror->wanted().size(), 1u);
  EXPECT_EQ(mirror->version_count(), 1u);
  EXPECT_EQ(registry.get<Health>(kAnna).current, 70);
  expect_exact_after(truth(2000));
}

// P21: each of them verifies, so each is history.
TEST_F(LyingBlocksTest, FullStatesOfThePastAreHistoryWithinBounds) {
  constexpr std::uint32_t kNow = 100'000;
  ASSERT_EQ(apply(truth(kNow)[0]), BlockOutcome::Applied);
  for (std::uint32_t back = 1; back < 3 * kMaxMirrorVersions; ++back) {
    ChunkVersion past = empty(1, kNow - back);
    past.bind(0, kBert);
    ASSERT_EQ(apply(past), BlockOutcome::Applied);
    ASSERT_LE(mirror->version_count(), kMaxMirrorVersions);
    bodies.clear();
  }
  EXPECT_EQ(mirror->counters().late_blocks, 3 * kMaxMirrorVersions - 1);
  EXPECT_TRUE(registry.alive(kAnna)) << "what is shown never goes back";
  EXPECT_FALSE(registry.alive(kBert));
  expect_exact_after(truth(kNow + 1));
}

TEST_F(LyingBlocksTest, SecondStateOfTheTickThatIsShownIsNotShown) {
  ASSERT_EQ(apply(truth(10)[0]), BlockOutcome::Applied);
  ChunkVersion other = empty(1, 10);
  other.bind(0, kAnna);
  set(other, 0, "shoal.demo.Health", Health{1, 100});
  EXPECT_EQ(apply(other), BlockOutcome::Applied);
  EXPECT_EQ(registry.get<Health>(kAnna).current, 70);
  EXPECT_EQ(mirror->version_count(), 1u) << "a tick has one version, the first";
  expect_exact_after(truth(11));
}

// P14: ticks are compared modulo 2^32, so a lie may lie ahead of all that is true.
TEST_F(LyingBlocksTest, TickFarAheadHidesWhatIsTrueUntilTheNextEpoch) {
  ASSERT_EQ(apply(truth(10)[0]), BlockOutcome::Applied);
  const auto say = [&](std::uint32_t tick) {
    ChunkVersion far = empty(1, tick);
    far.bind(3, kCarl);
    EXPECT_EQ(apply(far), BlockOutcome::Applied);
    return registry.alive(kCarl);
  };
  EXPECT_FALSE(say(10 + 0x80000000u)) << "half a circle away is neither before nor after";
  EXPECT_TRUE(say(10 + 0x7FFFFFFFu));
  EXPECT_EQ(apply(truth(20)[0]), BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna)) << "a chunk never goes back";
  EXPECT_LE(mirror->version_count(), 4u);
  expect_exact_after(truth(20), Epoch{2});
}

// Epochs are compared by their signed difference: half of them lie ahead.
TEST_F(LyingBlocksTest, EpochsThatJumpEndWhatWasBeforeAndTheNextOneIsExact) {
  ASSERT_EQ(apply(truth(10)[0], Epoch{1}), BlockOutcome::Applied);
  ASSERT_EQ(apply(truth(11)[0], Epoch{0x8000}), BlockOutcome::Applied) << "32,767 ahead";
  EXPECT_EQ(mirror->version_count(), 1u) << "baselines of the epoch before are none any more";
  for (const int epoch : {1, 2, 0x7FFF, 0}) {
    EXPECT_EQ(apply(truth(12)[0], Epoch{static_cast<std::uint16_t>(epoch)}), BlockOutcome::Outdated) << epoch;
  }
  EXPECT_EQ(mirror->counters().outdated_blocks, 4u);
  mirror->drop(ChunkId{1}, Epoch{1});
  EXPECT_TRUE(registry.alive(kAnna)) << "a drop of an epoch that is over";
  mirror->drop(ChunkId{1}, Epoch{0xFFFF});
  EXPECT_FALSE(registry.alive(kAnna)) << "one of an epoch that never began ends the one that is";
  expect_exact_after(truth(13), Epoch{3});
}

TEST_F(LyingBlocksTest, EntityThatTwoChunksBindInTheSameTickShowsFromOneOfThem) {
  for (std::uint32_t tick = 10; tick < 60; ++tick) {
    for (const std::uint32_t chunk : {1u, 2u}) {
      ChunkVersion version = empty(chunk, tick);
      version.bind(chunk, kAnna);
      set(version, chunk, "shoal.demo.Health", Health{static_cast<std::uint16_t>(chunk), 100});
      if (tick % 2 == 0) set(version, chunk, "shoal.demo.Heading", Heading{10});
      ASSERT_EQ(apply(version), BlockOutcome::Applied);
      ASSERT_EQ(registry.alive_count(), 1u);
      ASSERT_EQ(registry.get<Health>(kAnna).current, chunk) << "the later word";
      ASSERT_EQ(registry.all_of<Heading>(kAnna), tick % 2 == 0);
    }
  }
  mirror->drop(ChunkId{1}, Epoch{1});
  EXPECT_TRUE(registry.alive(kAnna)) << "the other one shows her";
  mirror->drop(ChunkId{2}, Epoch{1});
  EXPECT_FALSE(registry.alive(kAnna));
  expect_exact_after(truth(100), Epoch{2});
}

TEST_F(LyingBlocksTest, DeparturesOfEntitiesThatAreBoundElsewhereEndNothingButTheDead) {
  const std::vector<ChunkVersion> versions = truth(10);
  for (const ChunkVersion& version : versions) ASSERT_EQ(apply(version), BlockOutcome::Applied);
  const auto say = [&](std::uint32_t tick, DepartureReason reason, ChunkId target) {
    return apply_departure(versions[0], {Tick{tick}, 9, kBert, reason, target});
  };
  EXPECT_EQ(say(11, DepartureReason::Moved, ChunkId{3}), BlockOutcome::Applied);
  EXPECT_EQ(say(12, DepartureReason::Moved, ChunkId{2}), BlockOutcome::Applied);
  EXPECT_EQ(say(13, DepartureReason::NoLongerReplicated, {}), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(kBert)) << "this chunk does not show him";
  expect_exact_after(truth(20));
  // Dead is dead, whoever says so, and for the rest of the session.
  EXPECT_EQ(apply_departure(truth(20)[0], {Tick{21}, 9, kBert, DepartureReason::Destroyed, {}}),
            BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kBert));
  for (const ChunkVersion& version : truth(30)) EXPECT_EQ(apply(version), BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kBert));
  EXPECT_TRUE(registry.alive(kAnna));
  EXPECT_GT(mirror->counters().hidden_bindings, 0u);
}

TEST_F(LyingBlocksTest, MoveToTheChunkItselfEndsTheEntityUntilItIsBoundAgain) {
  const std::vector<ChunkVersion> versions = truth(10);
  ASSERT_EQ(apply(versions[0]), BlockOutcome::Applied);
  EXPECT_EQ(apply_departure(versions[0], {Tick{11}, 0, kAnna, DepartureReason::Moved, ChunkId{1}}, false),
            BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna)) << "it says that she came, and that she is not there";
  EXPECT_EQ(mirror->counters().resynced_bindings, 1u);
  expect_exact_after(truth(20));
}

// P21: those who wait are as many as there are entities, whatever is said of them.
TEST_F(LyingBlocksTest, MovesToChunksThatNeverComeAreMendedByTheNextFullState) {
  for (std::uint32_t round = 0; round < 200; ++round) {
    const std::uint32_t tick = 10 + 2 * round;
    const std::vector<ChunkVersion> versions = truth(tick);
    ASSERT_EQ(apply(versions[0]), BlockOutcome::Applied);
    ASSERT_EQ(
        apply_departure(versions[0],
                        {Tick{tick + 1}, 0, kAnna, DepartureReason::Moved, ChunkId{1000 + round}}, false),
        BlockOutcome::Applied);
    ASSERT_TRUE(registry.alive(kAnna)) << "she waits";
    ASSERT_EQ(registry.alive_count(), 1u);
    ASSERT_EQ(mirror->chunk_count(), 1u) << "what never came is no chunk";
    bodies.clear();
  }
  expect_exact_after(truth(1000));
  // A target that comes late and does not have her takes nothing away from where she is shown.
  EXPECT_EQ(apply(empty(1100, 2000)), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(kAnna));
}

TEST_F(LyingBlocksTest, DeathsOfIdsThatWereNeverSeenConcernNobodyAlive) {
  const std::vector<ChunkVersion> versions = truth(10);
  for (const ChunkVersion& version : versions) ASSERT_EQ(apply(version), BlockOutcome::Applied);
  std::uint32_t tick = 11;
  for (const Entity stranger :
       {Entity{99, 1}, Entity{99, Entity::kMaxGeneration}, Entity{99, 0xFFFFFFFF}, Entity{0xFFFFFFFE, 1},
        Entity{registry.max_entities(), 1}, Entity{registry.max_entities() - 1, 1}}) {
    const Departure departure{Tick{tick++}, 9, stranger, DepartureReason::Destroyed, {}};
    EXPECT_EQ(apply_departure(versions[0], departure), BlockOutcome::Applied) << stranger.index;
  }
  EXPECT_EQ(registry.alive_count(), 2u);
  ChunkVersion bound = empty(3, 30);
  bound.bind(0, Entity{99, 5});
  EXPECT_EQ(apply(bound), BlockOutcome::Applied);
  EXPECT_EQ(mirror->counters().hidden_bindings, 1u) << "of that index all lives were told dead";
  expect_exact_after(truth(40));
}

// P21
TEST_F(LyingBlocksTest, ChunksBeyondTheLimitAreRefused) {
  std::uint32_t id = 0;
  for (; id < kMaxMirrorChunks; ++id) {
    ASSERT_EQ(apply(empty(id, 10)), BlockOutcome::Applied);
    bodies.clear();
  }
  for (; id < kMaxMirrorChunks + 100; ++id) ASSERT_EQ(apply(empty(id, 10)), BlockOutcome::Refused);
  EXPECT_EQ(mirror->chunk_count(), kMaxMirrorChunks);
  EXPECT_EQ(mirror->counters().refused_blocks, 100u);
  expect_exact_after(truth(20));
}

}  // namespace
}  // namespace shoal
