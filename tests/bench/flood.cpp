// shoal-flood: what an attacker with one machine sends to a server, for scripts/bench flood. Hellos from addresses all
// over 127.0.0.0/8 whose Challenges nobody answers, or packets forged in the name of a session that is open: its own, so
// that the number is true and the server must look at the seal.

#include <cstdio>
#include <memory>

#include "schema/components_descriptors.hpp"
#include "shared/base/log.hpp"
#include "shared/base/random.hpp"
#include "shared/config/option_table.hpp"
#include "shared/config/process.hpp"
#include "shared/config/program.hpp"
#include "shared/config/version.hpp"
#include "shared/net/client_transport.hpp"
#include "shared/net/udp_port.hpp"
#include "shared/replication/component_table.hpp"

extern "C" char** environ;

namespace shoal {
namespace {

enum class FloodKind { Hello, Forged };

struct FloodOptions {
  std::string server = "127.0.0.1:7777";
  FloodKind kind = FloodKind::Hello;
  double per_second = 100'000;
  Duration seconds = std::chrono::seconds(5);
  std::uint32_t addresses = 64;
};

struct Nobody final : ClientTransport::Handler {
  void on_connected(const AcceptBody&) override {}
  PacketVerdict on_packet(Sequence, const protocol::Packet&) override { return PacketVerdict::Ignore; }
  void on_acknowledged(Sequence) override {}
  void on_lost(Sequence) override {}
  void on_closed(CloseReason, std::string_view) override {}
};

int flood(const FloodOptions& options) {
  const auto server = resolve_endpoint(options.server, 7777);
  if (!server) {
    log_error("--server: {}", server.error());
    return 2;
  }
  catch_stop_signals();
  SteadyClock clock;
  SystemEntropy entropy;
  Random random(entropy.next());
  std::vector<std::unique_ptr<UdpPort>> ports;
  for (std::uint32_t i = 0; i < options.addresses; ++i) {
    auto port = UdpPort::open({.local = Endpoint::ipv4(127, static_cast<std::uint8_t>(random.below(255)),
                                                       static_cast<std::uint8_t>(random.below(256)),
                                                       static_cast<std::uint8_t>(1 + random.below(254)), 0)});
    if (!port) {
      log_error("{}", port.error());
      return 2;
    }
    ports.push_back(std::move(*port));
  }
  HandshakeWriter writer;
  OutgoingDatagram hello;
  std::array<std::byte, kMaxDatagramBytes> forged;
  Nobody nobody;
  ClientTransportConfig config;
  config.server = *server;
  config.schema = schema_versions(ComponentTable(demo::component_descriptors()));
  auto own_port = UdpPort::open({.only_peer = *server});
  if (!own_port) {
    log_error("{}", own_port.error());
    return 2;
  }
  ClientTransport session(**own_port, clock, entropy, config, nobody);
  if (options.kind == FloodKind::Forged) {
    session.connect();
    while (session.state() == ClientState::Connecting && stop_signals() == 0) {
      (*own_port)->wait(milliseconds(10));
      session.poll();
    }
    if (session.state() != ClientState::Connected) {
      log_error("{}", session.describe_close());
      return 2;
    }
  }
  const Time begin = clock.now();
  std::uint64_t sent = 0;
  std::size_t next_port = 0;
  while (clock.now() - begin < options.seconds && stop_signals() == 0) {
    const double due = to_seconds(clock.now() - begin) * options.per_second;
    if (static_cast<double>(sent) >= due) {
      ports[0]->wait(milliseconds(1));
      continue;
    }
    UdpPort& port = *ports[next_port++ % ports.size()];
    for (int i = 0; i < 16; ++i, ++sent) {
      std::span<const std::byte> bytes;
      if (options.kind == FloodKind::Hello) {
        PublicKey key;
        for (std::uint8_t& byte : key.bytes) byte = static_cast<std::uint8_t>(random.next());
        writer.hello(random.next(), {kProtocolVersion, key}, hello);
        bytes = hello.span();
      } else {
        const PacketHeader header{DatagramType::Packet, session.connection_id().value,
                                  Sequence{50'000 + random.below(10'000)}};
        for (std::size_t at = 0; at < 64; ++at) forged[100 + at] = static_cast<std::byte>(random.next());
        bytes = std::span(forged).first(
            write_clear(header, std::span<const std::byte>(forged).first(kMaxPacketBodyBytes), forged));
      }
      (void)port.send(*server, bytes);
    }
    port.flush();
    Datagram answer;
    while (port.receive(answer)) continue;
    if (options.kind == FloodKind::Forged) session.poll();
  }
  session.close();
  const double took = to_seconds(clock.now() - begin);
  std::printf("%.0f datagrams per second, %llu in all\n", static_cast<double>(sent) / took,
              static_cast<unsigned long long>(sent));
  return 0;
}

int run_main(int argc, char** argv) {
  FloodOptions options;
  LogLevel log_level = LogLevel::Warn;
  OptionTable table(
      {.program = "shoal-flood", .summary = "floods a server that is yours", .version = kVersion});
  table.section("flood");
  table.add("server", &options.server, {.help = "as HOST:PORT, on this machine"});
  table.add("kind", &options.kind, {{"hello", FloodKind::Hello}, {"forged", FloodKind::Forged}},
            {.help = "hellos from everywhere, or packets forged in the name of sessions"});
  table.add("per-second", &options.per_second, {.help = "datagrams", .min = 1, .max = 1e7});
  table.add("seconds", &options.seconds, {.help = "how long", .min = 0.1, .max = 3600});
  table.add("addresses", &options.addresses, {.help = "sent from so many", .min = 1, .max = 500});
  add_log_level_option(table, &log_level);
  return run_program(table, argc, argv, environ, log_level, [&] { return flood(options); });
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  return shoal::run_main(argc, argv);
}
