// What one datagram costs the server's transport in user space, system calls excluded: the port hands out what was made
// beforehand. Hellos and forged packets are what a flood is made of.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "shared/net/client_transport.hpp"
#include "shared/net/server_transport.hpp"
#include "shared/net/simulated_network.hpp"
#include "shared/net/udp_port.hpp"

namespace shoal {
namespace {

constexpr std::size_t kBatch = 256;

struct Quiet final : ServerTransport::Handler, ClientTransport::Handler {
  void on_joined(SessionId id, const JoinRequest&) override { session = id; }
  PacketVerdict on_packet(SessionId, Sequence, const protocol::Packet&) override {
    return PacketVerdict::Acknowledge;
  }
  void on_acknowledged(SessionId, Sequence) override {}
  void on_lost(SessionId, Sequence) override {}
  void on_left(SessionId, CloseReason) override {}
  void on_connected(const AcceptBody&) override {}
  PacketVerdict on_packet(Sequence, const protocol::Packet&) override { return PacketVerdict::Acknowledge; }
  void on_acknowledged(Sequence) override {}
  void on_lost(Sequence) override {}
  void on_closed(CloseReason, std::string_view) override {}
  SessionId session;
};

/// Hands out a list of datagrams again and again, as many as were asked for, and swallows what is sent.
class ListPort final : public DatagramPort {
 public:
  bool send(const Endpoint&, std::span<const std::byte>) override { return true; }
  void flush() override {}
  bool receive(Datagram& datagram) override {
    if (left == 0) return false;
    --left;
    const Datagram& source = list[next++ % list.size()];
    datagram.peer = source.peer;
    datagram.size = source.size;
    std::memcpy(datagram.bytes.data(), source.bytes.data(), source.size);
    return true;
  }
  Endpoint local() const override { return {}; }
  PortCounters counters() const override { return {}; }

  std::vector<Datagram> list;
  std::size_t next = 0;
  std::size_t left = 0;
};

Datagram datagram_of(const Endpoint& peer, std::span<const std::byte> bytes) {
  Datagram datagram;
  datagram.peer = peer;
  datagram.size = static_cast<std::uint16_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), datagram.bytes.begin());
  return datagram;
}

/// A server with one session, whose port is then replaced by lists.
class World {
 public:
  explicit World(bool aes = true) {
    port = network.open(Endpoint::ipv4(10, 0, 0, 1, 1));
    client_port = network.open(Endpoint::ipv4(10, 0, 0, 2, 1));
    relay.inner = port.get();
    ServerTransportConfig config;
    config.allow_aes = aes;
    server = std::make_unique<ServerTransport>(relay, clock, entropy, config, server_handler);
    ClientTransportConfig client_config;
    client_config.server = port->local();
    client = std::make_unique<ClientTransport>(*client_port, clock, entropy, client_config, client_handler);
    client->connect();
    for (int i = 0; i < 5; ++i) {
      server->poll();
      client->poll();
    }
    SHOAL_ASSERT(client->state() == ClientState::Connected, "the benchmark's client joins");
  }

