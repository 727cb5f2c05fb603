// What sealing promises, seen from outside: changed, repeated and foreign datagrams come to nothing, and no two sessions
// share a key.
#include <set>

#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

using Bytes = std::vector<std::byte>;
struct Sent {
  Endpoint source;
  Endpoint target;
  Bytes bytes;
};

constexpr std::array<std::uint8_t, 32> kIdentity{1, 2, 3};

class SealedSessionTest : public NetTest, public ::testing::WithParamInterface<bool> {
 protected:
  SealedSessionTest() {
    network.set_tap([this](const Endpoint& source, const Endpoint& target, std::span<const std::byte> bytes) {
      if (is_recording) sent.push_back({source, target, {bytes.begin(), bytes.end()}});
    });
  }
  void SetUp() override {
    if (GetParam() && !has_aes()) GTEST_SKIP() << "this processor has no AES";
    start_server({.allow_aes = GetParam()});
  }
  TestClient& join(std::uint16_t number = 1) {
    TestClient& client = add_client(number);
    client.transport.connect();
    run(milliseconds{20});
    EXPECT_EQ(client.transport.state(), ClientState::Connected);
    EXPECT_EQ(client.transport.cipher(), GetParam() ? Cipher::Aes256Gcm : Cipher::ChaCha20Poly1305);
    return client;
  }
  static bool is_type(const Sent& datagram, DatagramType type) {
    return static_cast<DatagramType>(datagram.bytes[0]) == type;
  }

  bool is_recording = true;
  std::vector<Sent> sent;
};

TEST_P(SealedSessionTest, EveryFlippedBitOfAPacketIsRefusedAndTheTruePacketIsTaken) {
  TestClient& client = join();
  network.partition(client_endpoint(1), kServerEndpoint);
  sent.clear();
  ASSERT_TRUE(client.send_update(7));
  ASSERT_TRUE(server->send_frame(server->handler.joined[0], 7, 40));
  server->transport.flush();
  is_recording = false;
  ASSERT_THAT(sent, SizeIs(2));
  network.heal(client_endpoint(1), kServerEndpoint);
  for (const Sent& packet : sent) {
    const bool to_server = packet.target == kServerEndpoint;
    const TransportCounters& counters =
        to_server ? server->transport.counters() : client.transport.counters();
    const std::uint64_t bad_before = counters.bad_total();
    for (std::size_t bit = 0; bit < packet.bytes.size() * 8; ++bit) {
      Bytes changed = packet.bytes;
      changed[bit / 8] ^= std::byte{1} << (bit % 8);
      network.forge(packet.source, packet.target, changed);
      server->transport.poll();
      client.transport.poll();
    }
    EXPECT_EQ(counters.bad_total() - bad_before, packet.bytes.size() * 8);
    EXPECT_THAT(server->handler.packets, IsEmpty());
    EXPECT_THAT(client.handler.packets, IsEmpty());
  }
  for (const Sent& packet : sent) network.forge(packet.source, packet.target, packet.bytes);
  poll_all();
  EXPECT_THAT(server->handler.packets, SizeIs(1));
  EXPECT_THAT(client.handler.packets, SizeIs(1));
}

TEST_P(SealedSessionTest, EveryFlippedBitOfAResponseOpensNothing) {
  RawPeer peer(network, client_endpoint(9), 5);
  peer.say_hello();
  server->transport.poll();
  const auto challenge = peer.hear_challenge();
  ASSERT_TRUE(challenge);
  network.partition(client_endpoint(9), kServerEndpoint);
  peer.say_response(*challenge);
  network.heal(client_endpoint(9), kServerEndpoint);
  for (std::size_t bit = 0; bit < peer.response.size * 8; ++bit) {
    OutgoingDatagram changed = peer.response;
    changed.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    peer.send(changed.span());
    server->transport.poll();
  }
  EXPECT_EQ(server->transport.session_count(), 0u);
  EXPECT_THAT(server->handler.joined, IsEmpty());
  peer.send(peer.response.span());
  server->transport.poll();
  EXPECT_EQ(server->transport.session_count(), 1u) << "the true one still opens a session";
}

TEST_P(SealedSessionTest, EveryFlippedBitOfAnAcceptIsRefused) {
  TestClient& client = add_client(1);
  network.set_link(kServerEndpoint, client_endpoint(1), {});
  client.transport.connect();
  server->transport.poll();
  client.transport.poll();  // the Response is on its way
  network.partition_one_way(kServerEndpoint, client_endpoint(1));
  server->transport.poll();
  network.heal(kServerEndpoint, client_endpoint(1));
  is_recording = false;
  const auto accept = std::find_if(
      sent.begin(), sent.end(), [](const Sent& datagram) { return is_type(datagram, DatagramType::Accept); });
  ASSERT_NE(accept, sent.end());
  for (std::size_t bit = 0; bit < accept->bytes.size() * 8; ++bit) {
    Bytes changed = accept->bytes;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    network.forge(accept->source, accept->target, changed);
    client.transport.poll();
    ASSERT_EQ(client.transport.state(), ClientState::Connecting) << "bit " << bit;
  }
  network.forge(accept->source, accept->target, accept->bytes);
  client.transport.poll();
  EXPECT_EQ(client.transport.state(), ClientState::Connected);
}

