// Who gets a session and who does not, as both sides see it; and what stands on the wire meanwhile.
#include <algorithm>

#include "tests/unit/net/hex.hpp"
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr std::string_view kPassword = "correct horse battery staple";

std::vector<std::byte> copy_of(std::string_view text) {
  return {bytes_of(text).begin(), bytes_of(text).end()};
}

/// Writes down every datagram, both ways.
class TappedPort final : public DatagramPort {
 public:
  TappedPort(std::unique_ptr<DatagramPort> port, std::vector<std::vector<std::byte>>& tape)
      : port_(std::move(port)), tape_(tape) {}
  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override {
    tape_.emplace_back(bytes.begin(), bytes.end());
    return port_->send(peer, bytes);
  }
  void flush() override { port_->flush(); }
  bool receive(Datagram& datagram) override {
    if (!port_->receive(datagram)) return false;
    tape_.emplace_back(datagram.span().begin(), datagram.span().end());
    return true;
  }
  Endpoint local() const override { return port_->local(); }
  PortCounters counters() const override { return port_->counters(); }

 private:
  std::unique_ptr<DatagramPort> port_;
  std::vector<std::vector<std::byte>>& tape_;
};

class AdmissionSessionTest : public NetTest {
 protected:
  void serve(AdmissionConfig admission, std::uint32_t max_sessions = 8) {
    ServerTransportConfig config;
    config.max_sessions = max_sessions;
    config.identity = identity.secret();
    config.admission = std::move(admission);
    config.wall_clock = &wall_clock;
    start_server(std::move(config));
    pass_the_second_of_the_start();
  }
  /// Whose tickets are not taken.
  void pass_the_second_of_the_start() { wall_clock.set(wall_clock.unix_seconds() + 1); }
  AdmissionConfig with_password() { return {.mode = JoinMode::Password, .password = std::string(kPassword)}; }
  AdmissionConfig with_tickets() {
    return {.mode = JoinMode::Ticket, .ticket_issuer = issuer.public_key(), .audience = "arena-1"};
  }
  std::vector<std::byte> ticket(std::string_view player = "ann", std::string_view audience = "arena-1") {
    return mint_ticket(issuer, player, audience, wall_clock.unix_seconds(), 60, entropy);
  }
  TestClient& join(std::uint16_t number, CredentialKind kind = CredentialKind::None,
                   std::vector<std::byte> credentials = {}, std::optional<Secret> player_key = {}) {
    ClientTransportConfig config;
    config.server_key = identity.public_key();
    config.credential_kind = kind;
    config.credentials = std::move(credentials);
    config.player_key = player_key;
    TestClient& client = add_client(number, std::move(config));
    client.transport.connect();
    run(milliseconds{50});
    return client;
  }
  void expect_in_session(const TestClient& client) {
    EXPECT_EQ(client.transport.state(), ClientState::Connected) << client.transport.describe_close();
  }
  void expect_refused(const TestClient& client, RefuseReason reason) {
    ASSERT_EQ(client.transport.state(), ClientState::Closed);
    EXPECT_EQ(client.transport.close_reason(), CloseReason::Refused);
    EXPECT_EQ(client.transport.refuse_reason(), reason) << client.transport.describe_close();
    ASSERT_THAT(server->handler.refused, ::testing::Not(IsEmpty()));
    EXPECT_EQ(server->handler.refused.back().first, reason);
    EXPECT_EQ(server->handler.refused.back().second, client.transport.close_detail());
    EXPECT_EQ(server->transport.counters().refused[static_cast<std::size_t>(reason)], 1u);
  }

  SeededEntropy entropy{99};
  ManualWallClock wall_clock;
  AgreementKey identity = AgreementKey::make(entropy);
  SignatureKey issuer = SignatureKey::make(entropy);
};

TEST_F(AdmissionSessionTest, WrongPasswordIsRefusedAndTheRightOneJoins) {
  serve(with_password());
  expect_refused(join(1, CredentialKind::Password, copy_of("guess")), RefuseReason::WrongPassword);
  expect_in_session(join(2, CredentialKind::Password, copy_of(kPassword)));
  EXPECT_THAT(server->handler.joined, SizeIs(1));
}

TEST_F(AdmissionSessionTest, TicketJoinsAsThePlayerItNames) {
  serve(with_tickets());
  TestClient& client = join(1, CredentialKind::Ticket, ticket());
  expect_in_session(client);
  EXPECT_THAT(server->handler.names, ElementsAre("ann"));
  EXPECT_THAT(server->handler.players, ElementsAre(player_of_ticket("ann")));
  EXPECT_EQ(client.transport.player(), player_of_ticket("ann"));
}

