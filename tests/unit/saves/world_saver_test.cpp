// When the world is saved, and what a slow or failing disk does to the tick: nothing.
#include "server/saves/world_saver.hpp"

#include <gmock/gmock.h>

#include <atomic>

#include "saved_world.hpp"

namespace shoal {
namespace {

using test::Gate;
using test::MemoryDisk;
using test::SavedWorld;
using ::testing::HasSubstr;

class WorldSaverTest : public ::testing::Test {
 protected:
  WorldSaverTest() { EXPECT_FALSE(world.open(std::make_unique<MemoryDisk>(), {.keep = 3})); }
  void tick_at(WorldSaver& saver, double at) {
    world.run(1);
    saver.after_tick({.tick = world.server->tick(), .began = {from_milliseconds(at * 1000)}});
  }
  static void finish(const WorldSaver& saver) {
    while (saver.status().is_writing) std::this_thread::yield();
  }

  SavedWorld world;
};

TEST_F(WorldSaverTest, SavesWheneverTheIntervalIsOver) {
  WorldSaver saver(*world.server, world.game, *world.saves, world.steady, seconds(10));
  for (int i = 0; i <= 35; ++i) {
    tick_at(saver, i);
    finish(saver);
  }
  const SaveStatus status = saver.status();
  EXPECT_EQ(status.saves, 3u);
  EXPECT_EQ(status.failures, 0u);
  EXPECT_EQ(status.late, 0u);
  EXPECT_EQ(status.newest_tick, Tick{31}) << "the tick that began at 30 s";
  EXPECT_TRUE(status.newest);
  EXPECT_GT(status.last_bytes, 1000u);
  EXPECT_GT(status.bytes, 2 * status.last_bytes);
}

TEST_F(WorldSaverTest, SaveHoldsTheTickOfItsBeginning) {
  Gate gate;
  world.disk->before = [&](const std::string& call) {
    if (call == "create") gate.pass();
    return std::error_code();
  };
  std::uint64_t hash = 0;
  {
    WorldSaver saver(*world.server, world.game, *world.saves, world.steady, seconds(10));
    tick_at(saver, 0);
    tick_at(saver, 10);
    hash = world.hash();
    gate.wait_until_somebody_waits();
    for (int i = 0; i < 50; ++i) tick_at(saver, 10.1);
    gate.open();
    finish(saver);
  }
  SavedWorld again;
  ASSERT_FALSE(again.open(test::copy_of(*world.disk)));
  EXPECT_EQ(again.server->tick(), Tick{2});
  EXPECT_EQ(again.hash(), hash);
}

TEST_F(WorldSaverTest, NextOneWaitsForTheOneThatIsBeingWrittenAndTheTickForNeither) {
  Gate gate;
  world.disk->before = [&](const std::string& call) {
    if (call == "sync") gate.pass();
    return std::error_code();
  };
  WorldSaver saver(*world.server, world.game, *world.saves, world.steady, seconds(1));
  tick_at(saver, 0);
  tick_at(saver, 1);
  gate.wait_until_somebody_waits();
  for (int i = 2; i < 10; ++i) tick_at(saver, i);  // a tick that waited would never return
  EXPECT_EQ(saver.status().late, 1u) << "counted once, however long it waits";
  EXPECT_EQ(saver.status().saves, 0u);
  gate.open();
  finish(saver);
  tick_at(saver, 10.01);  // at once, since it is due
  finish(saver);
  EXPECT_EQ(saver.status().saves, 2u);
  EXPECT_EQ(saver.status().newest_tick, world.server->tick());
}

TEST_F(WorldSaverTest, FailureIsToldAndTheNextOneTriesAgain) {
  WorldSaver saver(*world.server, world.game, *world.saves, world.steady, seconds(1));
  std::atomic<bool> is_full{true};
  world.disk->before = [&](const std::string& call) {
    return call == "write" && is_full ? std::make_error_code(std::errc::no_space_on_device)
                                      : std::error_code();
  };
  for (int i = 0; i <= 3; ++i) {
    tick_at(saver, i);
    finish(saver);
  }
  EXPECT_EQ(saver.status().failures, 3u);
  EXPECT_EQ(saver.status().saves, 0u);
  EXPECT_FALSE(saver.status().newest);
  EXPECT_THAT(saver.status().last_failure, HasSubstr("make room"));
  is_full = false;
  tick_at(saver, 4);
  finish(saver);
  EXPECT_EQ(saver.status().saves, 1u);
  EXPECT_EQ(saver.status().last_failure, "");
}

TEST_F(WorldSaverTest, EndIsSavedAndWaitedFor) {
  WorldSaver saver(*world.server, world.game, *world.saves, world.steady, {});
  for (int i = 0; i < 20; ++i) tick_at(saver, 1000 * i);
  EXPECT_EQ(saver.status().saves, 0u) << "no interval, no saves before the end";
  saver.on_phase(ServicePhase::Ended);
  EXPECT_EQ(saver.status().saves, 1u);
  EXPECT_FALSE(saver.status().is_writing);
  EXPECT_EQ(saver.status().newest_tick, Tick{20});
}

TEST_F(WorldSaverTest, DrainIsSavedAtItsBeginningAndAtItsEnd) {
  WorldSaver saver(*world.server, world.game, *world.saves, world.steady, {});
  tick_at(saver, 0);
  saver.on_phase(ServicePhase::Draining);
  finish(saver);
  EXPECT_EQ(saver.status().newest_tick, Tick{1});
  tick_at(saver, 1);
  saver.on_phase(ServicePhase::Ended);
  EXPECT_EQ(saver.status().newest_tick, Tick{2});
  EXPECT_EQ(saver.status().saves, 2u);
}

TEST_F(WorldSaverTest, DrainThatEndsWithinItsTickIsSavedAgainSinceMessagesMayHaveWritten) {
  WorldSaver saver(*world.server, world.game, *world.saves, world.steady, {});
  tick_at(saver, 0);
  saver.on_phase(ServicePhase::Draining);
  finish(saver);
  const Entity written = world.server->registry().create();
  saver.on_phase(ServicePhase::Ended);
  EXPECT_EQ(saver.status().saves, 2u);
  EXPECT_EQ(saver.status().newest_tick, Tick{1});
  EXPECT_TRUE(world.saves->twin->alive(written));
}

TEST_F(WorldSaverTest, FrozenWorldIsSavedOnceAsOfItsLastTick) {
  WorldSaver saver(*world.server, world.game, *world.saves, world.steady, seconds(1));
  tick_at(saver, 0);
  world.server->freeze();
  saver.on_phase(ServicePhase::Comparing);
  for (int i = 1; i < 20; ++i) tick_at(saver, i);
  saver.on_phase(ServicePhase::Ended);
  EXPECT_EQ(saver.status().saves, 1u);
  EXPECT_EQ(saver.status().newest_tick, Tick{1});
}

TEST_F(WorldSaverTest, FrozenWorldThatCouldNotBeSavedIsTriedAgainInTheEnd) {
  WorldSaver saver(*world.server, world.game, *world.saves, world.steady, seconds(1));
  std::atomic<int> writes{0};
  world.disk->before = [&](const std::string& call) {
    return call == "write" && writes++ == 0 ? std::make_error_code(std::errc::io_error) : std::error_code();
  };
  world.server->freeze();
  saver.on_phase(ServicePhase::Comparing);
  saver.on_phase(ServicePhase::Ended);
  EXPECT_EQ(saver.status().failures, 1u);
  EXPECT_EQ(saver.status().saves, 1u);
}

}  // namespace
}  // namespace shoal
