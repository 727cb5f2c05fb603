#include "server/service/health_probe.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "shared/base/limits.hpp"
#include "shared/config/option.hpp"
#include "shared/config/text_file.hpp"
#include "shared/net/handshake.hpp"
#include "shared/net/packet_header.hpp"
#include "shared/net/udp_port.hpp"

namespace shoal {
namespace {

// Three Hellos in the time of a probe, so that one or two may be lost.
constexpr Duration kRetry = milliseconds(600);

bool is_answer(const Datagram& datagram, std::uint64_t nonce, BodyBuffer& buffer) {
  Opened opened;
  if (read_clear(datagram.span(), buffer, opened) || opened.header.connection != nonce) return false;
  switch (opened.header.type) {
    case DatagramType::Challenge:
      return read_challenge(opened.body).has_value();
    case DatagramType::Refuse:
      return read_refuse(opened.body).has_value();
    default:
      return false;
  }
}

}  // namespace

Result<Endpoint, std::string> health_probe_target(const std::string& bind, std::uint16_t port,
                                                  const std::string& port_file) {
  auto address = parse_endpoint(bind, port);
  if (!address) return Failure{fmt::format("--bind {}: not an IPv4 or IPv6 address", bind)};
  // Who listens on :: hears IPv4 as well, and a container may have no IPv6 at all.
  if (address->is_any()) *address = Endpoint::ipv4(127, 0, 0, 1, address->port);
  if (address->port != 0) return *address;
  if (port_file.empty())
    return Failure{std::string("--port 0 names no port: say --port-file as the server does")};
  const auto text = read_text_file(port_file);
  if (!text)
    return Failure{fmt::format("--port-file {}: {}; has the server started?", port_file, text.error())};
  const std::string digits = text->substr(0, text->find('\n'));
  const auto number = parse_unsigned(digits, {1, 65535});
  if (!number) return Failure{fmt::format("--port-file {}: {} is no port", port_file, in_quotes(digits))};
  address->port = static_cast<std::uint16_t>(*number);
  return *address;
}

std::optional<std::string> why_unhealthy(const Endpoint& server, const Clock& clock, Entropy& entropy,
                                         Duration time) {
  auto port = UdpPort::open({.local = server.is_ipv4() ? Endpoint::ipv4(0, 0, 0, 0, 0) : Endpoint{},
                             .socket_buffer_bytes = 1u << 16,
                             .only_peer = server});
  if (!port) return port.error();
  HandshakeWriter writer;
  OutgoingDatagram hello;
  const std::uint64_t nonce = entropy.next();
  writer.hello(nonce, {kProtocolVersion, AgreementKey::make(entropy).public_key()}, hello);

  BodyBuffer buffer;
  Datagram datagram;
  bool heard_others = false;
  const Time end = clock.now() + time;
  for (Time next_hello = clock.now(); clock.now() < end;) {
    if (clock.now() >= next_hello) {
      (*port)->send(server, hello.span());
      (*port)->flush();
      next_hello = next_hello + kRetry;
    }
    const Duration wait = std::min(next_hello, end) - clock.now();
    if (wait.count() > 0) (*port)->wait(wait);
    while ((*port)->receive(datagram)) {
      if (is_answer(datagram, nonce, buffer)) return std::nullopt;
      heard_others = true;
    }
    if ((*port)->counters().unreachable > 0) return fmt::format("nobody listens on {}", to_string(server));
  }
  if (heard_others) return fmt::format("what answers on {} is no server of shoal", to_string(server));
  return fmt::format("no answer from {} within {:.1f} s: its tick is stuck, or something else has the port",
                     to_string(server), to_seconds(time));
}

}  // namespace shoal
