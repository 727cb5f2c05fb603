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
  bool partition_to_server = false;  // one way: nothing reaches the server, else nothing reaches the client
  Duration moves_at{};               // 0: keeps its address
  Duration moves_again_at{};         // 0: once is enough
  Duration reads_every{};            // 0: at each step; a slow reader leaves its mail lying
  double clock_drift = 0;            // its clock goes so much faster: 0.01 is one percent
  Duration clock_ahead{};            // and stands ahead
};

enum class AttackerKind : std::uint8_t { HelloFlood, Spoofer, Replayer, Liar, Stranger, Silent, Impostor };
/// Sessions that one address outside may have open, and so a silent attacker.
inline constexpr std::uint32_t kMostSessionsOfAnAddress = 4;

struct AttackerPlan {
  AttackerKind kind = AttackerKind::HelloFlood;
  std::uint64_t seed = 0;
  Duration from{};
  Duration until{};
  double acts_per_second = 0;
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
  std::vector<AttackerPlan> attackers;
  bool has_password = false;
  Duration server_restarts_at{};  // 0: it does not

  /// Somebody has an account and says anything: what the server calls bad need not come from the honest.
  bool has_liars() const;
};

/// At most `max_loss_percent` of loss on any link.
Plan plan_of(std::uint64_t seed, double max_loss_percent = 30);

/// One line for people.
std::string describe(const Plan& plan);

}  // namespace shoal::simulation
