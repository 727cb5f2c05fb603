// Datagrams that leave and arrive together, over loopback: order, bursts, and what the system refuses.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "shared/base/fault.hpp"
#include "shared/net/udp_batch.hpp"
#include "shared/net/udp_intake.hpp"
#include "tests/unit/net/udp_fixture.hpp"

namespace shoal {
namespace {

// Nobody may send there without asking for it: the kernel refuses, at once and each time.
const Endpoint kBroadcast = Endpoint::ipv4(255, 255, 255, 255, 9);

std::vector<std::byte> numbered(std::uint32_t number, std::size_t size) {
  std::vector<std::byte> bytes(size, static_cast<std::byte>(number));
  if (size > 0) std::memcpy(bytes.data(), &number, std::min(size, sizeof number));
  return bytes;
}

::testing::AssertionResult arrives(UdpPort& port, std::uint32_t number, std::size_t size) {
  Datagram datagram;
  if (!receive_soon(port, datagram)) return ::testing::AssertionFailure() << number << " did not come";
  const auto wanted = numbered(number, size);
  const auto came = datagram.span();
  if (std::equal(came.begin(), came.end(), wanted.begin(), wanted.end()))
    return ::testing::AssertionSuccess();
  std::uint32_t got = 0;
  std::memcpy(&got, datagram.bytes.data(), std::min<std::size_t>(datagram.size, sizeof got));
  return ::testing::AssertionFailure()
         << number << " with " << size << " bytes: came " << got << " with " << datagram.size;
}

::testing::AssertionResult is_silent(UdpPort& port) {
  Datagram datagram;
  if (port.wait(milliseconds{20}) && port.receive(datagram))
    return ::testing::AssertionFailure() << "one more came, of " << datagram.size << " bytes";
  return ::testing::AssertionSuccess();
}

struct Case {
  const char* name;
  Endpoint sender;
  Endpoint receiver;
  std::size_t ring_datagrams;
  const char* faults;
};

class UdpBatches : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
#ifdef SHOAL_ENABLE_FAULTS
    set_faults(GetParam().faults);
#else
    if (*GetParam().faults != '\0') GTEST_SKIP() << "this build has no faults";
#endif
    port = open_port({.local = GetParam().sender});
    for (auto& peer : peers) {
      peer = open_port({.local = GetParam().receiver, .ring_datagrams = GetParam().ring_datagrams});
    }
    if (!port || !peers[0] || !peers[1]) GTEST_SKIP() << "this machine has no IPv6 loopback";
  }
  void TearDown() override {
    port.reset();
    for (auto& peer : peers) peer.reset();
#ifdef SHOAL_ENABLE_FAULTS
    set_faults("");
#endif
  }
  bool has_faults() const { return *GetParam().faults != '\0'; }

  // A port on :: listens on IPv4, too: that is how it is reached here.
  Endpoint place_of(std::size_t peer) const {
    Endpoint endpoint = GetParam().receiver.is_any() ? kLoopback : GetParam().receiver;
    endpoint.port = peers[peer]->local().port;
    return endpoint;
  }

  std::unique_ptr<UdpPort> port;
  std::unique_ptr<UdpPort> peers[2];
};

