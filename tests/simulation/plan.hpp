// What one simulated run is made of: everything is drawn from one 64-bit seed, so that the seed is the bug
// report.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/bots/behaviour.hpp"
#include "server/square.hpp"
#include "shared/base/tick.hpp"
#include "shared/base/time.hpp"
#include "shared/net/link_model.hpp"
#include "tests/simulation/chaos_game.hpp"

namespace shoal::simulation {

struct ClientPlan {
  Scenario scenario = Scenario::Wander;
  Duration joins_at{};
  Duration leaves_at{};   // 0: stays to the end
  Duration returns_at{};  // 0: does not come back
  LinkFaults to_server;
  LinkFaults from_server;
  Duration partition_at{};  // 0: none
  Duration partition_length{};
  bool partition_one_way = false;
};

struct Plan {
  std::uint64_t seed = 0;
  ChaosConfig world;
  Tick first_tick{};
  std::uint32_t tick_rate_hz = 30;
  std::uint32_t max_datagrams_per_tick = 24;
  InterestConfig interest;
  std::uint64_t client_bytes_per_second = 0;      // 0: without a limit
  std::uint64_t full_state_bytes_per_second = 0;  // 0: without a limit
  Duration length{};
  std::vector<ClientPlan> clients;
};

/// At most `max_loss_percent` of loss on any link.
Plan plan_of(std::uint64_t seed, double max_loss_percent = 30);

/// One line for people.
std::string describe(const Plan& plan);

}  // namespace shoal::simulation
