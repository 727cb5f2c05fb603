// A real server with the demo's world, on a network in memory under a clock that is told to go on, for the targets
// that fuzz what peers send. Ports can be tapped: what passed is kept, and datagrams of any sender can be put in.
//
// 1. Whatever was sent before, `require_honest_client_becomes_exact` must hold: a client from an unused address
//    joins, is told the whole world, and its mirror has the server's digest.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <vector>

#include "client/client.hpp"
#include "server/demo/demo_game.hpp"
#include "server/server.hpp"
#include "shared/net/packet_header.hpp"
#include "shared/net/simulated_network.hpp"

namespace shoal::fuzz {

/// A port that remembers what left through it, and takes in what is injected first.
class TappedPort final : public DatagramPort {
 public:
  explicit TappedPort(std::unique_ptr<DatagramPort> inner) : inner_(std::move(inner)) {}

  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override;
  void flush() override { inner_->flush(); }
  bool receive(Datagram& datagram) override;
  Endpoint local() const override { return inner_->local(); }
  PortCounters counters() const override { return inner_->counters(); }

  void inject(const Endpoint& sender, std::span<const std::byte> bytes);
  /// The last ones, oldest first.
  const std::deque<std::vector<std::byte>>& sent() const { return sent_; }

 private:
  static constexpr std::size_t kKept = 16;
  std::unique_ptr<DatagramPort> inner_;
  std::deque<Datagram> injected_;
  std::deque<std::vector<std::byte>> sent_;
};

inline constexpr Endpoint kServerEndpoint = Endpoint::ipv4(10, 0, 0, 1, 7777);

class FuzzWorld {
 public:
  FuzzWorld();

  ManualClock& clock() { return clock_; }
  Entropy& entropy() { return entropy_; }
  SimulatedNetwork& network() { return network_; }
  Server& server() { return *server_; }
  TappedPort& server_port() { return server_port_; }

  std::unique_ptr<TappedPort> open(const Endpoint& endpoint);
  std::unique_ptr<Client> make_client(DatagramPort& port);
  /// One tick's time, in three steps; the clients are polled and send their update.
  void run_tick(std::span<Client* const> clients);

  /// Freezes the world; aborts when it does not come true.
  void require_honest_client_becomes_exact();

 private:
  ManualClock clock_;
  SeededEntropy entropy_{1};
  SimulatedNetwork network_{clock_, 2};
  demo::DemoGame game_;
  TappedPort server_port_;
  std::unique_ptr<Server> server_;
};

struct Patch {
  std::size_t at;  // modulo the datagram's size
  std::byte flip;
};
/// Flips bits of a captured datagram as somebody would who has the session's keys (as its client sees them): what is
/// sealed is opened first, and sealed again. Without the right keys, or a session, the tag is left to be wrong.
void patch_and_repair(std::vector<std::byte>& datagram, std::span<const Patch> patches,
                      const ConnectionKeys* keys);
/// What the newest packet of a session in `sent` says of itself; none when there is none.
std::optional<PacketHeader> newest_packet(const TappedPort& port);

}  // namespace shoal::fuzz
