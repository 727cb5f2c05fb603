// Ranges of addresses, for ban lists and exemptions: "192.168.0.0/16", "fc00::/7", or one address.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shared/net/endpoint.hpp"

namespace shoal {

struct AddressRange {
  std::array<std::uint8_t, 16> address{};  // as in Endpoint
  std::uint8_t prefix_bits = 128;          // of those 128; an IPv4 range has 96 and its own

  bool contains(const Endpoint& endpoint) const;
};

/// None: neither an address nor a range.
std::optional<AddressRange> parse_address_range(std::string_view text);

/// This machine's own addresses 127.0.0.0/8 and ::1.
bool is_loopback(const Endpoint& endpoint);

/// Loopback and the ranges that no router of the internet forwards (RFC 1918, RFC 4193, link-local): where load tests
/// and containers run.
std::vector<AddressRange> private_ranges();

/// What one holder of an address on the internet has at least: an IPv4 address, or 64 bits of an IPv6 one.
using AddressHolder = std::array<std::uint8_t, 16>;
AddressHolder holder_of(const Endpoint& endpoint);

}  // namespace shoal
