// A client whose address changes in mid-game (T5), and those who only claim that it did.
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Endpoint kNewAddress = Endpoint::ipv4(192, 0, 2, 7, 999);

class NewPathTest : public NetTest {
 protected:
  void SetUp() override {
    network.set_default_link({.latency = milliseconds{20}});
    start_server({.time_out = seconds{3}});
    add_client(1).transport.connect();
    run(milliseconds{200});
    ASSERT_THAT(server->handler.joined, SizeIs(1));
    session = server->handler.joined[0];
  }
  void play(Duration length) {
    Time next = clock.now();
    run(length, [&] {
      if (clock.now() < next) return;
      next = next + milliseconds{33};
      (void)server->send_frame(session, ++tick, 300);
      if (clients[0]->transport.state() == ClientState::Connected) (void)clients[0]->send_update(tick);
    });
  }

  SessionId session;
  std::uint32_t tick = 0;
};

TEST_F(NewPathTest, SessionGoesOnFromTheNewAddressWithinTwoRoundTrips) {
  play(milliseconds{500});
  ASSERT_TRUE(network.move(*clients[0]->port, kNewAddress));
  play(milliseconds{140});
  EXPECT_EQ(server->transport.peer(session), kNewAddress);
  EXPECT_EQ(server->transport.counters().moved, 1u);
  const std::size_t heard = clients[0]->handler.packets.size();
  play(seconds{5});
  EXPECT_GT(clients[0]->handler.packets.size(), heard + 100) << "frames arrive there";
  EXPECT_THAT(server->handler.left, IsEmpty());
  EXPECT_EQ(clients[0]->handler.connected, 1);
}

TEST_F(NewPathTest, SilentSessionMovesByItsSignsOfLife) {
  ASSERT_TRUE(network.move(*clients[0]->port, kNewAddress));
  run(seconds{2});
  EXPECT_EQ(server->transport.peer(session), kNewAddress);
  run(seconds{5});
  EXPECT_THAT(server->handler.left, IsEmpty());
}

TEST_F(NewPathTest, AddressThatChangesAgainAndAgainUnderLossEndsWhereTheClientIs) {
  network.set_default_link({.loss_percent = 20, .latency = milliseconds{40}, .jitter = milliseconds{20}});
  for (std::uint8_t i = 1; i <= 10; ++i) {
    ASSERT_TRUE(network.move(*clients[0]->port, Endpoint::ipv4(192, 0, 2, i, 1000)));
    play(milliseconds{700});
  }
  play(seconds{2});
  EXPECT_EQ(server->transport.peer(session), Endpoint::ipv4(192, 0, 2, 10, 1000));
  EXPECT_THAT(server->handler.left, IsEmpty());
}

// An attacker who sees the client's datagrams sends copies under an address of their own, and is faster.
TEST_F(NewPathTest, CopyThatArrivesFirstFromElsewhereMovesNothing) {
  const Endpoint attacker = Endpoint::ipv4(203, 0, 113, 5, 5);
  std::uint64_t to_attacker = 0;
  std::uint64_t from_attacker = 0;
  network.set_link(attacker, kServerEndpoint, {});
  network.set_tap([&](const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes) {
    if (target == attacker) to_attacker += bytes.size();
    if (source != client_endpoint(1)) return;
    const std::vector<std::byte> copy(bytes.begin(), bytes.end());
    from_attacker += copy.size();
    network.forge(attacker, kServerEndpoint, copy);
  });
  play(seconds{5});
  EXPECT_EQ(server->transport.peer(session), client_endpoint(1));
  EXPECT_EQ(server->transport.counters().moved, 0u);
  EXPECT_GT(to_attacker, 0u) << "it is asked to prove itself";
  EXPECT_LE(to_attacker, from_attacker / 4) << "and gets far less than it sends";
  EXPECT_EQ(clients[0]->transport.state(), ClientState::Connected);
  EXPECT_GT(clients[0]->handler.packets.size(), 140u) << "the client's frames still come";
}

TEST_F(NewPathTest, BannedAddressGetsInByMovingNeither) {
  server->transport.set_bans(parse_ban_list("192.0.2.7").value());
  std::uint64_t sent_there = 0;
  network.set_tap([&](const Endpoint&, const Endpoint& target, std::span<const std::byte>) {
    if (target == kNewAddress) ++sent_there;
  });
  ASSERT_TRUE(network.move(*clients[0]->port, kNewAddress));
  play(seconds{2});
  EXPECT_EQ(server->transport.peer(session), client_endpoint(1));
  EXPECT_EQ(server->transport.counters().moved, 0u);
  EXPECT_EQ(sent_there, 0u) << "not even a challenge";
}

