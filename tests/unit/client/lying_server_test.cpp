// Frames that no honest server sends: directories that do not fit, lists of nonsense, numbers out of all proportion.
// Each is counted, none is fatal, memory stays bounded, and what an honest server sends afterwards is shown exactly.
#include "client/client.hpp"
#include "shared/game/spawn.hpp"
#include "tests/unit/client/lying_harness.hpp"
#include "tests/unit/net/net_fixture.hpp"

namespace shoal {
namespace {

using namespace demo;
using test::kAnna;
using test::kBert;

class LyingServerTest : public test::LyingHarness {
 protected:
  struct Frame {
    std::uint32_t tick = 0;
    std::vector<protocol::BlockEntry> blocks{};
    std::vector<std::uint8_t> bodies{};
    std::vector<protocol::DroppedChunk> dropped{};
    std::vector<std::uint32_t> absent{};
    std::optional<std::uint32_t> input_ack{};
    std::optional<std::uint32_t> chunks_in_view{};
    std::uint64_t controlled = 0;
    protocol::Phase phase = protocol::Phase::Running;
    bool has_digest = false;
    bool has_bodies = true;
  };

  LyingServerTest() : client_port(network.open(client_endpoint(1))) {
    ServerTransportConfig server_config;
    server_config.schema = schema_versions(table);
    server = std::make_unique<TestServer>(network, clock, server_config);
    ClientConfig config;
    config.server = kServerEndpoint;
    config.components = demo::component_descriptors();
    config.register_components = demo::register_shared_components;
    client.emplace(*client_port, clock, entropy, config);
    client->connect();
    run();
  }
  void SetUp() override { ASSERT_EQ(client->state(), ClientState::Connected); }
  const ServerRecorder& heard() const { return server->handler; }

  void run(int ticks = 6) {
    for (int i = 0; i < ticks; ++i) {
      clock.advance(milliseconds(30));
      server->transport.poll();
      client->poll();
      client->send_update();
    }
  }
  void add(Frame& frame, const ReceivedBlock& received) {
    frame.blocks.emplace_back(received.chunk.value, received.from.value_or(received.to).value,
                              received.to.value, received.hash,
                              static_cast<std::uint16_t>(received.body.size()), received.epoch.value);
    for (const std::byte byte : received.body) frame.bodies.push_back(static_cast<std::uint8_t>(byte));
  }
  static protocol::BlockEntry with_length(const protocol::BlockEntry& entry, int length) {
    return {entry.chunk(), entry.from(), entry.to(), entry.hash(), static_cast<std::uint16_t>(length),
            entry.epoch()};
  }
  /// Sends it, and lets both sides have their say. Returns whether it was acknowledged.
  bool say(const Frame& frame) {
    auto& builder = server->transport.builder();
    const auto blocks = builder.CreateVectorOfStructs(frame.blocks);
    const auto bodies_at = frame.has_bodies ? builder.CreateVector(frame.bodies)
                                            : flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>>{};
    const auto dropped = builder.CreateVectorOfStructs(frame.dropped);
    const auto absent = builder.CreateVector(frame.absent);
    flatbuffers::Offset<protocol::Digest> digest;
    if (frame.has_digest) digest = protocol::CreateDigest(builder, frame.tick, 0x1234, 77);
    protocol::FrameBuilder table_of(builder);
    table_of.add_tick(frame.tick);
    table_of.add_blocks(blocks);
    table_of.add_bodies(bodies_at);
    table_of.add_dropped(dropped);
    table_of.add_absent(absent);
    if (frame.input_ack) table_of.add_input_ack(*frame.input_ack);
    if (frame.chunks_in_view) table_of.add_chunks_in_view(*frame.chunks_in_view);
    table_of.add_controlled(frame.controlled);
    table_of.add_phase(frame.phase);
    table_of.add_digest(digest);
    const SessionId session = heard().joined.at(0);
    const std::uint64_t acknowledged = server->handler.fates[session].acknowledged_count;
    const auto sequence = server->transport.send(session, table_of.Finish());
    EXPECT_TRUE(sequence.ok());
    if (!sequence.ok()) return false;
    server->handler.fates[session].sent(*sequence);
    run(2);
    return server->handler.fates[session].acknowledged_count > acknowledged;
  }
  /// The server is honest from now on.
  void expect_exact_client(std::uint32_t tick, Epoch epoch = Epoch{1}) {
    Frame frame{.tick = tick};
    for (const ChunkVersion& version : truth(tick)) add(frame, block(nullptr, version, {}, epoch));
    EXPECT_TRUE(say(frame));
    expect_exact_after(truth(tick), epoch);  // the same to a mirror of our own, to compare with
    EXPECT_EQ(digest_world(*client->registry(), table), digest_world(registry, table));
    EXPECT_EQ(client->state(), ClientState::Connected) << client->describe_close();
  }