TEST_F(AdmissionSessionTest, TicketsThatAreNotGoodAreRefusedEachWithItsReason) {
  serve(with_tickets());
  expect_refused(join(1), RefuseReason::TicketRequired);
  const auto shown = ticket();
  wall_clock.set(wall_clock.unix_seconds() + 66);
  expect_refused(join(2, CredentialKind::Ticket, shown), RefuseReason::TicketExpired);
  expect_refused(join(3, CredentialKind::Ticket, ticket("ann", "arena-2")), RefuseReason::TicketForeign);
  auto changed = ticket();
  changed[38] ^= std::byte{1};  // a letter of the player's name
  expect_refused(join(4, CredentialKind::Ticket, changed), RefuseReason::TicketForged);
  EXPECT_THAT(server->handler.joined, IsEmpty());
}

TEST_F(AdmissionSessionTest, TicketIsUsedOnceWhoeverShowsItThen) {
  serve(with_tickets());
  const auto shown = ticket();
  TestClient& ann = join(1, CredentialKind::Ticket, shown);
  expect_refused(join(2, CredentialKind::Ticket, shown), RefuseReason::TicketUsed);
  expect_in_session(ann);
  ann.transport.close();
  run(milliseconds{50});
  expect_in_session(join(3, CredentialKind::Ticket, ticket("bob")));
  TestClient& thief = join(4, CredentialKind::Ticket, shown);
  EXPECT_EQ(thief.transport.refuse_reason(), RefuseReason::TicketUsed) << "after its owner left, too";
}

TEST_F(AdmissionSessionTest, FullServerRefuses) {
  serve({}, 1);
  TestClient& first = join(1);
  expect_refused(join(2), RefuseReason::ServerFull);
  expect_in_session(first);
}

TEST_F(AdmissionSessionTest, BannedAddressAndBannedPlayerAreRefused) {
  serve({});
  const Secret seed = Secret::random(entropy);
  const PlayerId player = player_of_key(SignatureKey(seed).public_key());
  server->transport.set_bans(parse_ban_list("player " + to_string(player)).value());
  expect_refused(join(1, CredentialKind::None, {}, seed), RefuseReason::Banned);
  expect_in_session(join(2));
  server->transport.set_bans(parse_ban_list("10.0.1.0/24").value());
  TestClient& other = join(3);
  EXPECT_EQ(other.transport.refuse_reason(), RefuseReason::Banned);
}

TEST_F(AdmissionSessionTest, WhoIsBannedWhilePlayingIsSentAway) {
  serve({});
  TestClient& bad = join(1);
  TestClient& good = join(2);
  server->transport.set_bans(parse_ban_list("player " + to_string(bad.transport.player())).value());
  run(milliseconds{50});
  EXPECT_THAT(bad.handler.closed, ElementsAre(Pair(CloseReason::Kicked, "banned")));
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::Kicked)));
  expect_in_session(good);
}

TEST_F(AdmissionSessionTest, AnotherServersKeyEndsTheHandshakeBeforeAnythingIsShown) {
  serve(with_password());
  ClientTransportConfig config;
  config.server_key = AgreementKey::make(entropy).public_key();
  config.credential_kind = CredentialKind::Password;
  config.credentials = copy_of(kPassword);
  TestClient& client = add_client(1, config);
  client.transport.connect();
  run(milliseconds{50});
  ASSERT_THAT(client.handler.closed, SizeIs(1));
  EXPECT_EQ(client.handler.closed[0].first, CloseReason::WrongServerKey);
  EXPECT_THAT(client.handler.closed[0].second, HasSubstr(to_string(identity.public_key())));
  EXPECT_THAT(client.transport.describe_close(), HasSubstr("wrong server key"));
  EXPECT_EQ(client.transport.counters().sent_datagrams, 1u) << "Hello, and no Response";
  EXPECT_THAT(server->handler.joined, IsEmpty());
}

