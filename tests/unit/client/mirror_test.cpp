#include "client/mirror.hpp"

#include <gtest/gtest.h>

#include "tests/unit/client/mirror_harness.hpp"

namespace shoal {
namespace {

using namespace demo;

using MirrorTest = test::MirrorHarness;
using test::kAnna;
using test::kBert;

TEST_F(MirrorTest, ShowsWhatABlockHolds) {
  ChunkVersion version = empty(1, 10);
  version.bind(3, kAnna);
  set(version, 3, "shoal.demo.Health", Health{70, 100});
  EXPECT_EQ(mirror->apply(block(nullptr, version)), BlockOutcome::Applied);
  ASSERT_TRUE(registry.alive(kAnna));
  EXPECT_EQ(registry.get<Health>(kAnna).current, 70);
}

// P15: an entity without components, and one that never changes, are there all the same.
TEST_F(MirrorTest, EmptyEntityAppears) {
  ChunkVersion version = empty(1, 10);
  version.bind(0, kAnna);
  ASSERT_EQ(mirror->apply(block(nullptr, version)), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(kAnna));
}

// P8: when the first listener runs, all of the block is in place; what it ends is still whole.
TEST_F(MirrorTest, SignalsComeAfterTheWholeBlockInTheDocumentedOrder) {
  ChunkVersion first = empty(1, 10);
  first.bind(0, kAnna);
  set(first, 0, "shoal.demo.Health", Health{1, 100});
  first.bind(1, kBert);
  set(first, 1, "shoal.demo.Health", Health{2, 100});
  set(first, 1, "shoal.demo.Team", Team{1});
  ASSERT_EQ(mirror->apply(block(nullptr, first)), BlockOutcome::Applied);

  ChunkVersion second = first;
  second.set_tick(Tick{11});
  second.unbind(0);
  set(second, 1, "shoal.demo.Health", Health{50, 100});
  second.remove_component(index_of("shoal.demo.Team"), 1);
  second.bind(2, Entity{7, 1});
  set(second, 2, "shoal.demo.Health", Health{9, 100});

  std::vector<std::string> order;
  const auto world_is_complete = [&] {
    return registry.alive(kAnna) && registry.get<Health>(kBert).current == 50 &&
           registry.alive(Entity{7, 1}) && registry.get<Health>(Entity{7, 1}).current == 9;
  };
  const auto note = [&](const char* what) {
    return [&, what](Registry&, Entity entity) {
      EXPECT_TRUE(world_is_complete()) << what;
      order.push_back(std::string(what) + " " + std::to_string(entity.index));
    };
  };
  // Scoped: the registry's own end would call them after what they capture is gone.
  const auto constructed = registry.on_construct<Health>().connect_scoped(note("construct"));
  const auto updated = registry.on_update<Health>().connect_scoped(note("update"));
  const auto removed = registry.on_destroy<Team>().connect_scoped(note("remove team"));
  const auto destroyed = registry.on_destroy<Health>().connect_scoped(note("destroy"));
  const Departure departure{Tick{11}, 0, kAnna, DepartureReason::Destroyed, {}};
  ASSERT_EQ(mirror->apply(block(&first, second, std::span(&departure, 1))), BlockOutcome::Applied);
  EXPECT_EQ(order, (std::vector<std::string>{"construct 7", "update 6", "remove team 6", "destroy 5"}));
  EXPECT_FALSE(registry.alive(kAnna));
}

// P2: an index comes back in a later generation, in the slot of the one before.
TEST_F(MirrorTest, IndexReusedInTheSameSlotIsAnotherEntity) {
  ChunkVersion first = empty(1, 10);
  first.bind(0, kAnna);
  set(first, 0, "shoal.demo.Health", Health{1, 100});
  ASSERT_EQ(mirror->apply(block(nullptr, first)), BlockOutcome::Applied);
  ChunkVersion second = first;
  second.set_tick(Tick{12});
  second.unbind(0);
  const Entity successor{kAnna.index, 2};
  second.bind(0, successor);
  const Departure departure{Tick{12}, 0, kAnna, DepartureReason::Destroyed, {}};
  ASSERT_EQ(mirror->apply(block(&first, second, std::span(&departure, 1))), BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna));
  ASSERT_TRUE(registry.alive(successor));
  EXPECT_FALSE(registry.all_of<Health>(successor)) << "nothing of the earlier life is left";
}

// P1: the end overtakes the beginning: told dead by one chunk, still bound by an older state of another.
TEST_F(MirrorTest, WhoWasToldDeadDoesNotComeBack) {
  ChunkVersion grave = empty(2, 20);
  ChunkVersion before_grave = empty(2, 15);
  ASSERT_EQ(mirror->apply(block(nullptr, before_grave)), BlockOutcome::Applied);
  const Departure departure{Tick{18}, 4, kAnna, DepartureReason::Destroyed, {}};
  ASSERT_EQ(mirror->apply(block(&before_grave, grave, std::span(&departure, 1))), BlockOutcome::Applied);

  ChunkVersion old_home = empty(1, 10);
  old_home.bind(3, kAnna);
  EXPECT_EQ(mirror->apply(block(nullptr, old_home)), BlockOutcome::Applied) << "counted, never fatal";
  EXPECT_FALSE(registry.alive(kAnna)) << "no ghost";
  EXPECT_EQ(mirror->counters().hidden_bindings, 1u);
#ifdef SHOAL_ENABLE_FAULTS
  set_faults("revive-dead");
  ChunkVersion other_home = empty(3, 10);
  other_home.bind(3, kAnna);
  ASSERT_EQ(mirror->apply(block(nullptr, other_home)), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(kAnna)) << "the fault is what this test would notice";
#endif
}

TEST_F(MirrorTest, OlderGenerationDoesNotReplaceALaterOne) {
  ChunkVersion later = empty(1, 30);
  later.bind(0, Entity{5, 3});
  ASSERT_EQ(mirror->apply(block(nullptr, later)), BlockOutcome::Applied);
  ChunkVersion earlier = empty(2, 10);
  earlier.bind(0, Entity{5, 2});
  ASSERT_EQ(mirror->apply(block(nullptr, earlier)), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(Entity{5, 3}));
  EXPECT_FALSE(registry.alive(Entity{5, 2}));
}

TEST_F(MirrorTest, OlderGenerationStaysAwayWhenTheLaterOneIsOutOfSightAgain) {
  ChunkVersion later = empty(1, 30);
  later.bind(0, Entity{5, 3});
  ASSERT_EQ(mirror->apply(block(nullptr, later)), BlockOutcome::Applied);
  mirror->drop(ChunkId{1}, Epoch{1});
  ASSERT_FALSE(registry.alive(Entity{5, 3}));
  ChunkVersion earlier = empty(2, 10);
  earlier.bind(0, Entity{5, 2});
  ASSERT_EQ(mirror->apply(block(nullptr, earlier)), BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(Entity{5, 2}));
}

TEST_F(MirrorTest, MovedEntityKeepsItsValuesUntilItsNewChunkArrives) {
  ChunkVersion home = empty(1, 10);
  home.bind(0, kAnna);
  set(home, 0, "shoal.demo.Health", Health{33, 100});
  ASSERT_EQ(mirror->apply(block(nullptr, home)), BlockOutcome::Applied);
  bool was_destroyed = false;
  const auto connection =
      registry.on_destroy<Health>().connect_scoped([&](Registry&, Entity) { was_destroyed = true; });
  ChunkVersion left = home;
  left.set_tick(Tick{12});
  left.unbind(0);
  const Departure departure{Tick{12}, 0, kAnna, DepartureReason::Moved, ChunkId{2}};
  ASSERT_EQ(mirror->apply(block(&home, left, std::span(&departure, 1))), BlockOutcome::Applied);
  ASSERT_TRUE(registry.alive(kAnna));
  EXPECT_EQ(registry.get<Health>(kAnna).current, 33);

  ChunkVersion arrived = empty(2, 12);
  arrived.bind(7, kAnna);
  set(arrived, 7, "shoal.demo.Health", Health{34, 100});
  ASSERT_EQ(mirror->apply(block(nullptr, arrived)), BlockOutcome::Applied);
  EXPECT_EQ(registry.get<Health>(kAnna).current, 34);
  EXPECT_FALSE(was_destroyed);
}

TEST_F(MirrorTest, MoveToAChunkThatHasItNoMoreEndsTheEntity) {
  ChunkVersion home = empty(1, 10);
  home.bind(0, kAnna);
  ASSERT_EQ(mirror->apply(block(nullptr, home)), BlockOutcome::Applied);
  // Joined later: the target's full state of tick 15 knows her no more, and does not say why.
  ASSERT_EQ(mirror->apply(block(nullptr, empty(2, 15))), BlockOutcome::Applied);
  ChunkVersion left = home;
  left.set_tick(Tick{40});
  left.unbind(0);
  const Departure departure{Tick{12}, 0, kAnna, DepartureReason::Moved, ChunkId{2}};
  ASSERT_EQ(mirror->apply(block(&home, left, std::span(&departure, 1))), BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna))
      << "the target has told already, though its version is older than this block";
}