INSTANTIATE_TEST_SUITE_P(
    Protocols, UdpBatches,
    ::testing::Values(Case{"IPv4", kLoopback, kLoopback, 0, ""},
                      Case{"IPv4Ring", kLoopback, kLoopback, 1024, ""},
                      Case{"IPv6", loopback_v6(), loopback_v6(), 0, ""},
                      Case{"IPv6Ring", loopback_v6(), loopback_v6(), 1024, ""},
                      Case{"FromBothToIPv4", {}, kLoopback, 0, ""},
                      Case{"FromIPv4ToBoth", kLoopback, {}, 1024, ""},
                      Case{"FromBothToIPv6", {}, loopback_v6(), 1024, ""},
                      Case{"BurstsRefused", kLoopback, kLoopback, 0, "net-refuse-bursts"},
                      Case{"IPv6BurstsRefused", loopback_v6(), loopback_v6(), 1024, "net-refuse-bursts"},
                      Case{"EachBurstRefused", kLoopback, kLoopback, 0, "net-refuse-each-burst"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_P(UdpBatches, KeepTheOrderPerPeerAndNothingIsLostOrSentTwice) {
  // Bursts of every length to one, between single ones to the other, in sizes that end a burst and begin one.
  struct Sent {
    std::size_t peer;
    std::uint32_t number;
    std::size_t size;
  };
  std::vector<Sent> all;
  std::uint32_t number = 0;
  for (std::size_t length = 1; length <= 40; ++length) {
    const std::size_t size = length % 3 == 0 ? 1200 : 100 + length;
    for (std::size_t i = 0; i < length; ++i) all.push_back({0, number++, size});
    if (length % 2 == 0) all.push_back({0, number++, 60});
    if (length % 5 == 0) all.push_back({0, number++, 1200});
    all.push_back({1, number++, size});
  }
  std::uint64_t bytes = 0;
  for (std::size_t first = 0; first < all.size(); first += 100) {
    const std::span some(all.data() + first, std::min<std::size_t>(100, all.size() - first));
    for (const Sent& sent : some) {
      ASSERT_TRUE(port->send(place_of(sent.peer), numbered(sent.number, sent.size)));
      bytes += sent.size;
    }
    port->flush();
    for (const Sent& sent : some) ASSERT_TRUE(arrives(*peers[sent.peer], sent.number, sent.size));
  }
  EXPECT_TRUE(is_silent(*peers[0]));
  EXPECT_TRUE(is_silent(*peers[1]));
  EXPECT_EQ(port->counters().sent_datagrams, all.size());
  EXPECT_EQ(port->counters().sent_bytes, bytes);
  EXPECT_EQ(port->counters().send_failures, 0u);
  EXPECT_EQ(peers[0]->counters().received_datagrams + peers[1]->counters().received_datagrams, all.size());
  if (has_faults()) {
    EXPECT_EQ(port->counters().sent_in_bursts, 0u);
  } else if (port->makes_bursts()) {
    EXPECT_GT(port->counters().sent_in_bursts, all.size() / 2);
    EXPECT_GT(peers[0]->counters().received_in_bursts, all.size() / 2) << "the receiver cuts them up itself";
  }
}

TEST_P(UdpBatches, ShorterLastOneEndsABurst) {
  for (const std::size_t last : {1u, 599u, 1199u, 1200u}) {
    for (std::uint32_t i = 0; i < 7; ++i) ASSERT_TRUE(port->send(place_of(0), numbered(i, 1200)));
    ASSERT_TRUE(port->send(place_of(0), some_bytes(last, 0)));
    ASSERT_TRUE(port->send(place_of(0), numbered(8, 1200)));
    port->flush();
    for (std::uint32_t i = 0; i < 7; ++i) ASSERT_TRUE(arrives(*peers[0], i, 1200));
    ASSERT_TRUE(arrives(*peers[0], 0, last));
    ASSERT_TRUE(arrives(*peers[0], 8, 1200));
  }
  EXPECT_TRUE(is_silent(*peers[0]));
}

TEST_P(UdpBatches, EmptyDatagramsAreDatagrams) {
  for (const std::size_t size : {0u, 0u, 5u, 5u, 0u, 7u})
    ASSERT_TRUE(port->send(place_of(0), some_bytes(size, 0)));
  port->flush();
  for (const std::size_t size : {0u, 0u, 5u, 5u, 0u, 7u}) EXPECT_TRUE(arrives(*peers[0], 0, size));
}

TEST(UdpBatch, WaitsForFlushOrUntilItIsFull) {
  auto port = open_port({.local = kLoopback});
  auto peer = open_port({.local = kLoopback});
  ASSERT_TRUE(port && peer);
  for (std::uint32_t i = 0; i + 1 < UdpBatch::kMaxDatagrams; ++i)
    ASSERT_TRUE(port->send(peer->local(), numbered(i, 8)));
  EXPECT_TRUE(is_silent(*peer));
  EXPECT_EQ(port->counters().sent_datagrams, 0u);
  ASSERT_TRUE(port->send(peer->local(), numbered(63, 8)));
  for (std::uint32_t i = 0; i < UdpBatch::kMaxDatagrams; ++i) ASSERT_TRUE(arrives(*peer, i, 8));
  port->flush();
  EXPECT_TRUE(is_silent(*peer)) << "what left is not sent again";
}

// T8
TEST(UdpBatch, NothingAbove1200BytesLeaves) {
  auto port = open_port({.local = kLoopback});
  auto peer = open_port({.local = kLoopback});
  ASSERT_TRUE(port && peer);
  EXPECT_FALSE(send_now(*port, peer->local(), some_bytes(1201)));
  EXPECT_TRUE(send_now(*port, peer->local(), numbered(1, 1200)));
  EXPECT_TRUE(arrives(*peer, 1, 1200));
  EXPECT_EQ(port->counters().send_failures, 1u);
  EXPECT_EQ(peer->counters().received_datagrams, 1u);
}

// T9
TEST(UdpBatch, RefusedDatagramsTakeNoOtherWithThem) {
  for (const Endpoint& local : {kLoopback, Endpoint{}}) {
    auto port = open_port({.local = local});
    auto peer = open_port({.local = kLoopback});
    ASSERT_TRUE(port && peer);
    for (std::uint32_t i = 0; i < 30; ++i) {
      EXPECT_TRUE(port->send(i % 3 == 1 ? kBroadcast : peer->local(), numbered(i, 1000)));
    }
    // A burst that is refused is lost whole, and alone.
    for (std::uint32_t i = 30; i < 34; ++i) EXPECT_TRUE(port->send(kBroadcast, numbered(i, 1000)));
    EXPECT_TRUE(port->send(peer->local(), numbered(34, 1000)));
    port->flush();
    for (std::uint32_t i = 0; i < 30; ++i) {
      if (i % 3 == 1) continue;
      ASSERT_TRUE(arrives(*peer, i, 1000));
    }
    ASSERT_TRUE(arrives(*peer, 34, 1000));
    EXPECT_TRUE(is_silent(*peer));
    EXPECT_EQ(port->counters().send_failures, 14u);
    EXPECT_EQ(port->counters().sent_datagrams, 21u);
  }
}

// T9
TEST(UdpBatch, PeersThatAreGoneDoNotHinderTheOthers) {
  Endpoint nobody;
  {
    auto closed = open_port({.local = kLoopback});
    nobody = closed->local();
  }
  auto port = open_port({.local = kLoopback});
  auto peer = open_port({.local = kLoopback});
  ASSERT_TRUE(port && peer);
  for (int round = 0; round < 20; ++round) {
    for (std::uint32_t i = 0; i < 60; ++i)
      ASSERT_TRUE(port->send(i % 4 < 2 ? nobody : peer->local(), numbered(i, 500)));
    port->flush();
    for (std::uint32_t i = 0; i < 60; ++i) {
      if (i % 4 < 2) continue;
      ASSERT_TRUE(arrives(*peer, i, 500));
    }
  }
  EXPECT_EQ(port->counters().send_failures, 0u) << "nobody can know";
}

TEST(UdpBatch, WaitKnowsOfWhatWasReadWithTheFirst) {
  auto port = open_port({.local = kLoopback});
  auto peer = open_port({.local = kLoopback});
  ASSERT_TRUE(port && peer);
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(port->send(peer->local(), numbered(i, 100)));
  port->flush();
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(peer->wait(Duration{0}));
    EXPECT_TRUE(arrives(*peer, i, 100));
  }
  EXPECT_FALSE(peer->wait(Duration{0})) << "that was the last one";
}

TEST(UdpIntake, DropsAndCountsWhatIsLongerThanItsMemory) {
  auto port = open_port({.local = kLoopback});
  const int socket = ::socket(AF_INET, SOCK_DGRAM, 0);
  ASSERT_TRUE(port && socket >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), 0);
  UdpIntake::enable_bursts(socket);
  const Endpoint place = Endpoint::ipv4(127, 0, 0, 1, ntohs(address.sin_port));
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(port->send(place, numbered(i, 1000)));
  port->flush();
  ASSERT_TRUE(send_now(*port, place, numbered(3, 1100)));
  if (port->counters().sent_in_bursts == 0) GTEST_SKIP() << "this kernel makes no bursts";

  // The second of three is cut, and the third missing.
  UdpIntake whole(1, 1500);
  ASSERT_EQ(whole.read(socket), UdpIntake::Outcome::Datagrams);
  Datagram datagram;
  ASSERT_TRUE(whole.next(datagram));
  EXPECT_EQ(datagram.size, 1000);
  EXPECT_EQ(datagram.peer, port->local());
  EXPECT_FALSE(whole.next(datagram));
  EXPECT_EQ(whole.counters().truncated, 1u);
  EXPECT_EQ(whole.counters().datagrams, 1u);
  // Nothing of this one is left, and the reader is not ended by it.
  UdpIntake none(1, 1050);
  ASSERT_EQ(none.read(socket), UdpIntake::Outcome::Datagrams);
  EXPECT_FALSE(none.next(datagram));
  EXPECT_EQ(none.counters().truncated, 1u);
  EXPECT_EQ(none.counters().datagrams, 0u);
  EXPECT_EQ(none.read(socket), UdpIntake::Outcome::Nothing);
  ::close(socket);
}

#ifdef SHOAL_ENABLE_FAULTS

class FaultyBatch : public ::testing::Test {
 protected:
  void TearDown() override { set_faults(""); }
};

// T10
TEST_F(FaultyBatch, DeviceThatRefusesABurstIsAskedForNoFurtherOne) {
  set_faults("net-refuse-bursts");
  auto port = open_port({.local = kLoopback});
  auto peer = open_port({.local = kLoopback});
  ASSERT_TRUE(port && peer);
  if (!port->makes_bursts()) GTEST_SKIP() << "this kernel makes no bursts";
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(port->send(peer->local(), numbered(i, 700)));
  port->flush();
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(arrives(*peer, i, 700));
  EXPECT_FALSE(port->makes_bursts());
  set_faults("");
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(port->send(peer->local(), numbered(i, 700)));
  port->flush();
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(arrives(*peer, i, 700));
  EXPECT_EQ(port->counters().sent_in_bursts, 0u) << "for good";
}

TEST_F(FaultyBatch, PathThatRefusesABurstTakesThemFromNobodyElse) {
  set_faults("net-refuse-each-burst");
  auto port = open_port({.local = kLoopback});
  auto peer = open_port({.local = kLoopback});
  ASSERT_TRUE(port && peer);
  if (!port->makes_bursts()) GTEST_SKIP() << "this kernel makes no bursts";
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(port->send(peer->local(), numbered(i, 700)));
  port->flush();
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(arrives(*peer, i, 700));
  EXPECT_EQ(port->counters().sent_in_bursts, 0u);
  set_faults("");
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(port->send(peer->local(), numbered(i, 700)));
  port->flush();
  for (std::uint32_t i = 0; i < 10; ++i) ASSERT_TRUE(arrives(*peer, i, 700));
  EXPECT_EQ(port->counters().sent_in_bursts, 10u);
}

// T9
TEST_F(FaultyBatch, FullSendBufferCountsWhatItLoses) {
  auto port = open_port({.local = kLoopback});
  auto peer = open_port({.local = kLoopback});
  ASSERT_TRUE(port && peer);
  set_faults("net-full-send-buffer");
  // Four bursts of ten, one of which the buffer takes.
  for (std::uint32_t i = 0; i < 40; ++i) ASSERT_TRUE(port->send(peer->local(), numbered(i, 100 + i / 10)));
  port->flush();
  set_faults("");
  const std::uint64_t left = port->makes_bursts() ? 10 : 1;
  for (std::uint32_t i = 0; i < left; ++i) ASSERT_TRUE(arrives(*peer, i, 100));
  EXPECT_TRUE(is_silent(*peer));
  EXPECT_EQ(port->counters().sent_datagrams, left);
  EXPECT_EQ(port->counters().send_failures, 40 - left);
  EXPECT_TRUE(send_now(*port, peer->local(), numbered(40, 100)));
  EXPECT_TRUE(arrives(*peer, 40, 100)) << "nothing ended";
}

#endif

}  // namespace
}  // namespace shoal