  void measure(benchmark::State& state, std::vector<Datagram> list) {
    relay.list.list = std::move(list);
    relay.uses_list = true;
    for (auto _ : state) {
      relay.list.left = kBatch;
      server->poll();
    }
    const std::int64_t datagrams = state.iterations() * static_cast<std::int64_t>(kBatch);
    state.SetItemsProcessed(datagrams);
    // Seconds for each, which is printed with its unit.
    state.counters["each"] = benchmark::Counter(static_cast<double>(datagrams),
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  }

  struct Relay final : DatagramPort {
    bool send(const Endpoint& peer, std::span<const std::byte> bytes) override {
      return uses_list || inner->send(peer, bytes);
    }
    void flush() override {}
    bool receive(Datagram& datagram) override {
      return uses_list ? list.receive(datagram) : inner->receive(datagram);
    }
    Endpoint local() const override { return inner->local(); }
    PortCounters counters() const override { return {}; }
    DatagramPort* inner = nullptr;
    ListPort list;
    bool uses_list = false;
  };

  ManualClock clock;
  SimulatedNetwork network{clock, 1};
  SeededEntropy entropy{1};
  Quiet server_handler;
  Quiet client_handler;
  std::unique_ptr<DatagramPort> port;
  std::unique_ptr<DatagramPort> client_port;
  Relay relay;
  std::unique_ptr<ServerTransport> server;
  std::unique_ptr<ClientTransport> client;
};

void hello(benchmark::State& state) {
  World world;
  HandshakeWriter writer;
  OutgoingDatagram out;
  std::vector<Datagram> list;
  for (std::uint64_t i = 0; i < kBatch; ++i) {
    writer.hello(i, {kProtocolVersion, AgreementKey::make(world.entropy).public_key()}, out);
    list.push_back(datagram_of(Endpoint::ipv4(127, 1, 2, static_cast<std::uint8_t>(i), 9), out.span()));
  }
  world.measure(state, std::move(list));
}

void forged(benchmark::State& state, std::uint64_t connection, World& world, std::size_t size) {
  std::vector<Datagram> list;
  Random random(7);
  for (std::uint64_t i = 0; i < kBatch; ++i) {
    std::array<std::byte, kMaxDatagramBytes> bytes;
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
    const PacketHeader header{DatagramType::Packet, connection, Sequence{1 + i}};
    const std::size_t written = write_clear(
        header, std::span<const std::byte>(bytes).first(size - kPacketHeaderBytes - kPacketTagBytes), bytes);
    list.push_back(datagram_of(Endpoint::ipv4(127, 1, 2, 3, 9), std::span(bytes).first(written)));
  }
  world.measure(state, std::move(list));
}

void forged_of_a_session_aes(benchmark::State& state) {
  World world(true);
  forged(state, world.client->connection_id().value, world, kMaxDatagramBytes);
}
void forged_of_a_session_chacha(benchmark::State& state) {
  World world(false);
  forged(state, world.client->connection_id().value, world, kMaxDatagramBytes);
}
void forged_of_no_session(benchmark::State& state) {
  World world;
  forged(state, 0x1234567890ABCDEF, world, kMaxDatagramBytes);
}
void repeated_response(benchmark::State& state) {
  World world;
  std::vector<Datagram> list;
  // A Response whose cookie is not ours: what it costs to say no before any work with keys.
  std::array<std::byte, 400> bytes{};
  bytes[0] = static_cast<std::byte>(DatagramType::Response);
  for (std::uint64_t i = 0; i < kBatch; ++i)
    list.push_back(datagram_of(Endpoint::ipv4(127, 1, 2, 3, 9), bytes));
  world.measure(state, std::move(list));
}

// Hello to Accept over real sockets on the loopback, as programs do it: the server's port has its I/O thread, and each side
// a thread that sleeps until something comes. Keys, signatures, four datagrams, and as many times a thread is woken.
void join_over_loopback(benchmark::State& state) {
  SteadyClock clock;
  auto server_port = UdpPort::open({.local = Endpoint::ipv4(127, 0, 0, 1, 0), .ring_datagrams = 1024});
  SHOAL_ASSERT(server_port.ok(), "the loopback has a free port");
  std::atomic<bool> is_over{false};
  std::thread server([&] {
    SystemEntropy entropy;
    Quiet handler;
    ServerTransport transport(**server_port, clock, entropy, {}, handler);
    while (!is_over) {
      (void)(*server_port)->wait(milliseconds{10});
      transport.poll();
    }
  });
  SystemEntropy entropy;
  Quiet handler;
  auto port = UdpPort::open({.only_peer = (*server_port)->local()});
  SHOAL_ASSERT(port.ok(), "the loopback has a free port");
  ClientTransportConfig config;
  config.server = (*server_port)->local();
  ClientTransport client(**port, clock, entropy, config, handler);
  for (auto _ : state) {
    client.connect();
    client.poll();
    while (client.state() == ClientState::Connecting) {
      (void)(*port)->wait(milliseconds{10});
      client.poll();
    }
    SHOAL_ASSERT(client.state() == ClientState::Connected, "the benchmark's client joins");
    state.PauseTiming();
    client.close();
    client.poll();
    state.ResumeTiming();
  }
  is_over = true;
  server.join();
}

BENCHMARK(join_over_loopback)->Unit(benchmark::kMicrosecond)->Iterations(2000)->UseRealTime();
BENCHMARK(hello);
BENCHMARK(forged_of_a_session_aes);
BENCHMARK(forged_of_a_session_chacha);
BENCHMARK(forged_of_no_session);
BENCHMARK(repeated_response)->Name("response_with_a_forged_cookie");

}  // namespace
}  // namespace shoal