TEST_F(MirrorTest, HiddenEntityLeavesAndComesBack) {
  ChunkVersion first = empty(1, 10);
  first.bind(0, kAnna);
  ASSERT_EQ(mirror->apply(block(nullptr, first)), BlockOutcome::Applied);
  ChunkVersion second = first;
  second.set_tick(Tick{11});
  second.unbind(0);
  const Departure departure{Tick{11}, 0, kAnna, DepartureReason::NoLongerReplicated, {}};
  ASSERT_EQ(mirror->apply(block(&first, second, std::span(&departure, 1))), BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna));
  ChunkVersion third = second;
  third.set_tick(Tick{12});
  third.bind(1, kAnna);
  ASSERT_EQ(mirror->apply(block(&second, third)), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(kAnna));
}

// P7: a reference to someone who is not there yet reads as null, and is mended with on_update when they
// arrive.
TEST_F(MirrorTest, ReferenceIsNullUntilItsEntityArrives) {
  ChunkVersion first = empty(1, 10);
  first.bind(0, kAnna);
  set(first, 0, "shoal.demo.Projectile", Projectile{kBert, 5});
  ASSERT_EQ(mirror->apply(block(nullptr, first)), BlockOutcome::Applied);
  EXPECT_TRUE(registry.get<Projectile>(kAnna).owner.is_null());

  int updates = 0;
  const auto connection =
      registry.on_update<Projectile>().connect_scoped([&](Registry&, Entity) { ++updates; });
  ChunkVersion other = empty(2, 10);
  other.bind(0, kBert);
  ASSERT_EQ(mirror->apply(block(nullptr, other)), BlockOutcome::Applied);
  EXPECT_EQ(registry.get<Projectile>(kAnna).owner, kBert);
  EXPECT_EQ(updates, 1);
}

