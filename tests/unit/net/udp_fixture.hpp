// Real ports over loopback, for tests.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "shared/net/udp_port.hpp"

namespace shoal {

inline const Endpoint kLoopback = Endpoint::ipv4(127, 0, 0, 1, 0);
inline Endpoint loopback_v6() {
  return *parse_endpoint("::1", 0);
}

inline std::unique_ptr<UdpPort> open_port(const UdpPortConfig& config) {
  auto port = UdpPort::open(config);
  if (!port) return nullptr;
  return std::move(*port);
}

inline std::vector<std::byte> some_bytes(std::size_t size, std::uint8_t value = 0x5A) {
  return std::vector<std::byte>(size, std::byte{value});
}

inline bool send_now(UdpPort& port, const Endpoint& peer, std::span<const std::byte> bytes) {
  const bool is_taken = port.send(peer, bytes);
  port.flush();
  return is_taken;
}

/// The next datagram, waited for; false after five seconds without one.
inline bool receive_soon(UdpPort& port, Datagram& datagram) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!port.receive(datagram)) {
    if (std::chrono::steady_clock::now() > end) return false;
    (void)port.wait(milliseconds{50});
  }
  return true;
}

}  // namespace shoal
