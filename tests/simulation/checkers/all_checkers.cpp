#include "tests/simulation/checkers/life_checker.hpp"
#include "tests/simulation/checkers/memory_checker.hpp"
#include "tests/simulation/checkers/message_checker.hpp"
#include "tests/simulation/checkers/mirror_checker.hpp"
#include "tests/simulation/checkers/player_checker.hpp"
#include "tests/simulation/checkers/progress_checker.hpp"
#include "tests/simulation/checkers/session_checker.hpp"
#include "tests/simulation/checkers/silence_checker.hpp"
#include "tests/simulation/checkers/stranger_checker.hpp"
#include "tests/simulation/checkers/wait_checker.hpp"
#include "tests/simulation/checkers/wire_checker.hpp"

namespace shoal::simulation {

std::vector<std::unique_ptr<Checker>> all_checkers() {
  std::vector<std::unique_ptr<Checker>> checkers;
  checkers.push_back(std::make_unique<MirrorChecker>());
  checkers.push_back(std::make_unique<LifeChecker>());
  checkers.push_back(std::make_unique<ProgressChecker>());
  checkers.push_back(std::make_unique<MemoryChecker>());
  checkers.push_back(std::make_unique<SessionChecker>());
  checkers.push_back(std::make_unique<PlayerChecker>());
  checkers.push_back(std::make_unique<WaitChecker>());
  checkers.push_back(std::make_unique<SilenceChecker>());
  checkers.push_back(std::make_unique<StrangerChecker>());
  checkers.push_back(std::make_unique<MessageChecker>());
  checkers.push_back(std::make_unique<WireChecker>());
  return checkers;
}

}  // namespace shoal::simulation
