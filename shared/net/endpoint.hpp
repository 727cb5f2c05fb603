// Where datagrams go to and come from: an IP address and a UDP port. IPv4 addresses are kept in their IPv6
// form (::ffff:a.b.c.d), so that one host reached over either protocol compares and hashes the same way
// everywhere.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "shared/base/random.hpp"

namespace shoal {

struct Endpoint {
  std::array<std::uint8_t, 16> address{};  // network byte order
  std::uint16_t port = 0;

  friend constexpr auto operator<=>(const Endpoint&, const Endpoint&) = default;

  static constexpr Endpoint ipv4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d,
                                 std::uint16_t port) {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d}, port};
  }
  constexpr bool is_ipv4() const {
    for (std::size_t i = 0; i < 10; ++i) {
      if (address[i] != 0) return false;
    }
    return address[10] == 0xFF && address[11] == 0xFF;
  }
  /// True for 0.0.0.0 and ::, which name every address of this machine.
  bool is_any() const;
};

/// "10.1.2.3:7777" or "[2001:db8::1]:7777".
std::string to_string(const Endpoint& endpoint);
/// The numeric form, with or without port ("::1", "[::1]:7777", "10.1.2.3"). Names are resolved by
/// resolve_endpoint (shared/net/udp_port.hpp).
std::optional<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port);

}  // namespace shoal

template <>
struct std::hash<shoal::Endpoint> {
  std::size_t operator()(const shoal::Endpoint& endpoint) const noexcept {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      high = (high << 8) | endpoint.address[i];
      low = (low << 8) | endpoint.address[i + 8];
    }
    return static_cast<std::size_t>(shoal::mix64(high ^ shoal::mix64(low ^ shoal::mix64(endpoint.port))));
  }
};
