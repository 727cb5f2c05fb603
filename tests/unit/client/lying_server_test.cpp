// Frames and blocks that no honest server sends, all of which decode: directories that do not fit, histories that
// contradict each other, departures of strangers. Each is counted, none is fatal, memory stays bounded, and what an
// honest server sends afterwards is shown exactly.
#include "client/client.hpp"
#include "shared/game/spawn.hpp"
#include "shared/replication/world_digest.hpp"
#include "tests/unit/client/mirror_harness.hpp"
#include "tests/unit/net/net_fixture.hpp"

namespace shoal {
namespace {

using namespace demo;
using test::kAnna;
using test::kBert;

constexpr Entity kCarl{7, 3};

// --- what a mirror makes of blocks that lie ---

class LyingBlocksTest : public test::MirrorHarness {
 protected:
  /// Two chunks of everyone, as they are in truth: Anna in the first, Bert in the second.
  std::vector<ChunkVersion> truth(std::uint32_t tick) {
    ChunkVersion first = empty(1, tick);
    first.bind(0, kAnna);
    set(first, 0, "shoal.demo.Health", Health{70, 100});
    ChunkVersion second = empty(2, tick);
    second.bind(5, kBert);
    set(second, 5, "shoal.demo.Health", Health{30, 100});
    return {std::move(first), std::move(second)};
  }
  BlockOutcome apply(const ChunkVersion& version, Epoch epoch = Epoch{1}) {
    return mirror->apply(block(nullptr, version, {}, epoch));
  }
  /// The server is honest from now on, and the mirror shows what one shows that was never lied to.
  void expect_exact_after(const std::vector<ChunkVersion>& versions, Epoch epoch = Epoch{1}) {
    Registry other;
    demo::register_components(other);
    other.freeze();
    Mirror unspoilt(table, other);
    for (const ChunkVersion& version : versions) {
      EXPECT_EQ(apply(version, epoch), BlockOutcome::Applied);
      EXPECT_EQ(unspoilt.apply(block(nullptr, version, {}, epoch)), BlockOutcome::Applied);
    }
    EXPECT_EQ(digest_world(registry, table), digest_world(other, table));
    EXPECT_GT(registry.alive_count(), 0u);
    EXPECT_TRUE(mirror->wanted().empty());
  }
  /// The next version of the first chunk, with a departure that names anyone.
  BlockOutcome apply_departure(const ChunkVersion& from, const Departure& departure, bool keeps_slot = true) {
    ChunkVersion next = from;
    next.set_tick(departure.tick);
    if (!keeps_slot) next.unbind(departure.slot);
    return mirror->apply(block(&from, next, std::span(&departure, 1)));
  }
};

// P21, T15
TEST_F(LyingBlocksTest, BaselinesThatWereNeverSentAreAskedForOnceEach) {
  const ChunkVersion never = empty(1, 5);
  for (std::uint32_t i = 0; i < 3000; ++i) {
    ChunkVersion next = empty(1, 10 + i);
    next.bind(0, kAnna);
    ASSERT_EQ(mirror->apply(block(&never, next)), BlockOutcome::BaselineMissing);
    ASSERT_EQ(mirror->wanted().size(), 1u);
    bodies.clear();
  }
  EXPECT_EQ(mirror->counters().baseline_misses, 3000u);
  EXPECT_EQ(mirror->counters().resyncs_asked, 1u);
  EXPECT_EQ(mirror->version_count(), 0u);
  EXPECT_EQ(registry.alive_count(), 0u);
  expect_exact_after(truth(5000));
}

TEST_F(LyingBlocksTest, HashesThatAreWrongAreNotShownHoweverOftenTheyCome) {
  ASSERT_EQ(apply(truth(10)[0]), BlockOutcome::Applied);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    ChunkVersion next = truth(11 + i)[0];
    set(next, 0, "shoal.demo.Health", Health{static_cast<std::uint16_t>(i % 70), 100});
    ReceivedBlock received = block(nullptr, next);
    received.hash ^= 1;
    ASSERT_EQ(mirror->apply(received), BlockOutcome::Mismatch);
    bodies.clear();
  }
  EXPECT_EQ(mirror->counters().mismatches, 1000u);
  EXPECT_EQ(mirror->wanted().size(), 1u);
  EXPECT_EQ(mirror->version_count(), 1u);
  EXPECT_EQ(registry.get<Health>(kAnna).current, 70);
  expect_exact_after(truth(2000));
}

// P21: each of them verifies, so each is history.
TEST_F(LyingBlocksTest, FullStatesOfThePastAreHistoryWithinBounds) {
  constexpr std::uint32_t kNow = 100'000;
  ASSERT_EQ(apply(truth(kNow)[0]), BlockOutcome::Applied);
  for (std::uint32_t back = 1; back < 3 * kMaxMirrorVersions; ++back) {
    ChunkVersion past = empty(1, kNow - back);
    past.bind(0, kBert);
    ASSERT_EQ(apply(past), BlockOutcome::Applied);
    ASSERT_LE(mirror->version_count(), kMaxMirrorVersions);
    bodies.clear();
  }
  EXPECT_EQ(mirror->counters().late_blocks, 3 * kMaxMirrorVersions - 1);
  EXPECT_TRUE(registry.alive(kAnna)) << "what is shown never goes back";
  EXPECT_FALSE(registry.alive(kBert));
  expect_exact_after(truth(kNow + 1));
}

TEST_F(LyingBlocksTest, SecondStateOfTheTickThatIsShownIsNotShown) {
  ASSERT_EQ(apply(truth(10)[0]), BlockOutcome::Applied);
  ChunkVersion other = empty(1, 10);
  other.bind(0, kAnna);
  set(other, 0, "shoal.demo.Health", Health{1, 100});
  EXPECT_EQ(apply(other), BlockOutcome::Applied);
  EXPECT_EQ(registry.get<Health>(kAnna).current, 70);
  EXPECT_EQ(mirror->version_count(), 1u) << "a tick has one version, the first";
  expect_exact_after(truth(11));
}

TEST_F(LyingBlocksTest, TickHalfACircleAwayIsNotShownAndANewEpochMendsAll) {
  ASSERT_EQ(apply(truth(10)[0]), BlockOutcome::Applied);
  for (const std::uint32_t tick : {10u + 0x80000000u, 10u + 0x7FFFFFFFu, 9u, 0xFFFFFFFFu, 0u}) {
    ChunkVersion far = empty(1, tick);
    far.bind(3, kCarl);
    EXPECT_EQ(apply(far), BlockOutcome::Applied);
  }
  EXPECT_LE(mirror->version_count(), 6u);
  expect_exact_after(truth(20), Epoch{2});
}

// Epochs are compared by their signed difference: half of them lie ahead.
TEST_F(LyingBlocksTest, EpochsThatJumpEndWhatWasBeforeAndTheNextOneIsExact) {
  ASSERT_EQ(apply(truth(10)[0], Epoch{1}), BlockOutcome::Applied);
  ASSERT_EQ(apply(truth(11)[0], Epoch{0x8000}), BlockOutcome::Applied) << "32,767 ahead";
  EXPECT_EQ(mirror->version_count(), 1u) << "baselines of the epoch before are none any more";
  for (const int epoch : {1, 2, 0x7FFF, 0}) {
    EXPECT_EQ(apply(truth(12)[0], Epoch{static_cast<std::uint16_t>(epoch)}), BlockOutcome::Outdated) << epoch;
  }
  EXPECT_EQ(mirror->counters().outdated_blocks, 4u);
  mirror->drop(ChunkId{1}, Epoch{1});
  EXPECT_TRUE(registry.alive(kAnna)) << "a drop of an epoch that is over";
  mirror->drop(ChunkId{1}, Epoch{0xFFFF});
  EXPECT_FALSE(registry.alive(kAnna)) << "one of an epoch that never began ends the one that is";
  expect_exact_after(truth(13), Epoch{3});
}

TEST_F(LyingBlocksTest, EntityThatTwoChunksBindInTheSameTickShowsFromOneOfThem) {
  for (std::uint32_t tick = 10; tick < 60; ++tick) {
    for (const std::uint32_t chunk : {1u, 2u}) {
      ChunkVersion version = empty(chunk, tick);
      version.bind(chunk, kAnna);
      set(version, chunk, "shoal.demo.Health", Health{static_cast<std::uint16_t>(chunk), 100});
      if (tick % 2 == 0) set(version, chunk, "shoal.demo.Heading", Heading{10});
      ASSERT_EQ(apply(version), BlockOutcome::Applied);
      ASSERT_EQ(registry.alive_count(), 1u);
      ASSERT_EQ(registry.get<Health>(kAnna).current, chunk) << "the later word";
      ASSERT_EQ(registry.all_of<Heading>(kAnna), tick % 2 == 0);
    }
  }
  mirror->drop(ChunkId{1}, Epoch{1});
  EXPECT_TRUE(registry.alive(kAnna)) << "the other one shows her";
  mirror->drop(ChunkId{2}, Epoch{1});
  EXPECT_FALSE(registry.alive(kAnna));
  expect_exact_after(truth(100), Epoch{2});
}

TEST_F(LyingBlocksTest, DeparturesOfEntitiesThatAreBoundElsewhereEndNothingButTheDead) {
  const std::vector<ChunkVersion> versions = truth(10);
  for (const ChunkVersion& version : versions) ASSERT_EQ(apply(version), BlockOutcome::Applied);
  const auto say = [&](std::uint32_t tick, DepartureReason reason, ChunkId target) {
    return apply_departure(versions[0], {Tick{tick}, 9, kBert, reason, target});
  };
  EXPECT_EQ(say(11, DepartureReason::Moved, ChunkId{3}), BlockOutcome::Applied);
  EXPECT_EQ(say(12, DepartureReason::Moved, ChunkId{2}), BlockOutcome::Applied);
  EXPECT_EQ(say(13, DepartureReason::NoLongerReplicated, {}), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(kBert)) << "this chunk does not show him";
  expect_exact_after(truth(20));
  // Dead is dead, whoever says so, and for the rest of the session.
  EXPECT_EQ(apply_departure(truth(20)[0], {Tick{21}, 9, kBert, DepartureReason::Destroyed, {}}),
            BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kBert));
  for (const ChunkVersion& version : truth(30)) EXPECT_EQ(apply(version), BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kBert));
  EXPECT_TRUE(registry.alive(kAnna));
  EXPECT_GT(mirror->counters().hidden_bindings, 0u);
}

