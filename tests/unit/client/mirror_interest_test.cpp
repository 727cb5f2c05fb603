// Chunks that come and go, and entities of which several chunks tell.
#include <gtest/gtest.h>

#include "tests/unit/client/mirror_harness.hpp"

namespace shoal {
namespace {

using namespace demo;
using test::kAnna;
using test::kBert;

class MirrorInterestTest : public test::MirrorHarness {
 protected:
  /// The next version of it, in which Anna's slot is free.
  static ChunkVersion without(const ChunkVersion& version, Slot slot, std::uint32_t tick) {
    ChunkVersion next = version;
    next.set_tick(Tick{tick});
    next.unbind(slot);
    return next;
  }
  BlockOutcome apply_departure(const ChunkVersion& from, const ChunkVersion& to, const Departure& departure,
                               std::span<const ChunkId> absent = {}) {
    ReceivedBlock received = block(&from, to, std::span(&departure, 1));
    received.absent = absent;
    return mirror->apply(received);
  }
  /// Anna in chunk 1 of everyone, 2 of her team, 3 of her own.
  void show_anna_to_all() {
    everyone.bind(0, kAnna);
    set(everyone, 0, "shoal.demo.Health", Health{70, 100});
    team.bind(4, kAnna);
    set(team, 4, "shoal.demo.Waypoint", Waypoint{5, 6});
    owner.bind(9, kAnna);
    set(owner, 9, "shoal.demo.Ammunition", Ammunition{30});
    for (const ChunkVersion* version : {&everyone, &team, &owner}) ASSERT_TRUE(arrives(*version));
  }
  bool arrives(const ChunkVersion& version, Epoch epoch = Epoch{1}) {
    return mirror->apply(block(nullptr, version, {}, epoch)) == BlockOutcome::Applied;
  }

