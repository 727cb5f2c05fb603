// A network in memory under the clock that it is given: ports, and between each two of them two links with
// faults of their own. It draws everything from one seed; each link has its own stream of random numbers, so
// traffic on one does not move the faults of another.
//
// 1. What was sent becomes receivable when the clock reaches its delivery time, never earlier.
// 2. Per port, datagrams come in the order of delivery time, then of sending.
// 3. Memory is bounded: kMaxWaiting datagrams wait per port; more are lost and counted at that port.
// Threads: one. Ports must not outlive their network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "shared/base/time.hpp"
#include "shared/net/datagram_port.hpp"
#include "shared/net/link_model.hpp"

namespace shoal {

class SimulatedNetwork {
 public:
  static constexpr std::size_t kMaxWaiting = 1 << 14;

  SimulatedNetwork(const Clock& clock, std::uint64_t seed);
  ~SimulatedNetwork();
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;

  /// Port 0 takes a free one. Null when the endpoint is taken.
  std::unique_ptr<DatagramPort> open(Endpoint endpoint);

  /// The port goes on under another endpoint, as behind a router that forgot it: what is under way to the old one is
  /// lost. False when the new endpoint is taken. REQUIRES: a port of this network.
  bool move(DatagramPort& port, const Endpoint& endpoint);
  /// A datagram with any sender written on it, as if that one had sent it; but its forger has a line of its own, which takes
  /// nothing of the sender's rate.
  void forge(const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes) {
    send(source, target, bytes, false);
  }
  /// Is told of every datagram when it is sent, whatever becomes of it. It may forge others.
  using Tap =
      std::function<void(const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes)>;
  void set_tap(Tap tap) { tap_ = std::move(tap); }

  /// Faults by rule, the more special one wins: one link, then all links to an endpoint, then all from one,
  /// then the default. Datagrams under way keep the fate they have.
  void set_default_link(const LinkFaults& faults);
  void set_links_from(const Endpoint& source, const LinkFaults& faults);
  void set_links_to(const Endpoint& target, const LinkFaults& faults);
  void set_link(const Endpoint& source, const Endpoint& target, const LinkFaults& faults);

  /// From now on nothing that is sent from `source` to `target` arrives.
  void partition_one_way(const Endpoint& source, const Endpoint& target);
  void partition(const Endpoint& a, const Endpoint& b);
  /// Ends a partition, both ways.
  void heal(const Endpoint& a, const Endpoint& b);

  /// When the next datagram becomes receivable (it may be due already); none: nothing is under way.
  std::optional<Time> next_event() const;

  LinkCounters link_counters(const Endpoint& source, const Endpoint& target) const;
  LinkCounters total_counters() const;
  /// Sent to an endpoint that nobody has open.
  std::uint64_t undeliverable() const { return undeliverable_; }

 private:
  class Port;
  struct LinkKey {
    Endpoint source;
    Endpoint target;
    friend bool operator==(const LinkKey&, const LinkKey&) = default;
  };
  struct LinkKeyHash {
    std::size_t operator()(const LinkKey& key) const noexcept;
  };

  void send(const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes,
            bool capped = true);
  LinkModel& link(const Endpoint& source, const Endpoint& target);
  LinkFaults faults_for(const LinkKey& key) const;
  void apply_rules();

  const Clock& clock_;
  std::uint64_t seed_;
  Tap tap_;
  std::uint64_t undeliverable_ = 0;
  std::uint16_t next_free_port_ = 49152;
  LinkFaults default_faults_;
  std::unordered_map<Endpoint, LinkFaults> faults_from_;
  std::unordered_map<Endpoint, LinkFaults> faults_to_;
  std::unordered_map<LinkKey, LinkFaults, LinkKeyHash> faults_between_;
  std::unordered_set<LinkKey, LinkKeyHash> partitions_;
  std::unordered_map<LinkKey, LinkModel, LinkKeyHash> links_;
  std::unordered_map<Endpoint, Port*> ports_;
};

}  // namespace shoal