TEST_F(LyingBlocksTest, MoveToTheChunkItselfEndsTheEntityUntilItIsBoundAgain) {
  const std::vector<ChunkVersion> versions = truth(10);
  ASSERT_EQ(apply(versions[0]), BlockOutcome::Applied);
  EXPECT_EQ(apply_departure(versions[0], {Tick{11}, 0, kAnna, DepartureReason::Moved, ChunkId{1}}, false),
            BlockOutcome::Applied);
  EXPECT_FALSE(registry.alive(kAnna)) << "it says that she came, and that she is not there";
  EXPECT_EQ(mirror->counters().resynced_bindings, 1u);
  expect_exact_after(truth(20));
}

// P21: those who wait are as many as there are entities, whatever is said of them.
TEST_F(LyingBlocksTest, MovesToChunksThatNeverComeAreMendedByTheNextFullState) {
  for (std::uint32_t round = 0; round < 200; ++round) {
    const std::uint32_t tick = 10 + 2 * round;
    const std::vector<ChunkVersion> versions = truth(tick);
    ASSERT_EQ(apply(versions[0]), BlockOutcome::Applied);
    ASSERT_EQ(
        apply_departure(versions[0],
                        {Tick{tick + 1}, 0, kAnna, DepartureReason::Moved, ChunkId{1000 + round}}, false),
        BlockOutcome::Applied);
    ASSERT_TRUE(registry.alive(kAnna)) << "she waits";
    ASSERT_EQ(registry.alive_count(), 1u);
    ASSERT_EQ(mirror->chunk_count(), 1u) << "what never came is no chunk";
    bodies.clear();
  }
  expect_exact_after(truth(1000));
  // A target that comes late and does not have her takes nothing away from where she is shown.
  EXPECT_EQ(apply(empty(1100, 2000)), BlockOutcome::Applied);
  EXPECT_TRUE(registry.alive(kAnna));
}