  ChunkVersion everyone = empty(1, 10);
  ChunkVersion team = empty(2, 10, Audience::Team);
  ChunkVersion owner = empty(3, 10, Audience::Owner);
};

// --- several audiences ---

TEST_F(MirrorInterestTest, EntityShowsFromTheChunksOfEachAudience) {
  show_anna_to_all();
  EXPECT_EQ(registry.get<Health>(kAnna).current, 70);
  EXPECT_EQ(registry.get<Waypoint>(kAnna).x, 5);
  EXPECT_EQ(registry.get<Ammunition>(kAnna).rounds, 30);
  EXPECT_EQ(registry.alive_count(), 1u);
}

TEST_F(MirrorInterestTest, TeamKeepsAnEntityAliveThatWentOutOfSight) {
  show_anna_to_all();
  int removed = 0;
  const auto connection = registry.on_destroy<Health>().connect_scoped([&](Registry&, Entity) { ++removed; });
  mirror->drop(everyone.chunk(), Epoch{1});
  ASSERT_TRUE(registry.alive(kAnna));
  EXPECT_FALSE(registry.all_of<Health>(kAnna)) << "what everyone may see is out of sight";
  EXPECT_EQ(removed, 1);
  EXPECT_TRUE(registry.all_of<Waypoint>(kAnna));
  mirror->drop(owner.chunk(), Epoch{1});
  ASSERT_TRUE(registry.alive(kAnna));
  mirror->drop(team.chunk(), Epoch{1});
  EXPECT_FALSE(registry.alive(kAnna)) << "with the last of them";
  EXPECT_EQ(mirror->counters().resynced_bindings, 0u) << "each ended for a reason";
}

// P20
TEST_F(MirrorInterestTest, OwnersComponentsDisappearAlone) {
  show_anna_to_all();
  const ChunkVersion next = without(owner, 9, 11);
  ASSERT_EQ(apply_departure(owner, next, {Tick{11}, 9, kAnna, DepartureReason::NoLongerReplicated, {}}),
            BlockOutcome::Applied);
  ASSERT_TRUE(registry.alive(kAnna));
  EXPECT_FALSE(registry.all_of<Ammunition>(kAnna));
  EXPECT_TRUE((registry.all_of<Health, Waypoint>(kAnna)));
}

TEST_F(MirrorInterestTest, WhoWasToldDeadByOneChunkIsDeadInAll) {
  show_anna_to_all();
  ASSERT_EQ(
      apply_departure(owner, without(owner, 9, 11), {Tick{11}, 9, kAnna, DepartureReason::Destroyed, {}}),
      BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna));
  ChunkVersion later = team;
  later.set_tick(Tick{12});
  set(later, 4, "shoal.demo.Waypoint", Waypoint{7, 8});
  EXPECT_EQ(mirror->apply(block(&team, later)), BlockOutcome::Applied) << "its chunk does not know yet";
  EXPECT_FALSE(registry.alive(kAnna));
}

TEST_F(MirrorInterestTest, MoveConcernsTheAudienceOfItsChunkAlone) {
  show_anna_to_all();
  const ChunkId target = ChunkId::of(Audience::Team, 8);
  ASSERT_EQ(apply_departure(team, without(team, 4, 11), {Tick{11}, 4, kAnna, DepartureReason::Moved, target},
                            std::span(&target, 1)),
            BlockOutcome::Applied);
  EXPECT_FALSE(registry.all_of<Waypoint>(kAnna)) << "her new team's chunk is not received";
  EXPECT_TRUE((registry.all_of<Health, Ammunition>(kAnna)));
}

// --- chunks that leave ---

// P6
TEST_F(MirrorInterestTest, LateBlockOfAnEpochThatIsOverIsAcknowledgedAndNotShown) {
  everyone.bind(0, kAnna);
  ASSERT_TRUE(arrives(everyone));
  ChunkVersion later = everyone;
  later.set_tick(Tick{11});
  later.bind(1, kBert);
  mirror->drop(everyone.chunk(), Epoch{1});
  const BlockOutcome outcome = mirror->apply(block(&everyone, later));
  EXPECT_EQ(outcome, BlockOutcome::Outdated);
  EXPECT_TRUE(may_be_acknowledged(outcome)) << "else it would come again and again";
  EXPECT_EQ(registry.alive_count(), 0u);
  EXPECT_TRUE(mirror->wanted().empty()) << "nothing is missing";
  EXPECT_EQ(mirror->counters().outdated_blocks, 1u);
  EXPECT_EQ(mirror->chunk_count(), 0u);
}

TEST_F(MirrorInterestTest, LateWordOfALeaveDoesNotEndTheNextEpoch) {
  everyone.bind(0, kAnna);
  ASSERT_TRUE(arrives(everyone));
  ASSERT_TRUE(arrives(everyone, Epoch{2})) << "it came back before the word that it had left";
  mirror->drop(everyone.chunk(), Epoch{1});
  EXPECT_TRUE(registry.alive(kAnna));
  EXPECT_EQ(mirror->chunk_count(), 1u);
  mirror->drop(everyone.chunk(), Epoch{2});
  EXPECT_FALSE(registry.alive(kAnna));
}

TEST_F(MirrorInterestTest, ChunkThatComesBackShowsWhatChangedMeanwhile) {
  everyone.bind(0, kAnna);
  everyone.bind(1, kBert);
  ASSERT_TRUE(arrives(everyone));
  const ChunkVersion later = without(everyone, 0, 30);
  ASSERT_TRUE(arrives(later, Epoch{2})) << "the word that it had left was lost";
  EXPECT_FALSE(registry.alive(kAnna));
  EXPECT_TRUE(registry.alive(kBert));
  EXPECT_FALSE(mirror->has_version(everyone.chunk(), Tick{10})) << "the server will not name it any more";
}

// P6: the drop overtakes the only block that there ever was.
TEST_F(MirrorInterestTest, DropThatOvertakesItsChunkIsRemembered) {
  everyone.bind(0, kAnna);
  mirror->drop(everyone.chunk(), Epoch{1});
  EXPECT_EQ(mirror->apply(block(nullptr, everyone)), BlockOutcome::Outdated);
  EXPECT_EQ(registry.alive_count(), 0u);
  EXPECT_EQ(mirror->shown_count(), 0u);
  EXPECT_EQ(mirror->chunk_count(), 0u);
  EXPECT_TRUE(arrives(everyone, Epoch{2}));
  EXPECT_TRUE(registry.alive(kAnna));
}

// P6: the same of a chunk that has left before, and came back in between without the client hearing of it.
TEST_F(MirrorInterestTest, DropOfALaterEpochThatOvertakesItsChunkIsRemembered) {
  everyone.bind(0, kAnna);
  ASSERT_TRUE(arrives(everyone));
  mirror->drop(everyone.chunk(), Epoch{1});
  mirror->drop(everyone.chunk(), Epoch{2});
  EXPECT_EQ(mirror->apply(block(nullptr, everyone, {}, Epoch{2})), BlockOutcome::Outdated);
  EXPECT_EQ(registry.alive_count(), 0u);
  EXPECT_EQ(mirror->dropped_count(), 1u);
  EXPECT_TRUE(arrives(everyone, Epoch{3}));
  EXPECT_TRUE(registry.alive(kAnna));
}

TEST_F(MirrorInterestTest, SecondWordThatAChunkLeftIsNothing) {
  everyone.bind(0, kAnna);
  ASSERT_TRUE(arrives(everyone));
  for (int i = 0; i < 3; ++i) mirror->drop(everyone.chunk(), Epoch{1});
  EXPECT_EQ(mirror->dropped_count(), 1u);
  EXPECT_EQ(mirror->shown_count(), 0u);
  EXPECT_EQ(mirror->chunk_count(), 0u);
}

TEST_F(MirrorInterestTest, ChunkThatLeftIsNotAskedForAnyMore) {
  ChunkVersion later = everyone;
  later.set_tick(Tick{11});
  ASSERT_EQ(mirror->apply(block(&everyone, later)), BlockOutcome::BaselineMissing);
  ASSERT_EQ(mirror->wanted().size(), 1u);
  mirror->drop(everyone.chunk(), Epoch{1});
  EXPECT_TRUE(mirror->wanted().empty());
}

// P21
TEST_F(MirrorInterestTest, ChunksThatLeftAreForgottenOneDay) {
  for (std::uint32_t chunk = 0; chunk < kMaxDroppedChunks + 500; ++chunk) {
    mirror->drop(ChunkId{chunk}, Epoch{1});
    ASSERT_LE(mirror->dropped_count(), kMaxDroppedChunks);
  }
  EXPECT_EQ(mirror->dropped_count(), kMaxDroppedChunks);
  EXPECT_EQ(mirror->chunk_count(), 0u);
  // One that comes back and leaves again is a young one.
  const ChunkVersion oldest = empty(500, 10);
  ASSERT_TRUE(arrives(oldest, Epoch{2}));
  mirror->drop(oldest.chunk(), Epoch{2});
  for (std::uint32_t chunk = 100'000; chunk < 100'000 + kMaxDroppedChunks - 1; ++chunk)
    mirror->drop(ChunkId{chunk}, Epoch{1});
  EXPECT_EQ(mirror->apply(block(nullptr, oldest, {}, Epoch{2})), BlockOutcome::Outdated);
  EXPECT_LE(mirror->dropped_count(), kMaxDroppedChunks);
}

// T15
TEST_F(MirrorInterestTest, ChunkOfNoAudienceIsRefused) {
  const ChunkId invalid{0xC0000001};
  ASSERT_FALSE(invalid.is_valid());
  ReceivedBlock received = block(nullptr, everyone);
  received.chunk = invalid;
  EXPECT_EQ(mirror->apply(received), BlockOutcome::Refused);
  EXPECT_EQ(mirror->counters().refused_blocks, 1u);
  mirror->drop(invalid, Epoch{1});
  EXPECT_EQ(mirror->dropped_count(), 0u);
  EXPECT_EQ(mirror->chunk_count(), 0u);
}

// --- moves ---

TEST_F(MirrorInterestTest, MoveOutOfSightEndsAtOnce) {
  everyone.bind(0, kAnna);
  ASSERT_TRUE(arrives(everyone));
  const ChunkId target{2};
  ASSERT_EQ(apply_departure(everyone, without(everyone, 0, 12),
                            {Tick{12}, 0, kAnna, DepartureReason::Moved, target}, std::span(&target, 1)),
            BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna));
  EXPECT_EQ(mirror->counters().resynced_bindings, 0u);
  ChunkVersion arrived = empty(2, 20);
  arrived.bind(3, kAnna);
  ASSERT_TRUE(arrives(arrived)) << "later it came into interest";
  EXPECT_TRUE(registry.alive(kAnna));
}