TEST_F(AdmissionSessionTest, CapturedJoinShowsNoCredentialInClear) {
  for (const bool by_ticket : {false, true}) {
    clients.clear();
    server.reset();
    serve(by_ticket ? with_tickets() : with_password());
    const Secret seed = Secret::random(entropy);
    ClientTransportConfig config = TestClient::with_server({});
    config.server_key = identity.public_key();
    config.credential_kind = by_ticket ? CredentialKind::Ticket : CredentialKind::Password;
    config.credentials = by_ticket ? ticket("ann the player") : copy_of(kPassword);
    config.player_key = seed;
    std::vector<std::vector<std::byte>> tape;
    TappedPort port(network.open(client_endpoint(1)), tape);
    ClientRecorder handler;
    ClientTransport client(port, clock, entropy, config, handler);
    const auto play = [&] {
      client.connect();
      run(milliseconds{200}, [&] { client.poll(); });
      ASSERT_EQ(client.state(), ClientState::Connected) << client.describe_close();
      client.close();
      run(milliseconds{50}, [&] { client.poll(); });
    };
    play();
    const std::vector<std::byte> note(client.resume_ticket().begin(), client.resume_ticket().end());
    play();  // with the resume ticket
    const std::vector<std::byte> second_note(client.resume_ticket().begin(), client.resume_ticket().end());
    ASSERT_THAT(note, ::testing::Not(IsEmpty()));
    ASSERT_NE(note, second_note);

    const auto is_on_tape = [&tape](std::span<const std::byte> bytes) {
      return std::any_of(tape.begin(), tape.end(), [&](const auto& datagram) {
        return std::search(datagram.begin(), datagram.end(), bytes.begin(), bytes.end()) != datagram.end();
      });
    };
    ASSERT_GE(tape.size(), 8u);
    EXPECT_TRUE(is_on_tape(std::as_bytes(std::span(identity.public_key().bytes))))
        << "the tape holds what is in clear";
    const PublicKey player_key = SignatureKey(seed).public_key();
    const PlayerId player = client.player();
    const std::span<const std::byte> shown(config.credentials);
    for (const auto& [what, bytes] : std::vector<std::pair<std::string, std::span<const std::byte>>>{
             {"the credentials", shown},
             {"a part of the credentials", shown.subspan(4, 12)},
             {"the player's name", bytes_of("ann the player")},
             {"the player's key", std::as_bytes(std::span(player_key.bytes))},
             {"the player's secret", seed.reveal()},
             {"the player's id", std::as_bytes(std::span(player.bytes))},
             {"the resume ticket", note},
             {"the second resume ticket", second_note},
             {"the server's secret", identity.secret().reveal()}})
      EXPECT_FALSE(is_on_tape(bytes)) << what;
  }
}

// T4, and its other half: nobody else's session is touched.
TEST_F(AdmissionSessionTest, NewerSessionOfAPlayerReplacesTheOlderAndNobodyElses) {
  serve(with_tickets());
  TestClient& bob = join(1, CredentialKind::Ticket, ticket("bob"));
  TestClient& older = join(2, CredentialKind::Ticket, ticket("ann"));
  TestClient& newer = join(3, CredentialKind::Ticket, ticket("ann"));
  expect_in_session(bob);
  expect_in_session(newer);
  EXPECT_THAT(older.handler.closed, ElementsAre(Pair(CloseReason::Replaced, "")));
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[1], CloseReason::Replaced)));
  EXPECT_EQ(server->transport.session_count(), 2u);
}

TEST_F(AdmissionSessionTest, PlayerReplacesThemselvesOnAFullServerAndAtTheirAddressesLimit) {
  AdmissionConfig config;
  config.limits.max_sessions = 1;
  config.limits.exempt.clear();
  serve(config, 1);
  const Secret seed = Secret::random(entropy);
  join(1, CredentialKind::None, {}, seed);
  expect_refused(join(2), RefuseReason::TooManySessions);
  TestClient& again = join(3, CredentialKind::None, {}, seed);  // as after a crash
  expect_in_session(again);
  EXPECT_EQ(server->transport.session_count(), 1u);
  again.transport.close();
  run(milliseconds{50});
  expect_in_session(join(4));
}

TEST_F(AdmissionSessionTest, ImpostorWithThePublicKeyAloneReplacesNobody) {
  serve({});
  const Secret seed = Secret::random(entropy);
  TestClient& ann = join(1, CredentialKind::None, {}, seed);
  RawPeer impostor(network, client_endpoint(2), 7);
  const SignatureKey own = impostor.player;
  impostor.player = SignatureKey(seed);  // for its public half
  impostor.keeps_signature = true;
  impostor.say_hello();
  server->transport.poll();
  const auto shown = impostor.hear_challenge();
  ASSERT_TRUE(shown);
  for (const bool signs_itself : {false, true}) {
    if (signs_itself) {
      const Digest256 digest = player_challenge(impostor.response_keys->transcript);
      impostor.claim.player_signature = own.sign(std::as_bytes(std::span(digest)));
    }
    impostor.say_response(*shown);
    server->transport.poll();
    EXPECT_FALSE(impostor.hear_accept());
  }
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::BadPlayerKey), 2u);
  run(milliseconds{50});
  expect_in_session(ann);
  EXPECT_THAT(server->handler.joined, SizeIs(1));
}

TEST_F(AdmissionSessionTest, ProofForOneHandshakeIsNoneForAnother) {
  serve({});
  const auto challenged = [&](RawPeer& peer) {
    peer.say_hello();
    server->transport.poll();
    return peer.hear_challenge();
  };
  RawPeer ann(network, client_endpoint(1), 7);
  const auto first = challenged(ann);
  ASSERT_TRUE(first);
  ann.say_response(*first);
  server->transport.poll();
  ASSERT_TRUE(ann.hear_accept());
  const Digest256 digest = player_challenge(ann.response_keys->transcript);
  RawPeer impostor(network, client_endpoint(2), 8);
  impostor.player = ann.player;
  impostor.keeps_signature = true;
  impostor.claim.player_signature = ann.player.sign(std::as_bytes(std::span(digest)));
  const auto second = challenged(impostor);
  ASSERT_TRUE(second);
  impostor.say_response(*second);
  server->transport.poll();
  EXPECT_FALSE(impostor.hear_accept());
  EXPECT_EQ(server->transport.session_count(), 1u);
}