TEST_F(LyingBlocksTest, DeathsOfIdsThatWereNeverSeenConcernNobodyAlive) {
  const std::vector<ChunkVersion> versions = truth(10);
  for (const ChunkVersion& version : versions) ASSERT_EQ(apply(version), BlockOutcome::Applied);
  std::uint32_t tick = 11;
  for (const Entity stranger :
       {Entity{99, 1}, Entity{99, Entity::kMaxGeneration}, Entity{99, 0xFFFFFFFF}, Entity{0xFFFFFFFE, 1},
        Entity{registry.max_entities(), 1}, Entity{registry.max_entities() - 1, 1}}) {
    const Departure departure{Tick{tick++}, 9, stranger, DepartureReason::Destroyed, {}};
    EXPECT_EQ(apply_departure(versions[0], departure), BlockOutcome::Applied) << stranger.index;
  }
  EXPECT_EQ(registry.alive_count(), 2u);
  ChunkVersion bound = empty(3, 30);
  bound.bind(0, Entity{99, 5});
  EXPECT_EQ(apply(bound), BlockOutcome::Applied);
  EXPECT_EQ(mirror->counters().hidden_bindings, 1u) << "of that index all lives were told dead";
  expect_exact_after(truth(40));
}

// P21
TEST_F(LyingBlocksTest, ChunksBeyondTheLimitAreRefused) {
  std::uint32_t id = 0;
  for (; id < kMaxMirrorChunks; ++id) {
    ASSERT_EQ(apply(empty(id, 10)), BlockOutcome::Applied);
    bodies.clear();
  }
  for (; id < kMaxMirrorChunks + 100; ++id) ASSERT_EQ(apply(empty(id, 10)), BlockOutcome::Refused);
  EXPECT_EQ(mirror->chunk_count(), kMaxMirrorChunks);
  EXPECT_EQ(mirror->counters().refused_blocks, 100u);
  expect_exact_after(truth(20));
}

// --- what a client makes of frames that lie ---

class LyingServerTest : public LyingBlocksTest {
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
    for (const auto& component : table.components())
      server_config.schema.push_back({component.wire_id, component.hash, component.name});
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
  expect_exact_client(tick + 10);
}

}  // namespace
}  // namespace shoal