TEST_F(MirrorInterestTest, MoveToAChunkThatLeavesBeforeItArrivesEnds) {
  everyone.bind(0, kAnna);
  ASSERT_TRUE(arrives(everyone));
  ASSERT_EQ(apply_departure(everyone, without(everyone, 0, 12),
                            {Tick{12}, 0, kAnna, DepartureReason::Moved, ChunkId{2}}),
            BlockOutcome::Applied);
  ASSERT_TRUE(registry.alive(kAnna)) << "it waits";
  mirror->drop(ChunkId{2}, Epoch{1});
  EXPECT_FALSE(registry.alive(kAnna));
  EXPECT_EQ(mirror->counters().resynced_bindings, 0u) << "that it left is the reason";
}

TEST_F(MirrorInterestTest, MoveToAChunkThatHasLeftEndsAtOnce) {
  everyone.bind(0, kAnna);
  ASSERT_TRUE(arrives(everyone));
  ASSERT_TRUE(arrives(empty(2, 10)));
  mirror->drop(ChunkId{2}, Epoch{1});
  ASSERT_EQ(apply_departure(everyone, without(everyone, 0, 12),
                            {Tick{12}, 0, kAnna, DepartureReason::Moved, ChunkId{2}}),
            BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna));
}

TEST_F(MirrorInterestTest, ChunkThatIsLeftByAMoveAndThenDroppedTakesNobodyAlong) {
  everyone.bind(0, kAnna);
  ASSERT_TRUE(arrives(everyone));
  ASSERT_EQ(apply_departure(everyone, without(everyone, 0, 12),
                            {Tick{12}, 0, kAnna, DepartureReason::Moved, ChunkId{2}}),
            BlockOutcome::Applied);
  mirror->drop(everyone.chunk(), Epoch{1});
  EXPECT_TRUE(registry.alive(kAnna)) << "it lives on where it moved";
  ChunkVersion arrived = empty(2, 12);
  arrived.bind(3, kAnna);
  ASSERT_TRUE(arrives(arrived));
  EXPECT_TRUE(registry.alive(kAnna));
}

