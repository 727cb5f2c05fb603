// Packets of an open session that no honest peer writes, correctly sealed: each is counted, none changes
// anything, and the session and its neighbours go on.
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class HostilePacketTest : public NetTest {
 protected:
  void SetUp() override {
    start_server();
    ASSERT_TRUE(peer.join(server->transport));
    session = server->handler.joined[0];
  }
  std::uint64_t bad(BadDatagram kind) const { return server->transport.counters().bad_count(kind); }
  void say_acks(std::uint64_t ack_newest, const std::vector<protocol::AckRange>& ranges) {
    flatbuffers::FlatBufferBuilder builder;
    const auto acks = ranges.empty() ? 0 : builder.CreateVectorOfStructs(ranges);
    const auto update = protocol::CreateClientUpdate(builder);
    builder.Finish(protocol::CreatePacket(builder, ack_newest, acks, 0, protocol::Payload::ClientUpdate,
                                          update.Union()));
    peer.say_built(Sequence{next++}, builder);
    server->transport.poll();
  }

  RawPeer peer{network, client_endpoint(1), 5};
  SessionId session;
  std::uint64_t next = 1;
};

// T15
TEST_F(HostilePacketTest, ImpossibleAcknowledgementsAreCountedAndChangeNothing) {
  for (std::uint32_t tick = 1; tick <= 200; ++tick) ASSERT_TRUE(server->send_frame(session, tick));
  using R = protocol::AckRange;
  std::vector<R> too_many(kMaxAckRanges + 1, R(1, 1));
  too_many[0] = R(0, 1);
  const std::vector<std::pair<std::uint64_t, std::vector<R>>> cases{
      {201, {R(0, 1)}},                     // never sent
      {~0ull, {R(0, 1)}},                   // the last number there is
      {~0ull, {R(0, 65535), R(65535, 1)}},  // down from there
      {5, {R(0, 6)}},                       // below 1
      {5, {R(0, 0)}},                       // an empty run
      {5, {R(1, 1)}},                       // a gap in front of the first
      {5, {R(0, 1), R(0, 1)}},              // runs that touch
      {5, {R(0, 1), R(4, 1)}},              // 5 − 1 − 4 = 0
      {5, {R(0, 1), R(65535, 1)}},          // far below
      {5, {}},                              // newest without runs
      {0, {R(0, 1)}},                       // runs without newest
      {200, too_many},
  };
  for (const auto& [newest, ranges] : cases) say_acks(newest, ranges);
  EXPECT_EQ(bad(BadDatagram::BadAcknowledgement), cases.size());
  EXPECT_EQ(server->handler.fates[session].open_count(), 200u);
  EXPECT_THAT(server->handler.packets, IsEmpty());
  say_acks(10, {R(0, 2), R(1, 3)});
  EXPECT_EQ(server->handler.fates[session].acknowledged_count, 5u) << "10, 9, 7, 6, 5";
  EXPECT_THAT(server->handler.packets, SizeIs(1));
}

TEST_F(HostilePacketTest, EachSequenceIsTakenOnceAndFarOnesNotAtAll) {
  const auto say = [&](std::uint64_t sequence) {
    next = sequence;
    say_acks(0, {});
  };
  say(1);
  say(1);
  EXPECT_EQ(bad(BadDatagram::Duplicate), 1u);
  say(0);
  say(~0ull);
  EXPECT_EQ(bad(BadDatagram::TooFarAhead), 2u) << "one forged number must not empty the window";
  say(2);
  say(5000);
  say(3);
  EXPECT_EQ(bad(BadDatagram::TooOld), 1u);
  EXPECT_THAT(server->handler.packets, SizeIs(3));
}

TEST_F(HostilePacketTest, PayloadsThatAClientDoesNotSendAreCounted) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::Frame,
                                        protocol::CreateFrame(builder).Union()));
  peer.say_built(Sequence{next++}, builder);
  builder.Clear();  // a kind of payload that does not exist
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, static_cast<protocol::Payload>(200),
                                        protocol::CreateClientUpdate(builder).Union()));
  peer.say_built(Sequence{next++}, builder);
  server->transport.poll();
  EXPECT_EQ(bad(BadDatagram::UnexpectedPayload), 2u);
  builder.Clear();  // a kind without a payload
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::ClientUpdate, 0));
  peer.say_built(Sequence{next++}, builder);
  server->transport.poll();
  EXPECT_EQ(bad(BadDatagram::Malformed), 1u);
  EXPECT_THAT(server->handler.packets, IsEmpty());
  EXPECT_TRUE(server->transport.is_open(session));
}

TEST_F(HostilePacketTest, CloseWithAnUnknownReasonStillCloses) {
  flatbuffers::FlatBufferBuilder builder;
  const auto detail = builder.CreateString("line\nbreak\x1b[31m");
  const auto close = protocol::CreateClose(builder, static_cast<protocol::CloseReason>(250), detail);
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::Close, close.Union()));
  peer.say_built(Sequence{1}, builder);
  server->transport.poll();
  ASSERT_THAT(server->handler.left, SizeIs(1));
  EXPECT_EQ(server->handler.left[0].second, CloseReason::Unspecified);
}