// Whoever sees an idle client's signs of life and repeats them from elsewhere is asked for proof again and again.
TEST_F(NewPathTest, CopiesOfAnIdleSessionKeepNoSignOfLifeFromIt) {
  const Endpoint attacker = Endpoint::ipv4(203, 0, 113, 5, 5);
  network.set_link(attacker, kServerEndpoint, {});
  network.set_tap([&](const Endpoint& source, const Endpoint&, std::span<const std::byte> bytes) {
    if (source == client_endpoint(1))
      network.forge(attacker, kServerEndpoint, std::vector<std::byte>(bytes.begin(), bytes.end()));
  });
  run(seconds{10});
  EXPECT_EQ(clients[0]->transport.state(), ClientState::Connected);
  EXPECT_THAT(server->handler.left, IsEmpty());
}

TEST_F(NewPathTest, LongerWayIsNoQueue) {
  network.set_default_link({.latency = milliseconds{5}});
  play(seconds{5});
  const std::uint64_t before = server->transport.bytes_per_second(session);
  ASSERT_TRUE(network.move(*clients[0]->port, kNewAddress));
  network.set_default_link({.latency = milliseconds{90}});
  for (int i = 0; i < 80; ++i) {
    play(milliseconds{100});
    ASSERT_GE(server->transport.bytes_per_second(session), before) << i << " tenths of a second later";
  }
  ASSERT_EQ(server->transport.peer(session), kNewAddress);
  EXPECT_NEAR(to_seconds(server->transport.rtt(session)), 0.18, 0.02);
}

TEST_F(NewPathTest, LatePacketFromTheOldAddressDoesNotMoveTheSessionBack) {
  network.set_default_link(
      {.reorder_percent = 30, .latency = milliseconds{20}, .reorder_delay = milliseconds{300}});
  play(milliseconds{500});
  ASSERT_TRUE(network.move(*clients[0]->port, kNewAddress));
  play(seconds{2});
  EXPECT_EQ(server->transport.peer(session), kNewAddress);
  EXPECT_EQ(server->transport.counters().moved, 1u);
}

TEST_F(NewPathTest, AnswerToAnotherChallengeProvesNothing) {
  RawPeer peer(network, client_endpoint(2), 5);
  network.set_default_link({});
  ASSERT_TRUE(peer.join(server->transport));
  const SessionId raw = server->handler.joined[1];
  ASSERT_TRUE(network.move(peer.port(), kNewAddress));
  flatbuffers::FlatBufferBuilder builder;
  for (std::uint64_t i = 1; i <= 100; ++i) {
    builder.Clear();
    protocol::PacketBuilder packet(builder);
    packet.add_path_response(i * 77);
    builder.Finish(packet.Finish());
    peer.say_built(Sequence{i}, builder);
    run(milliseconds{10});
  }
  EXPECT_EQ(server->transport.peer(raw), client_endpoint(2));
  EXPECT_EQ(server->transport.counters().moved, 0u);
}

TEST_F(NewPathTest, ChallengesAreSeldomWhateverArrives) {
  RawPeer peer(network, client_endpoint(2), 5);
  network.set_default_link({});
  ASSERT_TRUE(peer.join(server->transport));
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::ClientUpdate,
                                        protocol::CreateClientUpdate(builder).Union()));
  std::uint64_t challenges = 0;
  network.set_tap([&](const Endpoint&, const Endpoint& target, std::span<const std::byte>) {
    if (target.address[12] == 198) ++challenges;
  });
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    // Each packet from somewhere else.
    ASSERT_TRUE(
        network.move(peer.port(), Endpoint::ipv4(198, 51, 100, static_cast<std::uint8_t>(i % 250), 1)));
    peer.say_built(Sequence{i}, builder);
    run(milliseconds{2});
  }
  EXPECT_LE(challenges, 11u) << "one in 200 ms";
  EXPECT_GE(challenges, 8u);
}

// Whoever forges the address of a victim must not make the server send more there than they sent themselves.
TEST_F(NewPathTest, PacketsTooSmallForTheChallengeAreNotAnsweredBeforeTheirSumIsLargeEnough) {
  RawPeer peer(network, client_endpoint(2), 5);
  network.set_default_link({});
  ASSERT_TRUE(peer.join(server->transport));
  ASSERT_TRUE(network.move(peer.port(), kNewAddress));
  std::vector<std::size_t> answers;
  network.set_tap([&](const Endpoint&, const Endpoint& target, std::span<const std::byte> bytes) {
    if (target == kNewAddress) answers.push_back(bytes.size());
  });
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreatePacket(builder));
  peer.say_built(Sequence{1}, builder);
  const std::size_t small = peer.last_sent().size;
  ASSERT_LT(small, kPathWordsBytes);
  ASSERT_GE(2 * small, kPathWordsBytes);
  run(milliseconds{1});
  EXPECT_THAT(answers, IsEmpty());
  run(seconds{1});
  EXPECT_THAT(answers, IsEmpty()) << "not later either";
  peer.say_built(Sequence{2}, builder);
  run(milliseconds{1});
  EXPECT_THAT(answers, ElementsAre(kPathWordsBytes)) << "now they have paid for it";
}

}  // namespace
}  // namespace shoal