// It moved on from where it was awaited: it is awaited at the next one, not ended and made again.
TEST_F(MirrorInterestTest, EntityThatMovedTwiceStaysUntilItsLastChunkArrives) {
  everyone.bind(0, kAnna);
  set(everyone, 0, "shoal.demo.Health", Health{33, 100});
  const ChunkVersion between = empty(2, 10);
  ASSERT_TRUE(arrives(everyone));
  ASSERT_TRUE(arrives(between));
  bool was_destroyed = false;
  const auto connection =
      registry.on_destroy<Health>().connect_scoped([&](Registry&, Entity) { was_destroyed = true; });
  ASSERT_EQ(apply_departure(everyone, without(everyone, 0, 12),
                            {Tick{12}, 0, kAnna, DepartureReason::Moved, ChunkId{2}}),
            BlockOutcome::Applied);
  ASSERT_TRUE(registry.alive(kAnna));
  ChunkVersion passed = between;
  passed.set_tick(Tick{15});
  ASSERT_EQ(apply_departure(between, passed, {Tick{14}, 7, kAnna, DepartureReason::Moved, ChunkId{3}}),
            BlockOutcome::Applied);
  ASSERT_TRUE(registry.alive(kAnna));
  EXPECT_EQ(registry.get<Health>(kAnna).current, 33) << "the last values stay";
  ChunkVersion arrived = empty(3, 14);
  arrived.bind(3, kAnna);
  set(arrived, 3, "shoal.demo.Health", Health{34, 100});
  ASSERT_TRUE(arrives(arrived));
  EXPECT_EQ(registry.get<Health>(kAnna).current, 34);
  EXPECT_FALSE(was_destroyed);
  EXPECT_EQ(mirror->counters().resynced_bindings, 0u);
}

