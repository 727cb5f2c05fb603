// The one way in which anything in shoal sends or receives: datagrams through a port. UdpPort is the real
// one, SimulatedNetwork gives ports in memory, FaultyPort puts faults in front of another port.
//
// 1. A port never blocks and never throws.
// 2. A datagram that could not be sent is a lost datagram: counted, and no one's error.
// 3. What was handed to send() may wait in the port until flush(), so that many leave with one call of the
//    system. It waits no longer than that, and a port may put it out earlier, at any time. Datagrams leave in
//    the order in which they were handed over.
// 4. So whoever sends says when it is done: the transports flush at the end of poll(), the server at the end
//    of its tick, a client after each datagram, since it has one at a time.
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
  alignas(16) std::array<std::byte, kCapacity> bytes;

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
  std::uint64_t receive_truncated = 0;  // arrived longer than the port reads, and was dropped
  // How many of the sent and of the received ones the system carried as parts of one large piece.
  std::uint64_t sent_in_bursts = 0;
  std::uint64_t received_in_bursts = 0;
};

class DatagramPort {
 public:
  virtual ~DatagramPort() = default;

  /// Takes a copy that leaves at the latest with flush(). False: this one can never leave (too long, or a
  /// protocol that the port does not speak), and it is counted. What is lost later is counted alone: the caller
  /// cannot know it at this time.
  virtual bool send(const Endpoint& peer, std::span<const std::byte> bytes) = 0;
  /// Puts out all that waits. What the system does not take is lost, and counted as send_failures.
  virtual void flush() = 0;
  /// The next datagram that waits. False: none does, and `datagram` is unspecified.
  virtual bool receive(Datagram& datagram) = 0;
  virtual Endpoint local() const = 0;
  virtual PortCounters counters() const = 0;
};

}  // namespace shoal
