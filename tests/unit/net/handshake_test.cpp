// From Hello to Accept or Refuse: honest clients on bad networks, and peers that are not honest.
#include <set>

#include "tests/support/allocation_counter.hpp"
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class HandshakeTest : public NetTest {
 protected:
  std::uint64_t bytes_sent_by_server() const { return server->port->counters().sent_bytes; }
};

TEST_F(HandshakeTest, JoinsWithinOneRoundTripTimesTwo) {
  network.set_default_link({.latency = milliseconds{20}});
  start_server();
  TestClient& client = add_client(1);
  client.transport.connect();
  run(milliseconds{79});
  EXPECT_EQ(client.transport.state(), ClientState::Connecting);
  run(milliseconds{5});
  EXPECT_EQ(client.transport.state(), ClientState::Connected);
}

TEST_F(HandshakeTest, EveryoneJoinsAtSixtyPercentLossInTheEnd) {
  network.set_default_link(
      {.loss_percent = 60, .duplicate_percent = 20, .reorder_percent = 20, .latency = milliseconds{30}});
  start_server({.max_sessions = 64, .time_out = seconds{60}});
  for (std::uint16_t i = 0; i < 50; ++i) add_client(i, {.connect_time_out = seconds{60}}).transport.connect();
  run(seconds{50});
  std::set<std::uint64_t> connections;
  for (const auto& client : clients) {
    EXPECT_EQ(client->transport.state(), ClientState::Connected);
    EXPECT_EQ(client->handler.connected, 1);
    connections.insert(client->transport.connection_id().value);
  }
  EXPECT_EQ(connections.size(), 50u);
  EXPECT_EQ(server->transport.session_count(), 50u) << "a Response that came twice opens one session";
  // Who heard no Accept for as long as a cookie is used began anew.
  EXPECT_EQ(server->handler.joined.size(), 50u + server->handler.left.size());
  for (const auto& [session, reason] : server->handler.left) EXPECT_EQ(reason, CloseReason::Replaced);
  EXPECT_LT(server->handler.left.size(), 20u);
}

TEST_F(HandshakeTest, NoServerEndsInNoAnswerWithRemedy) {
  TestClient& client = add_client(1, {.connect_time_out = seconds{3}});
  client.transport.connect();
  run(seconds{4});
  EXPECT_THAT(client.handler.closed, ElementsAre(Pair(CloseReason::NoAnswer, HasSubstr("10.0.0.1:7777"))));
  EXPECT_THAT(client.transport.describe_close(), HasSubstr("check address, port and firewall"));
  EXPECT_LT(client.transport.counters().sent_datagrams, 12u) << "Hello is repeated with growing pauses";
}

// ----------------------------------------------------------------------------------------------- refusals

// P16
TEST_F(HandshakeTest, SchemaMismatchNamesTheComponentsOnBothSides) {
  start_server({.schema = {{0x10, 0x1, "Health"}, {0x20, 0x2, "Mana"}, {0x30, 0x3, "Position"}}});
  TestClient& client =
      add_client(1, {.schema = {{0x10, 0x9, "Health"}, {0x30, 0x3, "Position"}, {0x40, 0x4, "Stamina"}}});
  client.transport.connect();
  run(milliseconds{50});
  const std::string detail =
      "Health: server 0x0000000000000001 client 0x0000000000000009; only on the server: Mana; only on the "
      "client: Stamina";
  EXPECT_THAT(client.handler.closed, ElementsAre(Pair(CloseReason::Refused, detail)));
  EXPECT_EQ(client.transport.refuse_reason(), RefuseReason::SchemaMismatch);
  EXPECT_THAT(client.transport.describe_close(), HasSubstr("build them from one schema"));
  EXPECT_THAT(server->handler.refused, ElementsAre(Pair(RefuseReason::SchemaMismatch, detail)));
  EXPECT_EQ(server->transport.session_count(), 0u);
}

