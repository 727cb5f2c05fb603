// The real port, over loopback on free ports.
#include "shared/net/udp_port.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "shared/base/fault.hpp"
#include "shared/base/random.hpp"
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/udp_fixture.hpp"

namespace shoal {
namespace {

using ::testing::HasSubstr;

struct RealServer {
  explicit RealServer(const UdpPortConfig& config)
      : port(open_port(config)), transport(*port, clock, entropy, {.schema = demo_schema()}, handler) {}
  SteadyClock clock;
  SystemEntropy entropy;
  ServerRecorder handler;
  std::unique_ptr<UdpPort> port;
  ServerTransport transport;
};

struct RealClient {
  RealClient(const UdpPortConfig& config, const Endpoint& server)
      : port(open_port(config)),
        transport(*port, clock, entropy, {.server = server, .schema = demo_schema()}, handler) {}
  SteadyClock clock;
  SystemEntropy entropy;
  ClientRecorder handler;
  std::unique_ptr<UdpPort> port;
  ClientTransport transport;
};

template <class Done>
bool poll_until(RealServer& server, RealClient& client, Done done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    server.transport.poll();
    client.transport.poll();
    if (done()) return true;
    (void)client.port->wait(microseconds{200});
  }
  return false;
}

TEST(UdpPort, CarriesDatagramsBothWaysOverLoopback) {
  auto a = open_port({.local = kLoopback});
  auto b = open_port({.local = kLoopback});
  ASSERT_TRUE(a && b);
  ASSERT_TRUE(send_now(*a, b->local(), some_bytes(1200)));
  ASSERT_TRUE(b->wait(seconds{5}));
  Datagram datagram;
  ASSERT_TRUE(b->receive(datagram));
  EXPECT_EQ(datagram.size, 1200);
  EXPECT_EQ(datagram.peer, a->local());
  EXPECT_FALSE(b->receive(datagram)) << "nothing else waits";
}

TEST(UdpPort, WholeSessionRunsOverRealLoopback) {
  RealServer server({.local = kLoopback, .ring_datagrams = 1024});
  RealClient client({.local = kLoopback}, server.port->local());
  const auto start = std::chrono::steady_clock::now();
  client.transport.connect();
  ASSERT_TRUE(poll_until(server, client, [&] { return client.transport.state() == ClientState::Connected; }));
  const auto joined = std::chrono::steady_clock::now() - start;
  EXPECT_LT(to_milliseconds(joined), 200) << "joining waits for nothing but the datagrams themselves";

  for (std::uint32_t tick = 1; tick <= 50; ++tick) {
    server.transport.for_each_session([&](SessionId id) {
      flatbuffers::FlatBufferBuilder& builder = server.transport.builder();
      protocol::FrameBuilder frame(builder);
      frame.add_tick(tick);
      auto sequence = server.transport.send(id, frame.Finish());
      ASSERT_TRUE(sequence);
      server.handler.fates[id].sent(*sequence);
    });
    ASSERT_TRUE(poll_until(server, client, [&] { return client.handler.packets.size() == tick; }));
    auto sequence = client.transport.send(protocol::CreateClientUpdate(client.transport.builder(), tick));
    ASSERT_TRUE(sequence);
    client.handler.fates.sent(*sequence);
    ASSERT_TRUE(poll_until(server, client, [&] { return server.handler.packets.size() == tick; }));
  }
  EXPECT_GE(server.handler.fates[server.handler.joined[0]].acknowledged_count, 49u);
  client.transport.close();
  ASSERT_TRUE(poll_until(server, client, [&] { return !server.handler.left.empty(); }));
  EXPECT_EQ(server.handler.left[0].second, CloseReason::ClientLeft);
  EXPECT_LE(server.transport.counters().bad_total(), 3u)
      << "only the further copies of Close find no session";
}

// T18
TEST(UdpPort, Ipv4AndIpv6ClientsJoinTheSameServer) {
  RealServer server({});
  if (!open_port({.local = loopback_v6()})) GTEST_SKIP() << "this machine has no IPv6 loopback";
  Endpoint v4 = kLoopback;
  Endpoint v6 = loopback_v6();
  v4.port = v6.port = server.port->local().port;
  RealClient first({.local = kLoopback}, v4);
  first.transport.connect();
  EXPECT_TRUE(poll_until(server, first, [&] { return first.transport.state() == ClientState::Connected; }));
  RealClient second({.local = loopback_v6()}, v6);
  second.transport.connect();
  EXPECT_TRUE(poll_until(server, second, [&] { return second.transport.state() == ClientState::Connected; }));
  EXPECT_EQ(server.transport.session_count(), 2u);
  RealClient dual({}, v4);
  dual.transport.connect();
  EXPECT_TRUE(poll_until(server, dual, [&] { return dual.transport.state() == ClientState::Connected; }))
      << "a port on :: speaks IPv4 too";
}

TEST(UdpPort, PortInUseIsAnErrorThatSaysSo) {
  auto first = open_port({.local = kLoopback});
  ASSERT_TRUE(first);
  auto second = UdpPort::open({.local = first->local()});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error(), HasSubstr("is in use"));
  EXPECT_THAT(second.error(), HasSubstr(std::to_string(first->local().port)));
}

