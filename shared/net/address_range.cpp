#include "shared/net/address_range.hpp"

#include <algorithm>
#include <charconv>

namespace shoal {

bool AddressRange::contains(const Endpoint& endpoint) const {
  const std::size_t whole = prefix_bits / 8;
  if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole),
                  endpoint.address.begin()))
    return false;
  const unsigned rest = prefix_bits % 8;
  return rest == 0 || ((address[whole] ^ endpoint.address[whole]) >> (8 - rest)) == 0;
}

std::optional<AddressRange> parse_address_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto endpoint = parse_endpoint(text.substr(0, slash), 0);
  // A port is no part of a range.
  if (!endpoint || endpoint->port != 0) return std::nullopt;
  AddressRange range{endpoint->address, 128};
  if (slash == std::string_view::npos) return range;
  const std::string_view digits = text.substr(slash + 1);
  const unsigned offset = endpoint->is_ipv4() ? 96 : 0;
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty() || bits > 128 - offset)
    return std::nullopt;
  range.prefix_bits = static_cast<std::uint8_t>(offset + bits);
  return range;
}

bool is_loopback(const Endpoint& endpoint) {
  if (endpoint.is_ipv4()) return endpoint.address[12] == 127;
  return std::all_of(endpoint.address.begin(), endpoint.address.end() - 1,
                     [](std::uint8_t byte) { return byte == 0; }) &&
         endpoint.address[15] == 1;
}

std::vector<AddressRange> private_ranges() {
  std::vector<AddressRange> ranges;
  for (const char* text : {"127.0.0.0/8", "::1", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
                           "169.254.0.0/16", "fc00::/7", "fe80::/10"})
    ranges.push_back(*parse_address_range(text));
  return ranges;
}

AddressHolder holder_of(const Endpoint& endpoint) {
  AddressHolder holder = endpoint.address;
  if (!endpoint.is_ipv4()) std::fill(holder.begin() + 8, holder.end(), std::uint8_t{0});
  return holder;
}

}  // namespace shoal