// P16
TEST_F(HandshakeTest, SchemaTooLongForADatagramStillNamesWhatItCan) {
  SchemaVersions many;
  for (std::uint32_t i = 0; i < 200; ++i)
    many.push_back({i, i, "some.rather.long.namespace.Component" + std::to_string(i)});
  start_server({.schema = {{0x0, 0x5, "Health"}}});
  TestClient& client = add_client(1, {.schema = many});
  client.transport.connect();
  run(milliseconds{50});
  ASSERT_THAT(client.handler.closed, SizeIs(1));
  EXPECT_THAT(client.handler.closed[0].second,
              HasSubstr("Health: server 0x0000000000000005 client 0x0000000000000000"));
  EXPECT_THAT(client.handler.closed[0].second,
              HasSubstr("only on the client: some.rather.long.namespace.Component1;"));
}

TEST_F(HandshakeTest, WrongProtocolVersionIsRefusedWithBothVersions) {
  start_server({.protocol_version = 7});
  TestClient& client = add_client(1);
  client.transport.connect();
  run(milliseconds{50});
  const std::string both = "server 7 client " + std::to_string(kProtocolVersion);
  EXPECT_THAT(client.handler.closed, ElementsAre(Pair(CloseReason::Refused, both)));
  EXPECT_EQ(client.transport.refuse_reason(), RefuseReason::WrongProtocolVersion);
  EXPECT_THAT(server->handler.refused, ElementsAre(Pair(RefuseReason::WrongProtocolVersion, both)));
}

TEST_F(HandshakeTest, FullServerRefusesAndTakesTheNextWhenSomeoneLeft) {
  start_server({.max_sessions = 2});
  for (std::uint16_t i = 0; i < 3; ++i) {
    add_client(i).transport.connect();
    run(milliseconds{20});
  }
  EXPECT_EQ(clients[2]->transport.refuse_reason(), RefuseReason::ServerFull);
  EXPECT_EQ(clients[2]->transport.close_detail(), "2 of 2 sessions");
  clients[0]->transport.close();
  run(milliseconds{20});
  clients[2]->transport.connect();
  run(milliseconds{20});
  EXPECT_EQ(clients[2]->transport.state(), ClientState::Connected);
}

TEST_F(HandshakeTest, ServerThatShutsDownTellsItsClientsAndRefusesNewOnes) {
  start_server();
  add_client(1).transport.connect();
  run(milliseconds{20});
  server->transport.shut_down();
  add_client(2).transport.connect();
  run(milliseconds{20});
  EXPECT_EQ(clients[0]->transport.close_reason(), CloseReason::ServerShutDown);
  EXPECT_EQ(clients[1]->transport.refuse_reason(), RefuseReason::ShuttingDown);
}

// ----------------------------------------------------------------------------------- peers that are not
// honest

// T6
TEST_F(HandshakeTest, SpoofedHelloGetsNoMoreThanItSent) {
  start_server({.schema = demo_schema()});
  RawPeer peer(network, client_endpoint(1), 5);
  const auto cost = [&](std::span<const std::byte> bytes) {
    const std::uint64_t before = bytes_sent_by_server();
    peer.send(bytes);
    server->transport.poll();
    return bytes_sent_by_server() - before;
  };
  peer.say_hello();
  const OutgoingDatagram hello = peer.last_sent();
  EXPECT_EQ(hello.size, kMaxDatagramBytes);
  EXPECT_GT(cost(hello.span()), 0u);
  EXPECT_LE(cost(hello.span()), hello.size);
  peer.say_hello(99);
  const OutgoingDatagram wrong = peer.last_sent();
  EXPECT_LE(cost(wrong.span()), wrong.size) << "neither does a refusal";
  // A Hello that is not padded gets nothing at all.
  std::array<std::byte, kMaxDatagramBytes> bytes;
  for (const std::size_t body_bytes : {std::size_t{60}, std::size_t{500}, kMaxPacketBodyBytes - 1}) {
    const std::size_t size =
        write_clear({DatagramType::Hello, 5, Sequence{}},
                    std::span(hello.bytes).subspan(kPacketHeaderBytes, body_bytes), bytes);
    EXPECT_EQ(cost(std::span(bytes).first(size)), 0u);
  }
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::UnpaddedHello), 3u);
  // A Response without good cookie and a Packet of no session get nothing either.
  peer.say_response({{}, 0, server->transport.public_key()});
  const OutgoingDatagram forged = peer.last_sent();
  EXPECT_EQ(cost(forged.span()), 0u);
  peer.say_packet(Sequence{1}, {});
  const OutgoingDatagram stray = peer.last_sent();
  EXPECT_EQ(cost(stray.span()), 0u);
}