TEST_F(MirrorInterestTest, EntityThatIsHiddenWhereItWasAwaitedEndsForThatReason) {
  everyone.bind(0, kAnna);
  const ChunkVersion between = empty(2, 10);
  ASSERT_TRUE(arrives(everyone));
  ASSERT_TRUE(arrives(between));
  ASSERT_EQ(apply_departure(everyone, without(everyone, 0, 12),
                            {Tick{12}, 0, kAnna, DepartureReason::Moved, ChunkId{2}}),
            BlockOutcome::Applied);
  ChunkVersion passed = between;
  passed.set_tick(Tick{15});
  ASSERT_EQ(apply_departure(between, passed, {Tick{15}, 7, kAnna, DepartureReason::NoLongerReplicated, {}}),
            BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna));
  EXPECT_EQ(mirror->counters().resynced_bindings, 0u);
}

// --- references ---

// P7: with one word to the listeners for each, however many wait for the same one.
TEST_F(MirrorInterestTest, ThousandsOfReferencesAreMendedWhenTheirEntityArrives) {
  constexpr std::uint32_t kWaiting = 20'000;
  std::uint32_t next = 1000;
  for (std::uint32_t chunk = 10; next < 1000 + kWaiting; ++chunk) {
    ChunkVersion version = empty(chunk, 10);
    for (Slot slot = 0; slot < 40; ++slot) {
      version.bind(slot, Entity{next++, 1});
      set(version, slot, "shoal.demo.Projectile", Projectile{kBert, 5});
    }
    ASSERT_TRUE(arrives(version));
  }
  std::uint32_t updates = 0;
  const auto connection =
      registry.on_update<Projectile>().connect_scoped([&](Registry&, Entity) { ++updates; });
  everyone.bind(0, kBert);
  ASSERT_TRUE(arrives(everyone));
  EXPECT_EQ(updates, kWaiting);
  for (auto [entity, projectile] : registry.view<const Projectile>()) ASSERT_EQ(projectile.owner, kBert);
  ChunkVersion again = everyone;
  again.set_tick(Tick{11});
  again.bind(1, kAnna);
  ASSERT_EQ(mirror->apply(block(&everyone, again)), BlockOutcome::Applied);
  EXPECT_EQ(updates, kWaiting) << "none waits any more";
}

TEST_F(MirrorInterestTest, ReferenceToWhoLeftAndCameBackIsWhole) {
  ChunkVersion arrows = empty(5, 10);
  arrows.bind(0, kAnna);
  set(arrows, 0, "shoal.demo.Projectile", Projectile{kBert, 5});
  everyone.bind(0, kBert);
  ASSERT_TRUE(arrives(everyone));
  ASSERT_TRUE(arrives(arrows));
  mirror->drop(everyone.chunk(), Epoch{1});
  EXPECT_FALSE(registry.alive(registry.get<Projectile>(kAnna).owner));
  ChunkVersion later = arrows;
  later.set_tick(Tick{12});
  set(later, 0, "shoal.demo.Projectile", Projectile{kBert, 6});
  ASSERT_EQ(mirror->apply(block(&arrows, later)), BlockOutcome::Applied);
  EXPECT_TRUE(registry.get<Projectile>(kAnna).owner.is_null()) << "written while nobody was there";
  ASSERT_TRUE(arrives(everyone, Epoch{2}));
  EXPECT_EQ(registry.get<Projectile>(kAnna).owner, kBert);
}

}  // namespace
}  // namespace shoal