// P4, P5: what cannot be verified is asked for until a newer state of the chunk is.
TEST_F(MirrorTest, MissingBaselineIsAskedForUntilTheChunkIsVerified) {
  ChunkVersion first = empty(1, 10);
  ChunkVersion second = first;
  second.set_tick(Tick{11});
  second.bind(0, kAnna);
  EXPECT_EQ(mirror->apply(block(&first, second)), BlockOutcome::BaselineMissing);
  ASSERT_EQ(mirror->wanted().size(), 1u);
  EXPECT_EQ(mirror->wanted()[0].chunk, ChunkId{1});
  EXPECT_EQ(mirror->apply(block(&first, second)), BlockOutcome::BaselineMissing);
  EXPECT_EQ(mirror->wanted().size(), 1u) << "asked for once, however often it fails";
  EXPECT_EQ(mirror->apply(block(nullptr, second)), BlockOutcome::Applied);
  EXPECT_TRUE(mirror->wanted().empty());
}

TEST_F(MirrorTest, StateThatDoesNotMatchItsHashIsNotShownAndNamesItsComponents) {
  ChunkVersion version = empty(1, 10);
  version.bind(0, kAnna);
  set(version, 0, "shoal.demo.Health", Health{70, 100});
  ReceivedBlock wrong = block(nullptr, version);
  wrong.hash ^= 1;
  EXPECT_EQ(mirror->apply(wrong), BlockOutcome::Mismatch);
  EXPECT_FALSE(registry.alive(kAnna));
  ASSERT_EQ(mirror->wanted().size(), 1u);
  EXPECT_EQ(mirror->wanted()[0].component_hashes.size(), table.size());
  EXPECT_EQ(mirror->counters().mismatches, 1u);
#ifdef SHOAL_ENABLE_FAULTS
  set_faults("skip-hash-check");
  EXPECT_EQ(mirror->apply(wrong), BlockOutcome::Applied) << "the fault is what this test would notice";
#endif
}