// T6: neither does one that ends, in whichever way.
TEST_F(HandshakeTest, SpoofedHelloToAServerThatEndsGetsNoMoreThanItSent) {
  for (const bool drains : {true, false}) {
    SCOPED_TRACE(drains ? "draining" : "shutting down");
    start_server();
    RawPeer peer(network, client_endpoint(1), 5);
    drains ? server->transport.start_draining() : server->transport.shut_down();
    peer.say_hello();
    const OutgoingDatagram hello = peer.last_sent();
    server->transport.poll();
    EXPECT_GT(bytes_sent_by_server(), 0u) << "who asks in earnest is told why";
    EXPECT_LE(bytes_sent_by_server(), hello.size);
    const std::uint64_t before = bytes_sent_by_server();
    OutgoingDatagram small;
    small.size =
        write_clear({DatagramType::Hello, 5, Sequence{}},
                    std::span(hello.bytes).subspan(kPacketHeaderBytes, kMaxPacketBodyBytes - 1), small.bytes);
    peer.send(small.span());
    server->transport.poll();
    EXPECT_EQ(bytes_sent_by_server(), before) << "one that was not padded gets nothing";
    server.reset();
  }
}

/// Hands out hellos and forged Responses, each from another address with other keys, and swallows all answers.
/// Itself it needs no memory, so that what is counted is the server's.
class FloodPort final : public DatagramPort {
 public:
  explicit FloodPort(DatagramPort& under) : under_(under) {}
  void wait(std::uint64_t datagrams) { left_ = datagrams; }
  std::uint64_t answers() const { return answers_; }

  bool send(const Endpoint& peer, std::span<const std::byte> bytes) override {
    if (peer.port != kFloodPort) return under_.send(peer, bytes);
    ++answers_;
    answer_.size = bytes.size();
    std::copy(bytes.begin(), bytes.end(), answer_.bytes.begin());
    return true;
  }
  void flush() override { under_.flush(); }
  bool receive(Datagram& datagram) override {
    if (left_ == 0) return under_.receive(datagram);
    --left_;
    ++nonce_;
    const auto part = [this](int shift) { return static_cast<std::uint8_t>(nonce_ >> shift); };
    datagram.peer = Endpoint::ipv4(11, part(16), part(8), part(0), kFloodPort);
    PublicKey key;
    key.bytes = {part(0), part(8), part(16), 9};
    if (nonce_ % 2 == 0) {
      writer_.hello(nonce_, {kProtocolVersion, key}, written_);
    } else {
      // A cookie that looks right: of our time, and every other one made for the Hello before it, of another address.
      HandshakeCookie cookie{.code = {part(0), part(8)}};
      if (nonce_ % 4 == 1 && answers_ > 0) cookie = stolen_cookie();
      writer_.response(sealing_, nonce_, {kProtocolVersion, key, cookie}, {}, written_);
    }
    datagram.size = static_cast<std::uint16_t>(written_.size);
    std::copy_n(written_.bytes.begin(), written_.size, datagram.bytes.begin());
    return true;
  }
  Endpoint local() const override { return under_.local(); }
  PortCounters counters() const override { return under_.counters(); }

 private:
  static constexpr std::uint16_t kFloodPort = 666;

  HandshakeCookie stolen_cookie() {
    Opened opened;
    if (read_clear(answer_.span(), body_, opened)) return {};
    const auto challenge = read_challenge(opened.body);
    return challenge ? challenge->cookie : HandshakeCookie{};
  }

  DatagramPort& under_;
  std::uint64_t left_ = 0;
  std::uint64_t nonce_ = 0;
  std::uint64_t answers_ = 0;
  HandshakeWriter writer_;
  SealingKey sealing_{Cipher::ChaCha20Poly1305, Secret{}};
  OutgoingDatagram written_;
  OutgoingDatagram answer_;
  BodyBuffer body_;
};

