#include "tests/simulation/simulation.hpp"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include "schema/components.hpp"
#include "shared/base/fault.hpp"
#include "tests/simulation/checkers/mirror_checker.hpp"

namespace shoal::simulation {
namespace {

// Several tests, so that ctest plays them side by side.
class Seeds : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(Seeds, PassEveryChecker) {
  for (std::uint64_t seed = GetParam(); seed < GetParam() + 20; ++seed) {
    const std::string failure = run_seed(seed);
    ASSERT_EQ(failure, "") << "again: scripts/simulate --seeds 1 --from " << seed;
  }
}
INSTANTIATE_TEST_SUITE_P(Simulation, Seeds, ::testing::Range<std::uint64_t>(1, 161, 20));

// The canary: were it not found, the alarm would be broken.
TEST(Canary, AValueChangedInOneMirrorIsFound) {
  Simulation simulation(plan_of(3));
  const auto checkers = all_checkers();
  ASSERT_EQ(simulation.run(checkers), "");
  for (const auto& actor : simulation.clients()) {
    Registry* mirror = actor->client->registry();
    if (!mirror || actor->client->state() != ClientState::Connected) continue;
    for (auto [entity, position] : mirror->view<demo::Position>())
      position.x = position.x > 0 ? -50.0f : 50.0f;
    MirrorChecker checker;
    checker.at_end(simulation);
    EXPECT_NE(checker.failure().find("Position.x"), std::string::npos) << checker.failure();
    return;
  }
  FAIL() << "nobody is connected at the end of this seed: take another";
}

TEST(Canary, TheSameSeedIsTheSameRun) {
  const auto play = [] {
    Simulation simulation(plan_of(11));
    const auto checkers = all_checkers();
    const std::string failure = simulation.run(checkers);
    const auto& counters = simulation.server().transport_counters();
    return fmt::format("{} {} {} {}", failure, counters.sent_bytes, counters.received_bytes,
                       digest_world(simulation.server().registry(), simulation.server().table()).hash);
  };
  EXPECT_EQ(play(), play());
}

#ifdef SHOAL_ENABLE_FAULTS

// What a fault breaks, and which checker says so. Each checker is seen to fail by at least one.
struct FaultCase {
  const char* faults;
  const char* checker;
  std::uint64_t first_seed = 1;
};
void PrintTo(const FaultCase& fault_case, std::ostream* out) {
  *out << fault_case.faults;
}

class Faults : public ::testing::TestWithParam<FaultCase> {
 protected:
  void TearDown() override { set_faults(""); }
};

TEST_P(Faults, AreNoticedByTheirChecker) {
  set_faults(GetParam().faults);
  for (std::uint64_t seed = GetParam().first_seed; seed < GetParam().first_seed + 60; ++seed) {
    const std::string failure = run_seed(seed);
    if (failure.empty()) continue;
    EXPECT_EQ(failure.substr(0, failure.find(' ')), GetParam().checker) << failure;
    return;
  }
  FAIL() << "nobody noticed " << GetParam().faults;
}
INSTANTIATE_TEST_SUITE_P(
    Simulation, Faults,
    ::testing::Values(FaultCase{"skip-unbind", "progress"}, FaultCase{"keep-slot-on-reuse", "progress"},
                      FaultCase{"forget-lost-blocks", "mirror"}, FaultCase{"show-late-blocks", "progress"},
                      FaultCase{"skip-mending", "mirror"}, FaultCase{"corrupt-block", "progress"},
                      FaultCase{"acknowledge-unverified,corrupt-block", "progress"},
                      FaultCase{"lose-baselines", "progress"}, FaultCase{"keep-old-versions", "memory"},
                      FaultCase{"reject-inputs", "session"}, FaultCase{"forget-drops", "mirror"},
                      FaultCase{"skip-absent", "mirror"}, FaultCase{"reuse-epoch", "progress"},
                      FaultCase{"starve-far-chunks", "wait"}, FaultCase{"never-change-square", "mirror"},
                      FaultCase{"never-retire", "memory"}, FaultCase{"show-all", "mirror"},
                      FaultCase{"net-move-unproved", "stranger"}, FaultCase{"net-short-hello", "stranger"},
                      FaultCase{"net-any-password", "stranger"}, FaultCase{"revive-dead", "life", 470},
                      FaultCase{"net-forget-lost-fragments", "messages"},
                      FaultCase{"net-deliver-twice", "messages"}, FaultCase{"net-event-early", "messages"},
                      FaultCase{"event-to-all", "messages"}, FaultCase{"return-as-anyone", "player", 30},
                      FaultCase{"net-reuse-sequence", "wire"}, FaultCase{"net-forget-sequence", "wire"},
                      FaultCase{"net-keys-twice", "wire"}, FaultCase{"net-accept-duplicates", "wire"},
                      FaultCase{"net-believe-tags", "progress"}, FaultCase{"net-keep-silent", "silence"},
                      FaultCase{"net-no-limits", "silence"}, FaultCase{"net-keep-replaced", "player"},
                      FaultCase{"net-believe-players", "stranger"}));

// Which of these heal by themselves: only what the world comes to in the end is looked at.
std::string run_to_the_end(std::uint64_t seed) {
  Simulation simulation(plan_of(seed));
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(std::make_unique<MirrorChecker>());
  return simulation.run(checkers);
}

class Healing : public Faults {};

// P5: one broken block, or many, and the client recovers. P4: a baseline that is gone is answered by a full
// state.
TEST_P(Healing, EndsExactAllTheSame) {
  set_faults(GetParam().faults);
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    ASSERT_EQ(run_to_the_end(seed), "") << "seed " << seed << " with " << GetParam().faults;
  }
}
INSTANTIATE_TEST_SUITE_P(Simulation, Healing,
                         ::testing::Values(FaultCase{"corrupt-block", ""}, FaultCase{"lose-baselines", ""},
                                           FaultCase{"short-history", ""}));

TEST_F(Faults, WithoutTheHashAWrongBlockStaysInTheMirror) {
  set_faults("keep-slot-on-reuse,skip-hash-check");
  bool noticed = false;
  for (std::uint64_t seed = 1; seed <= 10 && !noticed; ++seed) noticed = !run_to_the_end(seed).empty();
  EXPECT_TRUE(noticed);
}

TEST_F(Faults, WithoutResyncALostBaselineIsForEver) {
  set_faults("lose-baselines,ignore-resync");
  bool noticed = false;
  for (std::uint64_t seed = 1; seed <= 10 && !noticed; ++seed) noticed = !run_to_the_end(seed).empty();
  EXPECT_TRUE(noticed);
}

#endif

}  // namespace
}  // namespace shoal::simulation
