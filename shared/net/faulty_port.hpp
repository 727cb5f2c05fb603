// A port in front of another one, with the link model's faults in both directions: real sockets under a bad
// network, without root and without touching the machine.
//
// Datagrams move on when someone calls flush(), receive() or pump(), which are due by then: call one of them
// often, or by next_event(). Threads: one. Memory: at most kMaxWaiting datagrams per direction, more are lost.
#pragma once

#include <cstdint>
#include <optional>

#include "shared/base/time.hpp"
#include "shared/net/datagram_port.hpp"
#include "shared/net/delay_queue.hpp"
#include "shared/net/link_model.hpp"

namespace shoal {

struct PathFaults {
  LinkFaults outgoing{};
  LinkFaults incoming{};
};

class FaultyPort final : public DatagramPort {
 public:
  static constexpr std::size_t kMaxWaiting = 1 << 13;

  /// `inner` and `clock` must outlive it.
  FaultyPort(DatagramPort& inner, const Clock& clock, const PathFaults& faults, std::uint64_t seed);

  /// True also for what the model loses: the sender of a lost datagram cannot tell.
  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override;
  void flush() override { pump(); }
  bool receive(Datagram& datagram) override;
  Endpoint local() const override { return inner_.local(); }
  /// Of the inner port: what really went over the wire.
  PortCounters counters() const override { return inner_.counters(); }

  /// Sends and takes in what is due by now.
  void pump();
  /// When the next delayed datagram is due, in either direction.
  std::optional<Time> next_event() const;

  void set_faults(const PathFaults& faults);
  const LinkCounters& outgoing_counters() const { return outgoing_.model.counters(); }
  const LinkCounters& incoming_counters() const { return incoming_.model.counters(); }

 private:
  struct Direction {
    LinkModel model;
    DelayQueue queue{kMaxWaiting};

    void offer(Time now, const Endpoint& peer, std::span<const std::byte> bytes);
  };

  DatagramPort& inner_;
  const Clock& clock_;
  Direction outgoing_;
  Direction incoming_;
  Datagram arriving_;
};

}  // namespace shoal