// T7: before its cookie came back a peer costs no memory and no work with keys.
TEST_F(HandshakeTest, FloodBeforeTheCookieCostsNoMemoryAndNoKeys) {
  SchemaVersions schema = demo_schema();
  sort_schema(schema);
  const auto under = network.open(kServerEndpoint);
  FloodPort port(*under);
  SeededEntropy entropy(1);
  ServerRecorder handler;
  ServerTransport transport(port, clock, entropy, {.schema = schema}, handler);
  const auto flood = [&](std::uint64_t datagrams) {
    for (std::uint64_t i = 0; i < datagrams; i += 1000) {
      port.wait(1000);
      clock.advance(milliseconds{1});
      transport.poll();
    }
  };
  flood(2000);  // buffers get their sizes
  const std::uint64_t answers = port.answers();
  const std::uint64_t operations = public_key_operations_so_far();
  const std::size_t allocations = test::allocations_so_far();
  flood(40000);
  EXPECT_EQ(test::allocations_so_far() - allocations, 0u);
  EXPECT_EQ(public_key_operations_so_far() - operations, 0u);
  EXPECT_EQ(transport.counters().public_key_operations, 0u);
  EXPECT_EQ(port.answers() - answers, 20000u) << "each Hello got its Challenge";
  EXPECT_EQ(transport.counters().bad_count(BadDatagram::ForgedCookie), 21000u) << "no Response was good";
  // The alarm works: who shows a good cookie does cost keys.
  RawPeer peer(network, client_endpoint(1), 5);
  ASSERT_TRUE(peer.join(transport, schema));
  EXPECT_GE(transport.counters().public_key_operations, 3u) << "two agreements and a signature";
}

// T7
TEST_F(HandshakeTest, HelloFloodFillsNothing) {
  start_server({.max_sessions = 4});
  HandshakeWriter writer;
  OutgoingDatagram hello;
  RawPeer peer(network, client_endpoint(1), 1);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    writer.hello(i, {kProtocolVersion, {}}, hello);
    peer.send(hello.span());
    if (i % 1000 == 999) server->transport.poll();
  }
  EXPECT_EQ(server->transport.session_count(), 0u);
  EXPECT_THAT(server->handler.joined, IsEmpty());
  add_client(2).transport.connect();
  run(milliseconds{20});
  EXPECT_EQ(clients[0]->transport.state(), ClientState::Connected) << "an honest client joins amid the flood";
}

TEST_F(HandshakeTest, CookieOfAnotherAddressOpensNothing) {
  start_server();
  RawPeer honest(network, client_endpoint(1), 5);
  honest.say_hello();
  server->transport.poll();
  const auto challenge = honest.hear_challenge();
  ASSERT_TRUE(challenge);
  RawPeer thief(network, client_endpoint(2), 5);
  thief.say_response(*challenge);
  server->transport.poll();
  EXPECT_EQ(server->transport.session_count(), 0u);
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::ForgedCookie), 1u);
}

// T3
TEST_F(HandshakeTest, ResponseUsedAgainAfterItsSessionEndedOpensNothing) {
  start_server();
  RawPeer peer(network, client_endpoint(1), 5);
  ASSERT_TRUE(peer.join(server->transport));
  const OutgoingDatagram response = peer.last_sent();
  const SessionId session = server->handler.joined[0];
  server->transport.close(session, CloseReason::Kicked);
  for (int i = 0; i < 13; ++i) {  // past the life of the cookie
    peer.send(response.span());
    run(seconds{1});
  }
  EXPECT_EQ(server->transport.session_count(), 0u);
  EXPECT_THAT(server->handler.joined, SizeIs(1));
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::ReplayedResponse) +
                server->transport.counters().bad_count(BadDatagram::StaleCookie),
            13u);
}

// T3
TEST_F(HandshakeTest, FullMemoryOfResponsesIsBusyAndForgetsNone) {
  start_server({.max_used_responses = 2});
  RawPeer first(network, client_endpoint(1), 5);
  ASSERT_TRUE(first.join(server->transport));
  const OutgoingDatagram response = first.response;
  server->transport.close(server->handler.joined[0], CloseReason::Kicked);
  ASSERT_TRUE(RawPeer(network, client_endpoint(2), 6).join(server->transport));
  EXPECT_FALSE(RawPeer(network, client_endpoint(3), 7).join(server->transport));
  ASSERT_THAT(server->handler.refused, SizeIs(1));
  EXPECT_EQ(server->handler.refused[0].first, RefuseReason::Busy);
  first.send(response.span());
  server->transport.poll();
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::ReplayedResponse), 1u) << "it is still known";
  clock.advance(kCookieLifetime + seconds{3});
  EXPECT_TRUE(RawPeer(network, client_endpoint(3), 8).join(server->transport));
}

