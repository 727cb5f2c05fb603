// The real port: UDP over IPv4 and IPv6. Asio lives in the .cpp.
//
// 1. Whatever the operating system reports (EAGAIN, ENOBUFS, ICMP unreachable, a network that went down) is
//    a lost datagram and a counter; nothing ends, nothing spins.
// 2. With a ring, a thread of its own moves arrivals out of the kernel's buffer at once, so that a long
//    tick loses nothing as long as the ring has room. What comes on top is counted as receive_overflows. It
//    waits, then drains, at most kDrainBound datagrams at one go, so that no flood can hold it.
// 3. What send() took leaves with flush(), or when 64 datagrams wait; nothing above 1200 bytes leaves.
//    shared/net/udp_batch.hpp says how, and what happens to what the system refuses.
// Threads: one caller, which sends on its own thread. The I/O thread is internal, and only receives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/result.hpp"
#include "shared/base/time.hpp"
#include "shared/net/datagram_port.hpp"

namespace shoal {

struct UdpPortConfig {
  /// All zeros (::) listens on every address, IPv6 and IPv4; 0.0.0.0 on every IPv4 address. Port 0 takes a
  /// free one.
  Endpoint local{};
  /// Datagrams that the I/O thread may hold ready, 1.5 kB each; 0: no thread, receive() asks the socket.
  std::size_t ring_datagrams = 0;
  /// Asked of the kernel for either direction; it may give less, which a port with a ring logs once.
  std::size_t socket_buffer_bytes = 4u << 20;
  /// Talk to this one only. The kernel drops what others send, and tells when nobody listens there.
  std::optional<Endpoint> only_peer{};
};

class UdpPort final : public DatagramPort {
 public:
  /// Datagrams that the I/O thread takes in before it looks at anything else.
  static constexpr std::size_t kDrainBound = 4096;

  /// The error says what to do: the port is in use, the address is not ours, and so on.
  static Result<std::unique_ptr<UdpPort>, std::string> open(const UdpPortConfig& config);
  ~UdpPort() override;

  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override;
  void flush() override;
  bool receive(Datagram& datagram) override;
  Endpoint local() const override;
  PortCounters counters() const override;

  /// What the kernel gave, in bytes.
  struct Buffers {
    std::size_t receive = 0;
    std::size_t send = 0;
  };
  Buffers buffers() const;
  /// Whether several datagrams to one peer leave as one burst (GSO); false after the device refused one.
  bool makes_bursts() const;

  /// Sleeps until a datagram waits or the time is over; true when one waits.
  bool wait(Duration time_out);
  /// The same for many ports without I/O thread.
  static bool wait_any(std::span<UdpPort* const> ports, Duration time_out);

 private:
  struct Impl;
  explicit UdpPort(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

/// "host", "host:port", "1.2.3.4:5", "[::1]:7777". Asks the system's resolver for names, which may take
/// seconds; of several addresses an IPv4 one is taken first, since a server on either protocol answers there.
Result<Endpoint, std::string> resolve_endpoint(std::string_view text, std::uint16_t default_port);

}  // namespace shoal