  ManualClock clock;
  SimulatedNetwork network{clock, 7};
  SeededEntropy entropy{3};
  std::unique_ptr<DatagramPort> client_port;
  std::unique_ptr<TestServer> server;
  std::optional<Client> client;
};

// T15
TEST_F(LyingServerTest, DirectoryThatDoesNotFitItsBodiesIsCountedAndNotAcknowledged) {
  const auto honest = [&] {
    Frame frame{.tick = 10};
    for (const ChunkVersion& version : truth(10)) add(frame, block(nullptr, version));
    return frame;
  };
  std::vector<Frame> lies(6, honest());
  lies[0].bodies.push_back(0);
  lies[1].bodies.pop_back();
  lies[2].bodies.clear();
  lies[3].has_bodies = false;
  lies[4].blocks[1] = with_length(lies[4].blocks[1], 0xFFFF);
  lies[5].blocks.resize(1);
  for (const Frame& lie : lies) EXPECT_FALSE(say(lie));
  EXPECT_EQ(client->measures().bad_frames, lies.size());
  EXPECT_EQ(client->registry()->alive_count(), 0u);
  // Sums that fit and bodies that do not are the mirror's to notice.
  Frame shifted = honest();
  shifted.blocks[0] = with_length(shifted.blocks[0], shifted.blocks[0].length() + 1);
  shifted.blocks[1] = with_length(shifted.blocks[1], shifted.blocks[1].length() - 1);
  EXPECT_FALSE(say(shifted));
  EXPECT_EQ(client->mirror()->counters().decode_errors, 2u);
  EXPECT_EQ(client->measures().bad_frames, lies.size());
  expect_exact_client(20);
}

// T15
TEST_F(LyingServerTest, FrameWithOneLieIsNotAcknowledgedAndItsTrueBlocksAreShown) {
  std::size_t resyncs = 0;
  std::uint32_t asked_for = 0;
  server->handler.when_packet = [&](SessionId, const protocol::ClientUpdate& update) {
    if (update.resyncs()) {
      resyncs = std::max<std::size_t>(resyncs, update.resyncs()->size());
      asked_for = update.resyncs()->Get(0)->chunk();
    }
    return PacketVerdict::Acknowledge;
  };
  Frame frame{.tick = 10};
  const std::vector<ChunkVersion> versions = truth(10);
  add(frame, block(nullptr, versions[0]));
  add(frame, block(nullptr, versions[1]));
  frame.blocks[1] = protocol::BlockEntry(2, 10, 10, frame.blocks[1].hash() ^ 1, frame.blocks[1].length(), 1);
  EXPECT_FALSE(say(frame));
  run(1);
  EXPECT_TRUE(client->registry()->alive(kAnna));
  EXPECT_FALSE(client->registry()->alive(kBert));
  EXPECT_EQ(client->mirror()->counters().mismatches, 1u);
  EXPECT_EQ(resyncs, 1u);
  EXPECT_EQ(asked_for, 2u);
  expect_exact_client(20);
}

// T15
TEST_F(LyingServerTest, ChunkOfNoAudienceEndsTheSessionWithAReason) {
  Frame frame{.tick = 10};
  add(frame, block(nullptr, truth(10)[0]));
  const protocol::BlockEntry& entry = frame.blocks[0];
  frame.blocks[0] = protocol::BlockEntry(0xC0000001, 10, 10, entry.hash(), entry.length(), 1);
  EXPECT_FALSE(say(frame));
  EXPECT_EQ(client->state(), ClientState::Closed);
  EXPECT_EQ(client->close_reason(), CloseReason::ProtocolError);
  ASSERT_EQ(heard().left.size(), 1u);
  EXPECT_EQ(heard().left[0].second, CloseReason::ProtocolError) << "the server is told";
}

// P21, T15
TEST_F(LyingServerTest, DropsOfChunksThatNeverWereAreRememberedWithinBounds) {
  for (std::uint32_t i = 0; i < 60; ++i) {
    Frame frame{.tick = 10 + i};
    for (std::uint32_t j = 0; j < 110; ++j) frame.dropped.emplace_back(1000 + i * 110 + j, std::uint16_t{1});
    frame.dropped.emplace_back(0xC0000000 + i, std::uint16_t{1});       // of no audience
    frame.dropped.emplace_back(0xFFFFFFFF, std::uint16_t{0});           // nor this
    frame.dropped.emplace_back(1000 + i * 110, std::uint16_t{1});       // twice
    frame.dropped.emplace_back(1000 + i * 110, std::uint16_t{0x7FFF});  // and of an epoch to come
    ASSERT_TRUE(say(frame)) << "it says nothing that could not be";
    ASSERT_LE(client->mirror()->dropped_count(), kMaxDroppedChunks);
  }
  EXPECT_GT(client->mirror()->dropped_count(), kMaxDroppedChunks - 100)
      << "those named twice take two places";
  EXPECT_EQ(client->mirror()->chunk_count(), 0u);
  EXPECT_EQ(client->registry()->alive_count(), 0u);
  expect_exact_client(100);
}

// T15
TEST_F(LyingServerTest, AbsentListsOfNonsenseConcernNothingButMoves) {
  const std::vector<ChunkVersion> versions = truth(10);
  Frame frame{.tick = 10};
  for (const ChunkVersion& version : versions) add(frame, block(nullptr, version));
  frame.absent = {0xC0000000, 0xFFFFFFFF, 1, 2, 1, 2};  // among them those that this frame brings
  EXPECT_TRUE(say(frame));
  EXPECT_EQ(client->registry()->alive_count(), 2u);
  for (const std::uint32_t tick : {11u, 12u}) {
    Frame next{.tick = tick};
    next.absent.assign(200, 0xC0000000 + tick);
    ChunkVersion later = versions[0];
    later.set_tick(Tick{tick});
    // Anna moves: first to where nobody ever came from, which is not said to be absent; then her word is repeated.
    later.unbind(0);
    const Departure departure{Tick{11}, 0, kAnna, DepartureReason::Moved, ChunkId{500}};
    add(next, block(&versions[0], later, std::span(&departure, 1)));
    EXPECT_TRUE(say(next));
    EXPECT_TRUE(client->registry()->alive(kAnna)) << "she waits: no such chunk is absent";
  }
  expect_exact_client(20);
}

// T15: numbers that mean something are read with care, and asserted never.
TEST_F(LyingServerTest, NumbersOutOfAllProportionAreHarmless) {
  expect_exact_client(9);
  const std::byte input[3]{};
  std::uint32_t tick = 10;
  const auto expect_sane = [&] {
    EXPECT_GE(client->join_progress(), 0);
    EXPECT_LE(client->join_progress(), 1);
    for (int i = 0; i < 100; ++i) (void)client->add_input(input);
    run(1);
  };
  for (const std::uint32_t jump :
       {0x7FFFFFFFu, 0x80000000u, 1u, 0x7FFFFFF0u, 0xFFFFFFFFu, 64u, 0x40000000u}) {
    for (const std::uint32_t in_view : {0u, 1u, 0xFFFFFFFFu}) {
      Frame frame{.tick = tick};
      frame.chunks_in_view = in_view;
      frame.input_ack = tick + jump;  // of an input that never was
      frame.controlled = ~0ull - jump;
      frame.phase = static_cast<protocol::Phase>(200);
      frame.has_digest = true;
      (void)say(frame);
      expect_sane();
      ASSERT_EQ(client->state(), ClientState::Connected) << client->describe_close();
    }
    tick += jump;
  }
  EXPECT_FALSE(client->is_frozen()) << "there is no such phase";
  EXPECT_EQ(client->comparison(), Comparison::Different);
  expect_exact_client(tick + 10, Epoch{2});
}

}  // namespace
}  // namespace shoal