// On the way somebody holds a Response back until its client has joined by a later one.
TEST_F(HandshakeTest, ResponseThatWasHeldBackDoesNotReplaceTheSessionThatBeganAfterIt) {
  start_server();
  RawPeer peer(network, client_endpoint(1), 5);
  peer.say_hello();
  server->transport.poll();
  const auto early = peer.hear_challenge();
  ASSERT_TRUE(early);
  network.set_links_from(client_endpoint(1), {.loss_percent = 100});
  peer.say_response(*early);
  const OutgoingDatagram held_back = peer.response;
  network.set_links_from(client_endpoint(1), {});
  clock.advance(seconds{6});
  ASSERT_TRUE(peer.join(server->transport));
  peer.send(held_back.span());
  server->transport.poll();
  EXPECT_TRUE(server->transport.is_open(server->handler.joined[0]));
  EXPECT_THAT(server->handler.joined, SizeIs(1));
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::ReplayedResponse), 1u);
}

TEST_F(HandshakeTest, LostAcceptIsRepeatedForTheSameSession) {
  start_server();
  RawPeer peer(network, client_endpoint(1), 5);
  ASSERT_TRUE(peer.join(server->transport));
  const ConnectionId first = peer.connection;
  run(milliseconds{100});
  peer.send(peer.response.span());
  server->transport.poll();
  const auto accept = peer.hear_accept();
  ASSERT_TRUE(accept);
  EXPECT_EQ(accept->connection, first);
  EXPECT_THAT(server->handler.joined, SizeIs(1));
}

// State that nobody understands yet must not keep away the one datagram that opens it.
TEST_F(HandshakeTest, LostAcceptIsRepeatedThoughStateHasSpentTheBudget) {
  start_server({.bytes_per_second = 1000});
  RawPeer peer(network, client_endpoint(1), 5);
  ASSERT_TRUE(peer.join(server->transport));
  for (std::uint32_t tick = 0; tick < 20; ++tick)
    ASSERT_TRUE(server->send_frame(server->handler.joined[0], tick, 900).ok());
  ASSERT_FALSE(server->transport.may_send(server->handler.joined[0]));
  run(milliseconds{100});
  while (peer.hear()) {
  }
  peer.send(peer.response.span());
  server->transport.poll();
  ASSERT_TRUE(peer.hear_accept());
}

TEST_F(HandshakeTest, FloodOfRepeatedResponsesIsAnsweredSeldom) {
  start_server();
  RawPeer peer(network, client_endpoint(1), 5);
  ASSERT_TRUE(peer.join(server->transport));
  const std::uint64_t before = server->transport.counters().sent_datagrams;
  for (int i = 0; i < 1000; ++i) {
    peer.send(peer.response.span());
    run(milliseconds{1});
  }
  EXPECT_LE(server->transport.counters().sent_datagrams - before, 20u + 4u) << "and signs of life";
}

TEST_F(HandshakeTest, ClientBelievesOnlyAnswersToItsOwnNonceFromItsServer) {
  start_server();
  TestClient& client = add_client(1);
  RawPeer stranger(network, client_endpoint(9), 5);
  network.partition(kServerEndpoint, client_endpoint(1));
  client.transport.connect();
  HandshakeWriter writer;
  OutgoingDatagram refuse;
  writer.refuse(12345, {RefuseReason::ServerFull, ""}, refuse);
  (void)stranger.port().send(client_endpoint(1), refuse.span());
  run(milliseconds{5});
  EXPECT_EQ(client.transport.counters().bad_count(BadDatagram::WrongAddress), 1u);
  network.heal(kServerEndpoint, client_endpoint(1));
  (void)server->port->send(client_endpoint(1), refuse.span());
  run(milliseconds{1});
  EXPECT_EQ(client.transport.counters().bad_count(BadDatagram::UnexpectedHandshake), 1u);
  EXPECT_EQ(client.transport.state(), ClientState::Connecting);
}

