#include "shared/net/simulated_network.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "shared/net/faulty_port.hpp"

namespace shoal {
namespace {

const Endpoint kA = Endpoint::ipv4(10, 0, 0, 1, 1);
const Endpoint kB = Endpoint::ipv4(10, 0, 0, 2, 2);
const Endpoint kC = Endpoint::ipv4(10, 0, 0, 3, 3);

std::vector<std::byte> text(std::size_t value) {
  return std::vector<std::byte>(4, static_cast<std::byte>(value));
}
int drain(DatagramPort& port) {
  Datagram datagram;
  int count = 0;
  while (port.receive(datagram)) ++count;
  return count;
}

struct SimulatedNetworkTest : ::testing::Test {
  ManualClock clock;
  SimulatedNetwork network{clock, 1};
  std::unique_ptr<DatagramPort> a = network.open(kA);
  std::unique_ptr<DatagramPort> b = network.open(kB);
};

TEST_F(SimulatedNetworkTest, DeliversAfterTheLatencyAndNotBefore) {
  network.set_link(kA, kB, {.latency = milliseconds{40}});
  ASSERT_TRUE(a->send(kB, text(7)));
  EXPECT_EQ(network.next_event(), Time{milliseconds{40}});
  Datagram datagram;
  clock.advance(milliseconds{40} - Duration{1});
  EXPECT_FALSE(b->receive(datagram));
  clock.advance(Duration{1});
  ASSERT_TRUE(b->receive(datagram));
  EXPECT_EQ(datagram.peer, kA);
  EXPECT_TRUE(std::ranges::equal(datagram.span(), text(7)));
  EXPECT_FALSE(network.next_event());
}

TEST_F(SimulatedNetworkTest, DirectionsHaveFaultsOfTheirOwn) {
  network.set_link(kA, kB, {.loss_percent = 100});
  for (int i = 0; i < 10; ++i) {
    (void)a->send(kB, text(1));
    (void)b->send(kA, text(2));
  }
  EXPECT_EQ(drain(*b), 0);
  EXPECT_EQ(drain(*a), 10);
  EXPECT_EQ(network.link_counters(kA, kB).lost, 10u);
  EXPECT_EQ(network.link_counters(kB, kA).delivered, 10u);
}

TEST_F(SimulatedNetworkTest, TheMoreSpecialRuleWins) {
  const auto c = network.open(kC);
  network.set_default_link({.loss_percent = 100});
  network.set_links_from(kA, {});
  network.set_links_to(kC, {.loss_percent = 100});
  (void)a->send(kB, text(1));
  (void)a->send(kC, text(1));
  (void)b->send(kA, text(1));
  EXPECT_EQ(drain(*b), 1) << "from a: no faults";
  EXPECT_EQ(drain(*c), 0) << "to c: lost, though it comes from a";
  EXPECT_EQ(drain(*a), 0) << "default: lost";
  network.set_link(kA, kC, {});
  (void)a->send(kC, text(1));
  EXPECT_EQ(drain(*c), 1);
}

TEST_F(SimulatedNetworkTest, PartitionCutsOneOrBothWaysUntilHealed) {
  network.partition_one_way(kA, kB);
  (void)a->send(kB, text(1));
  (void)b->send(kA, text(1));
  EXPECT_EQ(drain(*b), 0);
  EXPECT_EQ(drain(*a), 1);
  network.partition(kA, kB);
  (void)b->send(kA, text(1));
  EXPECT_EQ(drain(*a), 0);
  network.heal(kA, kB);
  (void)a->send(kB, text(1));
  (void)b->send(kA, text(1));
  EXPECT_EQ(drain(*b), 1);
  EXPECT_EQ(drain(*a), 1);
}

TEST_F(SimulatedNetworkTest, ForgeriesTakeNoRoomOnTheLineOfWhoseNameTheyBear) {
  network.set_link(kA, kB, {.latency = milliseconds{10}, .bytes_per_second = 1000, .queue_bytes = 100});
  for (int i = 0; i < 100; ++i) network.forge(kA, kB, text(1));
  ASSERT_TRUE(a->send(kB, text(2)));
  clock.advance(milliseconds{10});
  EXPECT_EQ(drain(*b), 100);
  clock.advance(milliseconds{4});
  EXPECT_EQ(drain(*b), 1) << "four bytes at a thousand a second";
}

TEST_F(SimulatedNetworkTest, TakenEndpointIsRefusedAndPortZeroTakesAFreeOne) {
  EXPECT_EQ(network.open(kA), nullptr);
  Endpoint any = kA;
  any.port = 0;
  const auto first = network.open(any);
  const auto second = network.open(any);
  EXPECT_NE(first->local().port, 0);
  EXPECT_NE(first->local(), second->local());
  a.reset();
  EXPECT_NE(network.open(kA), nullptr) << "closing frees the endpoint";
}

TEST_F(SimulatedNetworkTest, MailForNobodyIsCounted) {
  EXPECT_TRUE(a->send(kC, text(1))) << "the sender cannot tell";
  EXPECT_EQ(network.undeliverable(), 1u);
}

// P21
TEST_F(SimulatedNetworkTest, WaitingDatagramsAreBounded) {
  for (std::size_t i = 0; i < SimulatedNetwork::kMaxWaiting + 10; ++i) (void)a->send(kB, text(1));
  EXPECT_EQ(b->counters().receive_overflows, 10u);
  EXPECT_EQ(drain(*b), static_cast<int>(SimulatedNetwork::kMaxWaiting));
}

TEST(SimulatedNetwork, SameSeedSameFate) {
  const auto run = [](std::uint64_t seed) {
    ManualClock clock;
    SimulatedNetwork network(clock, seed);
    network.set_default_link({.loss_percent = 30,
                              .duplicate_percent = 20,
                              .reorder_percent = 20,
                              .corrupt_percent = 20,
                              .latency = milliseconds{20},
                              .jitter = milliseconds{10}});
    const auto a = network.open(kA);
    const auto b = network.open(kB);
    std::vector<std::byte> all;
    for (std::size_t i = 0; i < 500; ++i) {
      (void)a->send(kB, text(i));
      clock.advance(milliseconds{1});
      Datagram datagram;
      while (b->receive(datagram)) all.insert(all.end(), datagram.span().begin(), datagram.span().end());
    }
    return all;
  };
  EXPECT_EQ(run(5), run(5));
  EXPECT_NE(run(5), run(6));
}

TEST(SimulatedNetwork, TrafficOnOneLinkDoesNotMoveTheFaultsOfAnother) {
  const auto run = [](bool with_other_traffic) {
    ManualClock clock;
    SimulatedNetwork network(clock, 3);
    network.set_default_link({.loss_percent = 50});
    const auto a = network.open(kA);
    const auto b = network.open(kB);
    std::vector<int> arrivals;
    for (std::size_t i = 0; i < 100; ++i) {
      if (with_other_traffic) (void)b->send(kA, text(i));
      (void)a->send(kB, text(i));
      arrivals.push_back(drain(*b));
    }
    return arrivals;
  };
  EXPECT_EQ(run(false), run(true));
}

// ------------------------------------------------------------------------------------------------ FaultyPort

TEST_F(SimulatedNetworkTest, FaultyPortDelaysBothDirections) {
  FaultyPort faulty(
      *a, clock, {.outgoing = {.latency = milliseconds{20}}, .incoming = {.latency = milliseconds{30}}}, 1);
  EXPECT_EQ(faulty.local(), kA);
  ASSERT_TRUE(faulty.send(kB, text(1)));
  ASSERT_TRUE(b->send(kA, text(2)));
  Datagram datagram;
  EXPECT_FALSE(b->receive(datagram));
  EXPECT_FALSE(faulty.receive(datagram));
  EXPECT_EQ(faulty.next_event(), Time{milliseconds{20}});
  clock.advance(milliseconds{20});
  faulty.pump();
  EXPECT_TRUE(b->receive(datagram));
  EXPECT_FALSE(faulty.receive(datagram));
  EXPECT_EQ(faulty.next_event(), Time{milliseconds{30}});
  clock.advance(milliseconds{10});
  ASSERT_TRUE(faulty.receive(datagram));
  EXPECT_TRUE(std::ranges::equal(datagram.span(), text(2)));
  EXPECT_FALSE(faulty.next_event());
}

TEST_F(SimulatedNetworkTest, FaultyPortLosesAndDoublesAsAsked) {
  FaultyPort faulty(*a, clock, {.outgoing = {.loss_percent = 50}, .incoming = {.duplicate_percent = 100}}, 1);
  for (std::size_t i = 0; i < 1000; ++i) {
    (void)faulty.send(kB, text(i));
    (void)b->send(kA, text(i));
  }
  faulty.flush();
  EXPECT_NEAR(drain(*b), 500, 60);
  EXPECT_EQ(drain(faulty), 2000);
  EXPECT_EQ(faulty.incoming_counters().duplicated, 1000u);
  EXPECT_NEAR(static_cast<double>(faulty.outgoing_counters().lost), 500, 60);
}

TEST_F(SimulatedNetworkTest, FaultyPortWithoutFaultsChangesNothing) {
  FaultyPort faulty(*a, clock, {}, 1);
  (void)faulty.send(kB, text(3));
  faulty.flush();
  Datagram datagram;
  ASSERT_TRUE(b->receive(datagram)) << "nothing is held back";
  EXPECT_TRUE(std::ranges::equal(datagram.span(), text(3)));
}

}  // namespace
}  // namespace shoal
