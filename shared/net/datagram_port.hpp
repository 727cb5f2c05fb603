// The one way in which anything in shoal sends or receives: datagrams through a port. UdpPort is the real
// one, SimulatedNetwork gives ports in memory, FaultyPort puts faults in front of another port.
//
// 1. A port never blocks and never throws.
// 2. A datagram that could not be sent is a lost datagram: counted, and no one's error.
// Threads: a port belongs to one thread, unless its own header says more.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/net/endpoint.hpp"

namespace shoal {

/// Room for one received datagram. Larger than what shoal sends, so that a datagram that is too long is seen
/// as such instead of being cut to a plausible size.
struct Datagram {
  static constexpr std::size_t kCapacity = 1500;

  Endpoint peer;
  std::uint16_t size = 0;  // bytes used
  std::array<std::byte, kCapacity> bytes;

  std::span<const std::byte> span() const { return {bytes.data(), size}; }
};

struct PortCounters {
  std::uint64_t sent_datagrams = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_datagrams = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t send_failures = 0;      // full buffers, no route, too long: lost before they left
  std::uint64_t receive_failures = 0;   // the operating system reported an error instead of a datagram
  std::uint64_t unreachable = 0;        // of both: a host answered that nobody listens there (ICMP)
  std::uint64_t receive_overflows = 0;  // arrived, but the port's own queue was full
};

class DatagramPort {
 public:
  virtual ~DatagramPort() = default;

  /// Sends at once or loses it. False: lost before it left, and counted.
  virtual bool send(const Endpoint& peer, std::span<const std::byte> bytes) = 0;
  /// The next datagram that waits. False: none does, and `datagram` is unspecified.
  virtual bool receive(Datagram& datagram) = 0;
  virtual Endpoint local() const = 0;
  virtual PortCounters counters() const = 0;
};

}  // namespace shoal