TEST_F(AdmissionSessionTest, PlayerComesBackAfterARestartOfTheServer) {
  serve(with_tickets());
  TestClient& ann = join(1, CredentialKind::Ticket, ticket());
  expect_in_session(ann);
  server.reset();  // a crash: nobody is told
  run(seconds{11});
  EXPECT_EQ(ann.transport.close_reason(), CloseReason::TimedOut);
  wall_clock.set(wall_clock.unix_seconds() + 3600);  // the ticket is over
  serve(with_tickets());
  ann.transport.connect();
  run(milliseconds{50});
  expect_in_session(ann);
  EXPECT_THAT(server->handler.players, ElementsAre(player_of_ticket("ann")));
  EXPECT_THAT(server->handler.names, ElementsAre("ann"));
}

TEST_F(AdmissionSessionTest, ResumeTicketThatIsOverIsDroppedAndTheNextAttemptShowsThePassword) {
  serve(with_password());
  TestClient& ann = join(1, CredentialKind::Password, copy_of(kPassword));
  ann.transport.close();
  run(milliseconds{50});
  wall_clock.set(wall_clock.unix_seconds() + 30 * 24 * 3600);
  ann.transport.connect();
  run(milliseconds{50});
  EXPECT_EQ(ann.transport.refuse_reason(), RefuseReason::TicketExpired);
  ann.transport.connect();
  run(milliseconds{50});
  expect_in_session(ann);
}

// Whoever sees the nonce can write a Refuse in clear.
TEST_F(AdmissionSessionTest, ForgedRefusalInClearCostsNoResumeTicket) {
  serve(with_password());
  TestClient& ann = join(1, CredentialKind::Password, copy_of(kPassword));
  ann.transport.close();
  run(milliseconds{50});
  ASSERT_FALSE(ann.transport.resume_ticket().empty());
  HandshakeWriter writer;
  OutgoingDatagram forged;
  network.set_tap([&](const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes) {
    PacketHeader header;
    if (source != client_endpoint(1) || read_header(bytes, header) || header.type == DatagramType::Packet)
      return;
    writer.refuse(header.connection, {RefuseReason::TicketExpired, {}}, forged);
    network.forge(target, source, forged.span());
  });
  ann.transport.connect();
  run(milliseconds{50});
  expect_in_session(ann);
  EXPECT_GE(ann.transport.counters().bad_count(BadDatagram::UnexpectedHandshake), 1u);
}

class KeyUsedUp : public AdmissionSessionTest, public ::testing::WithParamInterface<bool> {};

TEST_P(KeyUsedUp, EndsTheSessionAndTheNextOneIsThePlayers) {
  const bool by_server = GetParam();
  ServerTransportConfig config;
  config.identity = identity.secret();
  config.admission = with_tickets();
  config.wall_clock = &wall_clock;
  if (by_server) config.packets_per_key = 20;
  start_server(config);
  pass_the_second_of_the_start();
  ClientTransportConfig client_config;
  client_config.credential_kind = CredentialKind::Ticket;
  client_config.credentials = ticket();
  if (!by_server) client_config.packets_per_key = 20;
  TestClient& ann = add_client(1, client_config);
  ann.transport.connect();
  std::uint32_t tick = 0;
  const auto both_send = [&] {
    ++tick;
    server->transport.for_each_session([&](SessionId id) { (void)server->send_frame(id, tick); });
    if (ann.transport.state() == ClientState::Connected) (void)ann.send_update(tick);
  };
  run(milliseconds{100}, both_send);
  EXPECT_THAT(ann.handler.closed, ElementsAre(Pair(CloseReason::KeyUsedUp, "")));
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::KeyUsedUp)));
  EXPECT_LT(tick, 110u);
  wall_clock.set(wall_clock.unix_seconds() + 3600);  // the ticket is over
  ann.transport.connect();
  run(milliseconds{15}, both_send);
  expect_in_session(ann);
  EXPECT_THAT(server->handler.players, ElementsAre(player_of_ticket("ann"), player_of_ticket("ann")));
}

INSTANTIATE_TEST_SUITE_P(AdmissionSession, KeyUsedUp, ::testing::Bool(), [](const auto& by_server) {
  return by_server.param ? "OfTheServer" : "OfTheClient";
});

}  // namespace
}  // namespace shoal