TEST_P(SealedSessionTest, ReplayedSessionComesToNothingHereAndAfterARestart) {
  TestClient& client = join();
  for (std::uint32_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(client.send_update(i));
    run(milliseconds{10});
  }
  client.transport.close();
  run(milliseconds{10});
  is_recording = false;
  const std::size_t joined = server->handler.joined.size();
  const std::size_t packets = server->handler.packets.size();
  const auto replay = [&] {
    for (const Sent& datagram : sent) {
      if (datagram.target != kServerEndpoint) continue;
      network.forge(datagram.source, datagram.target, datagram.bytes);
      server->transport.poll();
    }
  };
  replay();
  EXPECT_EQ(server->handler.joined.size(), joined);
  EXPECT_EQ(server->handler.packets.size(), packets);
  EXPECT_EQ(server->transport.session_count(), 0u);
  const Secret identity = Secret::from_bytes(std::as_bytes(std::span<const std::uint8_t, 32>(kIdentity)));
  server.reset();
  server = std::make_unique<TestServer>(network, clock, ServerTransportConfig{.identity = identity},
                                        kServerEndpoint, 77);
  replay();
  EXPECT_THAT(server->handler.joined, IsEmpty());
}

// T1
TEST_P(SealedSessionTest, NoTwoSessionsShareAKey) {
  std::set<Bytes> ephemerals;
  std::set<Bytes> sealed;
  int sessions = 0;
  for (std::uint64_t round = 0; round < 10; ++round) {
    // The same client at the same time, against a server that was started anew with the same randomness but for its clock.
    server.reset();
    start_server({.allow_aes = GetParam()});
    for (std::uint64_t i = 0; i < 3; ++i, ++sessions) {
      RawPeer peer(network, client_endpoint(9), 5 + i);
      ASSERT_TRUE(peer.join(server->transport));
      ephemerals.emplace(peer.last_heard().span().begin() + kPacketHeaderBytes,
                         peer.last_heard().span().begin() + kPacketHeaderBytes + kKeyBytes);
      std::array<std::byte, kMaxDatagramBytes> datagram;
      const std::array<std::byte, 64> zeros{};
      for (const SealingKey* key : {&peer.keys->send, &peer.keys->receive}) {
        const std::size_t size = seal(*key, {DatagramType::Packet, 1, Sequence{1}}, {}, zeros, datagram);
        sealed.emplace(datagram.begin(), datagram.begin() + static_cast<std::ptrdiff_t>(size));
      }
      clock.advance(seconds{1});
    }
  }
  EXPECT_EQ(sealed.size(), 2u * static_cast<std::size_t>(sessions)) << "nor do both directions of one";
  EXPECT_GE(ephemerals.size(), 3u) << "of one server; its randomness comes again with each start here";
}

TEST_P(SealedSessionTest, PacketOfOneSessionDoesNotOpenInAnother) {
  RawPeer one(network, client_endpoint(8), 5);
  RawPeer other(network, client_endpoint(9), 6);
  ASSERT_TRUE(one.join(server->transport));
  ASSERT_TRUE(other.join(server->transport));
  one.connection = other.connection;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::ClientUpdate,
                                        protocol::CreateClientUpdate(builder).Union()));
  one.say_built(Sequence{1}, builder);
  server->transport.poll();
  EXPECT_THAT(server->handler.packets, IsEmpty());
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::BadTag), 1u);
}

// The window moves for what was authenticated, and for nothing else.
TEST_P(SealedSessionTest, ForgedSequencesDoNotEmptyTheWindow) {
  TestClient& client = join();
  ASSERT_TRUE(client.send_update(1));
  poll_all();
  for (std::uint64_t ahead = 1; ahead < 60'000; ahead += 7) {
    std::array<std::byte, 80> forged{};
    const PacketHeader header{DatagramType::Packet, client.transport.connection_id().value, Sequence{ahead}};
    std::array<std::byte, kMaxDatagramBytes> datagram;
    const std::size_t size = write_clear(header, forged, datagram);
    network.forge(client_endpoint(1), kServerEndpoint, std::span(datagram).first(size));
    if (ahead % 1000 == 1) server->transport.poll();
  }
  server->transport.poll();
  const std::size_t before = server->handler.packets.size();
  for (std::uint32_t i = 0; i < 5; ++i) ASSERT_TRUE(client.send_update(i));
  poll_all();
  EXPECT_EQ(server->handler.packets.size(), before + 5);
}

TEST_P(SealedSessionTest, JoinTakesBothCiphersAsTheSidesAgree) {
  for (const bool client_has_aes : {false, true}) {
    TestClient& client = add_client(client_has_aes ? 3 : 2, {.allow_aes = client_has_aes});
    client.transport.connect();
    run(milliseconds{20});
    ASSERT_EQ(client.transport.state(), ClientState::Connected);
    EXPECT_EQ(client.transport.cipher() == Cipher::Aes256Gcm, client_has_aes && GetParam());
    ASSERT_TRUE(client.send_update(1));
    run(milliseconds{5});
  }
  EXPECT_THAT(server->handler.packets, SizeIs(2));
}

INSTANTIATE_TEST_SUITE_P(Ciphers, SealedSessionTest, ::testing::Bool(),
                         [](const auto& chosen) { return chosen.param ? "Aes256Gcm" : "ChaCha20Poly1305"; });

}  // namespace
}  // namespace shoal
