// Who plays against the server and its players in a simulation. An attacker sees every datagram that is sent, may put
// any sender on its own, and has perfect links; what it lacks are keys, unless it is a liar.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "shared/base/random.hpp"
#include "shared/net/client_transport.hpp"
#include "shared/net/simulated_network.hpp"
#include "tests/simulation/plan.hpp"

namespace shoal::simulation {

/// What attackers know of the world.
struct Scene {
  SimulatedNetwork* network = nullptr;
  const Clock* clock = nullptr;
  Endpoint server;
  std::vector<Endpoint> clients;  // of the honest, as they are now
  SchemaVersions schema;
  std::vector<std::byte> password;  // empty: everyone may join
  std::vector<PublicKey> players;   // of the honest; no secret
};

class Attacker {
 public:
  Attacker(const AttackerPlan& plan, std::uint64_t number)
      : plan_(plan), random_(mix64(plan.seed)), number_(number) {}
  virtual ~Attacker() = default;

  /// Something was sent.
  virtual void see(const Endpoint&, const Endpoint&, std::span<const std::byte>) {}
  /// Called at each step; acts as often as the plan says.
  void step(const Scene& scene);
  /// Has a session: it cannot be told from a player until it acts.
  virtual bool is_joined() const { return false; }
  /// Where it joins from.
  virtual Endpoint home() const {
    return Endpoint::ipv4(10, 77, 0, static_cast<std::uint8_t>(number_ + 1), 4000);
  }
  /// Whether it may have a session from there.
  virtual bool may_join_from(const Endpoint& peer, bool has_password) const {
    const bool has_account =
        plan_.kind == AttackerKind::Liar || (plan_.kind == AttackerKind::Stranger && !has_password);
    return has_account && peer == home();
  }
  /// So many players it has been, and so many sessions it may have at once.
  virtual std::size_t players() const { return 1; }
  virtual std::size_t most_sessions() const { return 1; }
  const AttackerPlan& plan() const { return plan_; }

 protected:
  virtual void act(const Scene& scene) = 0;
  virtual void between_acts(const Scene&) {}
  virtual void finish() {}

  std::uint64_t number() const { return number_; }

  AttackerPlan plan_;
  Random random_;

 private:
  std::uint64_t number_;
  double owed_ = 0;
  Duration last_step_{};
  bool is_finished_ = false;
};

std::unique_ptr<Attacker> make_attacker(const AttackerPlan& plan, std::uint64_t number);

}  // namespace shoal::simulation
