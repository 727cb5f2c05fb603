// Many come at once: what a poll does is bounded, so that a tick is never late for who wants to join.
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

class CrowdedDoorTest : public NetTest {
 protected:
  /// Peers of as many addresses have shown that they receive mail there, and their Responses wait at the port.
  void crowd(std::size_t count) {
    for (std::size_t i = peers.size(); count > 0; ++i, --count) {
      const Endpoint address =
          Endpoint::ipv4(198, 18, static_cast<std::uint8_t>(i / 256), static_cast<std::uint8_t>(i), 1);
      RawPeer& peer = *peers.emplace_back(std::make_unique<RawPeer>(network, address, 1000 + i));
      peer.say_hello();
      server->transport.poll();
      const auto challenge = peer.hear_challenge();
      ASSERT_TRUE(challenge);
      peer.challenge = *challenge;
    }
    for (const auto& peer : peers) peer->say_response(peer->challenge);
  }
  std::uint64_t dropped() const {
    return server->transport.counters().bad_count(BadDatagram::TooManyResponses);
  }

  std::vector<std::unique_ptr<RawPeer>> peers;
};

TEST_F(CrowdedDoorTest, PollAnswersAFewAndTheNextPollsTheOthersInTheirOrder) {
  start_server({.max_sessions = 1000});
  crowd(100);
  server->transport.poll();
  EXPECT_EQ(server->transport.session_count(), ServerTransport::kClaimsPerPoll);
  EXPECT_TRUE(server->transport.has_claims_waiting());
  for (int i = 0; i < 6; ++i) server->transport.poll();
  EXPECT_FALSE(server->transport.has_claims_waiting());
  EXPECT_EQ(server->transport.session_count(), 100u);
  EXPECT_EQ(dropped(), 0u);
  for (std::size_t i = 0; i < peers.size(); ++i)
    EXPECT_EQ(server->transport.peer(server->handler.joined[i]), peers[i]->port().local());
}

TEST_F(CrowdedDoorTest, MoreThanMayWaitAreCountedAndJoinWhenTheyRepeatIt) {
  start_server({.max_sessions = 1000});
  constexpr std::size_t kTooMany = 44;
  crowd(ServerTransport::kMaxWaitingClaims + kTooMany);
  TestClient& honest = add_client(1);
  honest.transport.connect();
  server->transport.poll();
  EXPECT_EQ(dropped(), kTooMany);
  run(seconds{1});
  EXPECT_EQ(honest.transport.state(), ClientState::Connected);
  EXPECT_EQ(server->transport.session_count(), ServerTransport::kMaxWaitingClaims + 1);
  for (const auto& peer : peers) peer->send(peer->response.span());
  run(milliseconds{100});
  EXPECT_EQ(server->transport.session_count(), ServerTransport::kMaxWaitingClaims + kTooMany + 1);
}

TEST_F(CrowdedDoorTest, CopiesThatWaitOpenOneSession) {
  start_server();
  crowd(1);
  for (int i = 0; i < 20; ++i) peers[0]->send(peers[0]->response.span());
  server->transport.poll();
  server->transport.poll();
  EXPECT_EQ(server->transport.session_count(), 1u);
  EXPECT_EQ(server->handler.joined.size(), 1u);
}

TEST_F(CrowdedDoorTest, CopiesOfAResponseThatWaitsCostItsAddressNothing) {
  start_server({.max_sessions = 1000});
  crowd(ServerTransport::kClaimsPerPoll + 1);
  for (int i = 0; i < 100; ++i) peers.back()->send(peers.back()->response.span());
  server->transport.poll();
  server->transport.poll();
  EXPECT_EQ(server->transport.session_count(), ServerTransport::kClaimsPerPoll + 1);
  Endpoint beside = peers.back()->port().local();
  ++beside.port;
  RawPeer other(network, beside, 5);
  EXPECT_TRUE(other.join(server->transport)) << "an address has 40 attempts at once";
}

// Who reads a Challenge on its way, and is faster than its owner, has the cookie and no more.
TEST_F(CrowdedDoorTest, RubbishWithTheSameCookieKeepsNobodyOut) {
  start_server();
  RawPeer peer(network, Endpoint::ipv4(198, 18, 0, 1, 1), 1000);
  peer.say_hello();
  server->transport.poll();
  const auto challenge = peer.hear_challenge();
  ASSERT_TRUE(challenge);
  peer.say_response(*challenge);
  std::vector<std::byte> rubbish(peer.response.span().begin(), peer.response.span().end());
  rubbish.back() ^= std::byte{1};
  Datagram real;
  ASSERT_TRUE(server->port->receive(real)) << "before the server sees it";
  peer.send(rubbish);
  peer.send(real.span());
  server->transport.poll();
  EXPECT_EQ(server->transport.session_count(), 1u);
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::BadTag), 1u);
}

// One who means no good may seal two Responses with one cookie.
TEST_F(CrowdedDoorTest, CookieOpensOneSession) {
  start_server();
  crowd(1);
  const std::array<std::byte, 1> credentials{std::byte{1}};
  peers[0]->claim.credentials = credentials;
  peers[0]->say_response(peers[0]->challenge);
  server->transport.poll();
  EXPECT_EQ(server->handler.joined.size(), 1u);
  EXPECT_EQ(server->transport.session_count(), 1u);
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::ReplayedResponse), 1u);
}

TEST_F(CrowdedDoorTest, WhoIsBannedWhileTheyWaitIsRefused) {
  start_server({.max_sessions = 1000});
  crowd(ServerTransport::kClaimsPerPoll + 1);
  server->transport.poll();
  server->transport.set_bans(parse_ban_list("198.18.0.16").value());
  server->transport.poll();
  EXPECT_EQ(server->transport.session_count(), ServerTransport::kClaimsPerPoll);
  const auto refuse = peers.back()->hear_refuse();
  ASSERT_TRUE(refuse);
  EXPECT_EQ(refuse->reason, RefuseReason::Banned);
}

TEST_F(CrowdedDoorTest, WhoWaitsWhenTheServerShutsDownIsRefused) {
  start_server({.max_sessions = 1000});
  crowd(ServerTransport::kClaimsPerPoll + 1);
  server->transport.poll();
  server->transport.shut_down();
  server->transport.poll();
  EXPECT_EQ(server->transport.session_count(), 0u);
  const auto refuse = peers.back()->hear_refuse();
  ASSERT_TRUE(refuse);
  EXPECT_EQ(refuse->reason, RefuseReason::ShuttingDown);
}

/// Goes on by a millisecond each time somebody looks at it.
class BusyClock final : public Clock {
 public:
  Time now() const override {
    now_ = now_ + milliseconds{1};
    return now_;
  }

 private:
  mutable Time now_{};
};

TEST_F(CrowdedDoorTest, PollThatTakesLongLeavesTheRestForTheNext) {
  BusyClock busy;
  TestServer slow(network, busy);
  RawPeer peer(network, client_endpoint(1), 5);
  for (int i = 0; i < 100; ++i) peer.say_packet(Sequence{1}, {});
  slow.transport.poll();
  const std::uint64_t first = slow.transport.counters().received_datagrams;
  EXPECT_GE(first, 1u);
  EXPECT_LE(first, 5u) << "a millisecond each";
  for (int i = 0; i < 100; ++i) slow.transport.poll();
  EXPECT_EQ(slow.transport.counters().received_datagrams, 100u) << "none is lost";
}

}  // namespace
}  // namespace shoal
