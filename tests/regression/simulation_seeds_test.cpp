// Seeds that failed once, each with what was wrong.

#include <gtest/gtest.h>

#include "shared/base/fault.hpp"
#include "tests/simulation/simulation.hpp"

namespace shoal::simulation {
namespace {

// An entity moved to a chunk that had told of its end already, and whose newest version was older than the
// block that told of the move: it was waited for without end.
TEST(SimulationSeeds, MoveToAChunkThatHasToldAlreadyLeavesNoGhost) {
  for (const std::uint64_t seed : {915u, 1062u, 2763u}) EXPECT_EQ(run_seed(seed), "") << "seed " << seed;
}

// Acknowledgements were lost for so long that the mirror threw away the baseline which the server went on
// naming.
TEST(SimulationSeeds, BaselineOutlivesALongSilenceOfAcknowledgements) {
  EXPECT_EQ(run_seed(3885), "");
}

// A block was given up for lost, then its acknowledgement came: the server sent a delta from the current
// version to itself, which on the wire is a full state.
TEST(SimulationSeeds, WhatArrivedAfterAllIsNotSentAgain) {
  for (const std::uint64_t seed : {768u, 950u}) EXPECT_EQ(run_seed(seed), "") << "seed " << seed;
}

// A tag that an entity gained after it was bound was never replicated: it takes no bits.
TEST(SimulationSeeds, TagGainedLaterIsReplicated) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_EQ(run_seed(seed), "") << "seed " << seed;
}

// The acknowledgement of one datagram counted for a dropped chunk that another one carried, and lost: a ghost.
TEST(SimulationSeeds, ChunkThatLeftIsToldUntilItsOwnDatagramIsAcknowledged) {
  EXPECT_EQ(run_seed(214), "");
}

// A baseline was older than all that the client had kept, since a version in flight may be pinned for long.
TEST(SimulationSeeds, BaselineIsNeverOlderThanWhatTheClientKeeps) {
  EXPECT_EQ(run_seed(505), "");
}

// A later life of an index was shown and went out of sight; then an old version of another chunk showed the life before.
TEST(SimulationSeeds, EarlierLifeIsNotShownAfterALaterOneThatWentOutOfSight) {
  EXPECT_EQ(run_seed(200952), "");
}

// An attacker handed a client packets of the server that was no more, which its link had lost: they were taken for signs of
// life, and the client did not come back in time.
TEST(SimulationSeeds, PacketsThatWereHeldBackAreNoSignsOfLife) {
  EXPECT_EQ(run_seed(401994), "");
}

// A copy that an attacker made overtook a queue longer than the time-out, and what waited in it was no sign of life: such
// lines are not in the plans any more.
TEST(SimulationSeeds, CopyThatOvertakesAQueueEndsNoSession) {
  EXPECT_EQ(run_seed(500956), "");
}

// What attackers sent under a client's address took the room on that client's thin line, so that nothing of its own left for
// longer than the time-out: no attacker sends by another's line.
TEST(SimulationSeeds, ForgeriesTakeNoRoomOnTheLineOfWhoseNameTheyBear) {
  for (const std::uint64_t seed : {500480u, 504880u}) EXPECT_EQ(run_seed(seed), "") << "seed " << seed;
}

// The only client had the wrong password, so that no packet was ever sent: the checker of the wire took that for its own
// blindness.
TEST(SimulationSeeds, NobodyWhoMayJoinLeavesTheWireEmpty) {
  EXPECT_EQ(run_seed(100791), "");
}

#ifdef SHOAL_ENABLE_FAULTS
// Another chunk told of an entity's end, its own did not yet: the mirror showed a state older than an event about it, and
// handed the event out, since the entity was known to be dead.
TEST(SimulationSeeds, EventAboutWhoIsDeadWaitsWhileTheMirrorShowsIt) {
  set_faults("short-history");
  EXPECT_EQ(run_seed(26), "");
  set_faults("");
}
#endif

// Every datagram was given up for lost before its acknowledgement came; late acknowledgements taught nothing, so that
// went on for ever and no baseline was ever reached.
TEST(SlowPath, RoundTripBeyondTheFirstLossDeadlineIsServed) {
  Plan plan;
  plan.world.game.entities = 60;
  plan.length = seconds(8);
  ClientPlan client;
  client.to_server.latency = milliseconds(900);
  client.from_server.latency = milliseconds(900);
  plan.clients.push_back(client);
  Simulation simulation(plan);
  EXPECT_EQ(simulation.run(all_checkers()), "");
}

}  // namespace
}  // namespace shoal::simulation