TEST_F(MirrorTest, LateBlockGoesIntoHistoryAndIsNotShown) {
  ChunkVersion first = empty(1, 10);
  first.bind(0, kAnna);
  set(first, 0, "shoal.demo.Health", Health{1, 100});
  ChunkVersion second = first;
  second.set_tick(Tick{11});
  set(second, 0, "shoal.demo.Health", Health{2, 100});
  ChunkVersion third = second;
  third.set_tick(Tick{12});
  set(third, 0, "shoal.demo.Health", Health{3, 100});
  ASSERT_EQ(mirror->apply(block(nullptr, first)), BlockOutcome::Applied);
  ASSERT_EQ(mirror->apply(block(&first, third)), BlockOutcome::Applied);
  EXPECT_EQ(mirror->apply(block(&first, second)), BlockOutcome::Applied);
  EXPECT_EQ(registry.get<Health>(kAnna).current, 3);
  EXPECT_TRUE(mirror->has_version(ChunkId{1}, Tick{11}));
}

TEST_F(MirrorTest, EntityBeyondTheLimitIsRefused) {
  ChunkVersion version = empty(1, 10);
  version.bind(0, Entity{registry.max_entities(), 1});
  EXPECT_EQ(mirror->apply(block(nullptr, version)), BlockOutcome::Refused);
  EXPECT_EQ(mirror->counters().refused_blocks, 1u);
  EXPECT_EQ(registry.alive_count(), 0u);
}

TEST_F(MirrorTest, DroppedChunkTakesItsEntitiesAlongAndOldBlocksOfItAreRefused) {
  ChunkVersion version = empty(1, 10);
  version.bind(0, kAnna);
  ASSERT_EQ(mirror->apply(block(nullptr, version)), BlockOutcome::Applied);
  mirror->drop(ChunkId{1}, Epoch{1});
  EXPECT_FALSE(registry.alive(kAnna));
  EXPECT_EQ(mirror->apply(block(nullptr, version)), BlockOutcome::Outdated);
  EXPECT_FALSE(registry.alive(kAnna));
  EXPECT_EQ(mirror->apply(block(nullptr, version, {}, Epoch{2})), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(kAnna));
}

// P21
TEST_F(MirrorTest, HistoryIsBoundedAndKeepsTheBaseline) {
  ChunkVersion base = empty(1, 10);
  base.bind(0, kAnna);
  set(base, 0, "shoal.demo.Health", Health{0, 100});
  ASSERT_EQ(mirror->apply(block(nullptr, base)), BlockOutcome::Applied);
  for (std::uint32_t i = 1; i <= 3 * kMaxMirrorVersions; ++i) {
    ChunkVersion next = base;
    next.set_tick(Tick{10 + i});
    set(next, 0, "shoal.demo.Health", Health{static_cast<std::uint16_t>(i), 100});
    ASSERT_EQ(mirror->apply(block(&base, next)), BlockOutcome::Applied) << i;
  }
  EXPECT_LE(mirror->version_count(), kMaxMirrorVersions);
}

}  // namespace
}  // namespace shoal