// T1
TEST_F(HandshakeTest, NothingIsUsedAgainAfterStopAndStart) {
  std::set<std::uint64_t> connections;
  std::set<std::uint64_t> nonces;
  for (int round = 0; round < 20; ++round) {
    SeededEntropy entropy(100 + static_cast<std::uint64_t>(round));
    ServerRecorder handler;
    const auto port = network.open(kServerEndpoint);
    ServerTransport transport(*port, clock, entropy, {}, handler);
    for (std::uint64_t i = 0; i < 5; ++i) {
      RawPeer peer(network, client_endpoint(static_cast<std::uint16_t>(i)),
                   static_cast<std::uint64_t>(round) * 100 + i);
      ASSERT_TRUE(peer.join(transport));
      EXPECT_TRUE(connections.insert(peer.connection.value).second) << "a connection id came twice";
    }
  }
  start_server();
  TestClient& client = add_client(7);
  network.set_tap([&](const Endpoint&, const Endpoint&, std::span<const std::byte> bytes) {
    PacketHeader header;
    ASSERT_FALSE(read_header(bytes, header));
    if (header.type != DatagramType::Hello) return;
    EXPECT_TRUE(nonces.insert(header.connection).second) << "a nonce came twice";
  });
  for (int round = 0; round < 20; ++round) {
    client.transport.connect();
    run(milliseconds{20});
    ASSERT_EQ(client.transport.state(), ClientState::Connected);
    EXPECT_TRUE(connections.insert(client.transport.connection_id().value).second);
    client.transport.close();
    run(milliseconds{20});
  }
  EXPECT_THAT(nonces, SizeIs(20)) << "each attempt said Hello once";
}

// T15: every prefix and many mutations of every handshake body.
TEST_F(HandshakeTest, MalformedHandshakesAreCountedAndChangeNothing) {
  start_server({.schema = demo_schema()});
  TestClient& client = add_client(3);
  network.partition_one_way(kServerEndpoint, client_endpoint(3));
  client.transport.connect();
  RawPeer peer(network, client_endpoint(1), 5);
  peer.say_hello();
  std::vector<OutgoingDatagram> samples{peer.last_sent()};
  server->transport.poll();
  const auto challenge = peer.hear_challenge();
  ASSERT_TRUE(challenge);
  HandshakeWriter writer;
  samples.emplace_back();
  writer.challenge(5, *challenge, samples.back());
  samples.emplace_back();
  writer.refuse(5, {RefuseReason::Busy, "detail"}, samples.back());

  Random random(3);
  OutgoingDatagram changed;
  for (const OutgoingDatagram& sample : samples) {
    const std::size_t body_bytes = sample.size - kPacketHeaderBytes - kPacketTagBytes;
    for (int i = 0; i < 4000; ++i) {
      std::vector<std::byte> body(
          sample.bytes.begin() + kPacketHeaderBytes,
          sample.bytes.begin() + static_cast<std::ptrdiff_t>(kPacketHeaderBytes + body_bytes));
      if (i < static_cast<int>(body_bytes)) body.resize(static_cast<std::size_t>(i));
      for (std::uint32_t flips = random.below(4); flips > 0 && !body.empty(); --flips) {
        const std::uint32_t reach = static_cast<std::uint32_t>(std::min<std::size_t>(body.size(), 200));
        body[random.below(reach)] = static_cast<std::byte>(random.below(256));
      }
      PacketHeader header;
      ASSERT_FALSE(read_header(sample.span(), header));
      changed.size = write_clear(header, body, changed.bytes);
      peer.send(changed.span());
      (void)server->port->send(client_endpoint(3), changed.span());
      if (i % 500 == 0) poll_all();
    }
    poll_all();
  }
  EXPECT_EQ(server->transport.session_count(), 0u);
  EXPECT_GT(server->transport.counters().bad_count(BadDatagram::Malformed), 100u);
  EXPECT_EQ(client.transport.state(), ClientState::Connecting);
}

}  // namespace
}  // namespace shoal
