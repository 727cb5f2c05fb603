// A server and its clients in one process, under a clock that is told to go on and a network in memory. The
// code is that of shoal-server and shoal-bots; only time, randomness and the network are replaced.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/bots/behaviour.hpp"
#include "client/client.hpp"
#include "server/server.hpp"
#include "server/tick_schedule.hpp"
#include "shared/net/simulated_network.hpp"
#include "tests/simulation/attackers.hpp"
#include "tests/simulation/mail.hpp"
#include "tests/simulation/plan.hpp"
#include "tests/simulation/wire.hpp"

namespace shoal::simulation {

/// One client of the plan, with all sessions that it has one after the other.
struct SimulatedClient {
  ClientPlan plan;
  Endpoint endpoint;
  std::vector<Endpoint> past_endpoints;  // before it moved; the server may still know it there
  std::unique_ptr<ManualClock> clock;
  std::unique_ptr<DatagramPort> port;
  std::unique_ptr<Client> client;
  Behaviour behaviour;
  Time next_update{};
  Time next_read{};
  std::uint32_t sessions = 0;
  std::uint32_t sessions_before_restart = 0;
  std::uint32_t worlds = 0;  // mirrors so far; by their addresses they cannot be told apart
  std::uint32_t moves = 0;
  Duration moved_while_joining_at{};  // 0: never
  Endpoint partitioned{};             // where it was cut off; port 0: it is not
  bool has_left = false;
  bool has_returned = false;

  /// Where it is, or was before it moved.
  bool is_at(const Endpoint& peer) const;
  /// The mirror of a session with the server that runs now; null when there is none.
  const Mirror* mirror() const;
  /// True when the plan wants it in the game at that time.
  bool should_be_connected(Duration now) const;
};

class Simulation;

/// Looks at a simulation after every step and at the end; what is wrong is said once, in words.
class Checker {
 public:
  virtual ~Checker() = default;
  virtual const char* name() const = 0;
  virtual void after_step(const Simulation&) {}
  /// The world is frozen and everything that could arrive has arrived.
  virtual void at_end(const Simulation&) {}

  const std::string& failure() const { return failure_; }

 protected:
  void fail(std::string what) {
    if (failure_.empty()) failure_ = std::move(what);
  }

 private:
  std::string failure_;
};

/// All checkers that there are.
std::vector<std::unique_ptr<Checker>> all_checkers();

class Simulation {
 public:
  explicit Simulation(const Plan& plan);

  /// Plays the plan, freezes the world, waits until all is compared. Returns the first failure, or nothing.
  std::string run(std::span<const std::unique_ptr<Checker>> checkers);

  const Plan& plan() const { return plan_; }
  const Server& server() const { return *server_; }
  /// How many servers there were so far, one after the other.
  std::uint32_t servers() const { return servers_; }
  const Mail& mail() const { return mail_; }
  const Wire& wire() const { return wire_; }
  const std::vector<std::unique_ptr<SimulatedClient>>& clients() const { return clients_; }
  const std::vector<std::unique_ptr<Attacker>>& attackers() const { return attackers_; }
  /// How many players there were so far, of the honest and of the attackers.
  std::size_t players() const;
  /// Of the present server.
  Duration time_out() const { return time_out_; }
  /// Bytes that went between the server and an endpoint.
  struct Exchange {
    std::uint64_t to_server = 0;
    std::uint64_t from_server = 0;
  };
  const std::unordered_map<Endpoint, Exchange>& exchanges() const { return exchanges_; }
  Duration now() const { return clock_.now().since_zero; }

 private:
  void start_server();
  void step();
  void run_client(SimulatedClient& client, std::size_t number);
  void cut_off(SimulatedClient& client);
  void move(SimulatedClient& client, std::size_t number);
  std::string first_failure(std::span<const std::unique_ptr<Checker>> checkers) const;

  Plan plan_;
  ManualClock clock_;
  SeededEntropy entropy_;
  SimulatedNetwork network_;
  Mail mail_;
  Wire wire_;
  std::unique_ptr<ChaosGame> game_;
  Endpoint server_endpoint_;
  std::unique_ptr<DatagramPort> server_port_;
  std::unique_ptr<Server> server_;
  TickSchedule schedule_;
  std::uint32_t servers_ = 0;
  Duration time_out_{};
  bool has_restarted_ = false;
  bool is_attacked_ = false;  // at this moment: what is sent is forged
  std::vector<std::unique_ptr<SimulatedClient>> clients_;
  std::vector<std::unique_ptr<Attacker>> attackers_;
  Scene scene_;
  std::unordered_map<Endpoint, Exchange> exchanges_;
};

/// One seed with all checkers. Empty when all is well.
std::string run_seed(std::uint64_t seed, double max_loss_percent = 30);

}  // namespace shoal::simulation