TEST(UdpPort, ForeignAddressIsAnErrorThatSaysSo) {
  auto port = UdpPort::open({.local = Endpoint::ipv4(192, 0, 2, 1, 0)});  // TEST-NET-1: nobody's
  ASSERT_FALSE(port.ok());
  EXPECT_THAT(port.error(), HasSubstr("not an address of this machine"));
}

// T9
TEST(UdpPort, IcmpUnreachableIsALostPacketAndTheSocketLivesOn) {
  Endpoint nobody;
  {
    auto closed = open_port({.local = kLoopback});
    nobody = closed->local();
  }
  for (const std::size_t ring : {std::size_t{0}, std::size_t{64}}) {
    auto port = open_port({.local = kLoopback, .ring_datagrams = ring, .only_peer = nobody});
    ASSERT_TRUE(port);
    Datagram datagram;
    for (int i = 0; i < 50; ++i) {
      (void)send_now(*port, nobody, some_bytes(10));
      (void)port->receive(datagram);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_GT(port->counters().unreachable, 0u) << "ring of " << ring;
    // Somebody opens that port: the same socket goes on. An error that is still pending costs the next
    // datagram nothing.
    (void)send_now(*port, nobody, some_bytes(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    auto listener = open_port({.local = nobody});
    ASSERT_TRUE(listener);
    EXPECT_TRUE(send_now(*port, nobody, some_bytes(11)));
    ASSERT_TRUE(listener->wait(seconds{5}));
    ASSERT_TRUE(listener->receive(datagram));
    ASSERT_TRUE(send_now(*listener, datagram.peer, some_bytes(20)));
    ASSERT_TRUE(port->wait(seconds{5}));
    EXPECT_TRUE(port->receive(datagram));
  }
}

#ifdef SHOAL_ENABLE_FAULTS
// T9: a socket that reports errors and nothing else made its thread spin. Two hundred in a row, 64 to a pause of 10 ms.
TEST(UdpPort, ReadsThatFailAreRepeatedWithPausesAndNothingIsLost) {
  struct Fault {
    Fault() { set_faults("net-receive-errors"); }
    ~Fault() { set_faults(""); }
  } fault;
  for (const std::size_t ring : {std::size_t{0}, std::size_t{64}}) {
    auto port = open_port({.local = kLoopback, .ring_datagrams = ring});
    auto peer = open_port({.local = kLoopback});
    ASSERT_TRUE(port && peer);
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(send_now(*peer, port->local(), some_bytes(10)));
    Datagram datagram;
    if (ring == 0) {
      EXPECT_FALSE(port->receive(datagram)) << "whoever polls goes on with its own work";
      EXPECT_LE(port->counters().receive_failures, 64u);
    }
    EXPECT_TRUE(receive_soon(*port, datagram)) << "ring of " << ring;
    EXPECT_EQ(port->counters().receive_failures, 200u);
    if (ring == 0) continue;
    EXPECT_GE(to_milliseconds(std::chrono::steady_clock::now() - start), 30);
  }
}
#endif

// T9
TEST(UdpPort, FailedSendsAreCountedAndNothingElse) {
  auto port = open_port({.local = kLoopback});
  ASSERT_TRUE(port);
  EXPECT_FALSE(send_now(*port, *parse_endpoint("[2001:db8::1]:9", 0), some_bytes(10)))
      << "an IPv4 socket has no IPv6";
  EXPECT_FALSE(send_now(*port, port->local(), some_bytes(70000))) << "larger than UDP";
  EXPECT_EQ(port->counters().send_failures, 2u);
  EXPECT_TRUE(send_now(*port, port->local(), some_bytes(10)));
}

TEST(UdpPort, SaysWhatBuffersTheKernelGave) {
  auto small = open_port({.local = kLoopback, .socket_buffer_bytes = 16384});
  auto large = open_port({.local = kLoopback, .socket_buffer_bytes = std::size_t{1} << 30});
  ASSERT_TRUE(small && large);
  EXPECT_EQ(small->buffers().receive, 16384u);
  EXPECT_EQ(small->buffers().send, 16384u);
  EXPECT_GT(large->buffers().receive, 16384u);
  EXPECT_LT(large->buffers().receive, std::size_t{1} << 30) << "no kernel gives that much to a port";
}

TEST(UdpPort, RingKeepsAllOfAFloodDuringALongTick) {
  auto server = open_port({.local = kLoopback, .ring_datagrams = 8192, .socket_buffer_bytes = 16384});
  auto flood = open_port({.local = kLoopback});
  ASSERT_TRUE(server && flood);
  constexpr std::uint64_t kDatagrams = 4000;
  for (std::uint64_t i = 0; i < kDatagrams; ++i) {
    ASSERT_TRUE(send_now(*flood, server->local(), some_bytes(100)));
    // As fast as the I/O thread drains, however busy the machine is: the kernel's 16 kB hold a few datagrams.
    while (server->counters().received_datagrams + 5 < i) std::this_thread::yield();
  }
  while (server->counters().received_datagrams < kDatagrams) std::this_thread::yield();
  int received = 0;
  Datagram datagram;
  while (server->receive(datagram)) ++received;
  EXPECT_EQ(received, static_cast<int>(kDatagrams)) << "the tick did not look for the whole flood";
}

// P21
TEST(UdpPort, FullRingLosesAndCountsTheRest) {
  auto server = open_port({.local = kLoopback, .ring_datagrams = 16});
  auto flood = open_port({.local = kLoopback});
  ASSERT_TRUE(server && flood);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(send_now(*flood, server->local(), some_bytes(100)));
  while (server->counters().received_datagrams < 100) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(server->counters().received_datagrams, 100u);
  EXPECT_EQ(server->counters().receive_overflows, 84u);
}

TEST(UdpPort, WaitWakesUpForADatagramAndForTheTimeOut) {
  for (const std::size_t ring : {std::size_t{0}, std::size_t{64}}) {
    auto server = open_port({.local = kLoopback, .ring_datagrams = ring});
    auto other = open_port({.local = kLoopback});
    ASSERT_TRUE(server && other);
    EXPECT_FALSE(server->wait(milliseconds{5}));
    std::thread late([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      (void)send_now(*other, server->local(), some_bytes(10));
    });
    EXPECT_TRUE(server->wait(seconds{10}));
    late.join();
  }
}

TEST(ResolveEndpoint, TakesNumbersAndNames) {
  EXPECT_EQ(*resolve_endpoint("10.1.2.3:5", 7), Endpoint::ipv4(10, 1, 2, 3, 5));
  EXPECT_EQ(*resolve_endpoint("localhost:5", 7), Endpoint::ipv4(127, 0, 0, 1, 5));
  EXPECT_EQ(*resolve_endpoint("localhost", 7), Endpoint::ipv4(127, 0, 0, 1, 7));
  EXPECT_THAT(resolve_endpoint("localhost:x", 7).error(), HasSubstr("host:port"));
  EXPECT_THAT(resolve_endpoint("no-such-host.invalid", 7).error(), HasSubstr("no-such-host.invalid"));
}

}  // namespace
}  // namespace shoal
