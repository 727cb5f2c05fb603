#include "shared/net/endpoint.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace shoal {

bool Endpoint::is_any() const {
  const auto zero = [](std::uint8_t byte) { return byte == 0; };
  return std::all_of(address.begin() + (is_ipv4() ? 12 : 0), address.end(), zero);
}

std::string to_string(const Endpoint& endpoint) {
  char text[INET6_ADDRSTRLEN] = {};
  if (endpoint.is_ipv4()) {
    inet_ntop(AF_INET, endpoint.address.data() + 12, text, sizeof text);
    return fmt::format("{}:{}", static_cast<const char*>(text), endpoint.port);
  }
  inet_ntop(AF_INET6, endpoint.address.data(), text, sizeof text);
  return fmt::format("[{}]:{}", static_cast<const char*>(text), endpoint.port);
}

namespace {

bool parse_address(const std::string& text, Endpoint& endpoint) {
  std::array<std::uint8_t, 4> v4{};
  if (inet_pton(AF_INET, text.c_str(), v4.data()) == 1) {
    endpoint.address = Endpoint::ipv4(v4[0], v4[1], v4[2], v4[3], 0).address;
    return true;
  }
  return inet_pton(AF_INET6, text.c_str(), endpoint.address.data()) == 1;
}

}  // namespace

std::optional<Endpoint> parse_endpoint(std::string_view text, std::uint16_t default_port) {
  Endpoint endpoint;
  endpoint.port = default_port;
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return std::nullopt;
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {  // more of them: an IPv6 address without port
    const std::size_t colon = text.find(':');
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
  }
  if (has_port) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc{} || end != port.data() + port.size() || port.empty()) return std::nullopt;
  }
  if (!parse_address(std::string(host), endpoint)) return std::nullopt;
  return endpoint;
}

}  // namespace shoal