TEST(Printable, KeepsLogLinesWhole) {
  EXPECT_EQ(printable("a\nb\x1b[31m\x7f"), "a?b?[31m?");
  EXPECT_EQ(printable(std::string(5000, 'x')).size(), kMaxDetailBytes);
}

TEST(Printable, NothingSteersATerminal) {
  EXPECT_EQ(printable("a\xC2\x9B"
                      "2Jb"),
            "a?2Jb")
      << "an escape and its bracket in one character";
  EXPECT_EQ(printable("a\x9B"
                      "2Jb"),
            "a?2Jb")
      << "the same byte outside of UTF-8";
  EXPECT_EQ(printable("Ann\xE2\x80\xAEkcik"), "Ann?kcik") << "what follows was written backwards";
  EXPECT_EQ(printable("J\xC3\xBCrgen \xE6\x97\xA5\xE6\x9C\xAC"), "J\xC3\xBCrgen \xE6\x97\xA5\xE6\x9C\xAC");
}

TEST(Printable, IsCutBetweenCharacters) {
  std::string euros;
  for (std::size_t i = 0; i < kMaxDetailBytes; ++i) euros += "\xE2\x82\xAC";
  EXPECT_EQ(printable(euros), euros.substr(0, kMaxDetailBytes / 3 * 3));
}

// T15: whatever the body holds, it is counted or taken, never fatal.
TEST_F(HostilePacketTest, MutatedPacketsNeverBreakTheSessionOrItsNeighbour) {
  TestClient& neighbour = add_client(2);
  neighbour.transport.connect();
  run(milliseconds{10});
  server->handler.when_packet = [](SessionId, const protocol::ClientUpdate& update) {
    // Touch all that the verifier vouches for.
    std::uint64_t sum = update.newest_tick().value_or(0);
    if (const auto* inputs = update.inputs()) {
      for (const auto* input : *inputs) {
        sum += input->tick();
        if (input->payload() != nullptr) {
          for (const std::uint8_t byte : *input->payload()) sum += byte;
        }
      }
    }
    if (const auto* resyncs = update.resyncs()) {
      for (const auto* resync : *resyncs) {
        sum += resync->chunk();
        if (resync->component_hashes() != nullptr) sum += resync->component_hashes()->size();
      }
    }
    if (update.digest() != nullptr) sum += update.digest()->hash();
    return sum == 1 ? PacketVerdict::Ignore : PacketVerdict::Acknowledge;
  };
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<std::uint8_t> bytes{1, 2, 3};
  std::vector<flatbuffers::Offset<protocol::Input>> inputs;
  for (std::uint32_t i = 0; i < 4; ++i)
    inputs.push_back(protocol::CreateInput(builder, i, builder.CreateVector(bytes)));
  const auto inputs_at = builder.CreateVector(inputs);
  const std::vector<std::uint32_t> hashes{7, 8, 9};
  const std::vector<flatbuffers::Offset<protocol::Resync>> resyncs{
      protocol::CreateResync(builder, 1, 2, 3, builder.CreateVector(hashes)),
      protocol::CreateResync(builder, 4, 5, 6)};
  const auto resyncs_at = builder.CreateVector(resyncs);
  const auto digest = protocol::CreateDigestReport(builder, 9, protocol::DigestResult::Exact, 77, 5);
  const auto update = protocol::CreateClientUpdate(builder, 17, inputs_at, resyncs_at, digest);
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::ClientUpdate, update.Union()));
  const auto good = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));

  Random random(1);
  for (int i = 0; i < 30000; ++i) {
    std::vector<std::byte> body(good.begin(), good.end());
    for (std::uint32_t changes = 1 + random.below(4); changes > 0; --changes) {
      body[random.below(static_cast<std::uint32_t>(body.size()))] = static_cast<std::byte>(random.below(256));
    }
    if (random.chance(0.1)) body.resize(random.below(static_cast<std::uint32_t>(body.size())));
    peer.say_packet(Sequence{next++}, body);
    if (i % 100 == 99) run(milliseconds{1});
    if (!server->transport.is_open(session)) {  // one of them happened to be a Close
      ASSERT_TRUE(peer.join(server->transport) || (++peer.nonce, peer.join(server->transport)));
      session = server->handler.joined.back();
      next = 1;
    }
  }
  EXPECT_GT(bad(BadDatagram::Malformed), 5000u);
  EXPECT_EQ(neighbour.transport.state(), ClientState::Connected);
}

TEST_F(HostilePacketTest, NoiseIsCountedByKind) {
  Random random(2);
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::byte> noise(random.below(1400));
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random.below(256));
    if (random.chance(0.1)) noise.resize(kMaxDatagramBytes);  // as long as a Hello
    if (!noise.empty() && random.chance(0.5)) noise[0] = static_cast<std::byte>(1 + random.below(7));
    peer.send(noise);
  }
  server->transport.poll();
  EXPECT_EQ(server->transport.counters().bad_total(), 5000u);
  for (const BadDatagram kind :
       {BadDatagram::TooShort, BadDatagram::TooLong, BadDatagram::UnknownType, BadDatagram::BadTag}) {
    EXPECT_GT(bad(kind), 0u) << to_string(kind);
  }
  EXPECT_TRUE(server->transport.is_open(session));
}

}  // namespace
}  // namespace shoal
