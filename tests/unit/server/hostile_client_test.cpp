// A client that joins as it should and is hostile from then on, beside an honest one. Whatever it says is bounded and
// counted, ends at worst its own session with a reason, and the honest one does not notice.
#include <gmock/gmock.h>

#include <cstring>
#include <string>

#include "shared/base/random.hpp"
#include "tests/unit/net/raw_peer.hpp"
#include "tests/unit/server/served_world.hpp"

namespace shoal {
namespace {

using namespace demo;
using test::kTickRate;
using ::testing::HasSubstr;

/// Enough for who plays, and less than the whole world takes each time that it is lost or asked for.
constexpr std::uint64_t kClientRate = 45'000;
constexpr Endpoint kHostile = Endpoint::ipv4(10, 0, 3, 1, 5000);

/// What it writes as inputs: the place where its player is from then on.
struct Jump {
  float x, y;
};

class HostileClientTest : public test::ServedWorldTest {
 protected:
  using Builder = flatbuffers::FlatBufferBuilder;
  template <class T>
  using List = std::vector<flatbuffers::Offset<T>>;

  /// The honest client has played for a while, and the hostile one has just joined.
  void SetUp() override {
    game.begin = [this](Registry& registry) {
      for (int i = 0; i < 400; ++i) {
        const Entity entity = registry.create();
        registry.emplace<Position>(entity, static_cast<float>(i % 20 - 10) * 15,
                                   static_cast<float>(i / 20 - 10) * 15, 0.0f);
        registry.emplace<Health>(entity, std::uint16_t{1}, std::uint16_t{1000});
        if (i % 4 == 0) movers_.push_back(entity);
      }
      Random random(3);
      for (int i = 0; i < 3000; ++i) {
        const Entity entity = registry.create();
        registry.emplace<Position>(entity, random.uniform(-150, 150), random.uniform(-150, 150), 0.0f);
        registry.emplace<Velocity>(entity, random.uniform(-60, 60), random.uniform(-60, 60),
                                   random.uniform(-60, 60));
      }
    };
    game.each_tick = [this](Registry& registry, Tick) {
      for (const Entity mover : movers_) {
        auto& health = registry.get<Health>(mover);
        health.current = static_cast<std::uint16_t>(health.current % 1000 + 1);
      }
    };
    game.when_input = [](Registry& registry, Entity player, std::span<const std::byte> input) {
      if (input.size() != sizeof(Jump)) return false;
      Jump jump{};
      std::memcpy(&jump, input.data(), sizeof jump);
      registry.get<Position>(player) = {jump.x, jump.y, 0};
      return true;
    };
    ServerConfig config;
    config.client_bytes_per_second = kClientRate;
    config.interest.radius = 200;
    start(config);
    LinkFaults faults;
    faults.latency = milliseconds(20);
    network.set_links_to(client_at(0), faults);
    network.set_links_from(client_at(0), faults);
    add_client();
    run_seconds(5);
    run_seconds(2, [&] { age_before_ = std::max(age_before_, update_age(0)); });
    ASSERT_EQ(view_of(0).chunks_missing(), 0u);
    ASSERT_TRUE(join());
    run_ticks(2);
  }

  bool join() { return peer.join(*server, schema_versions(server->table())); }

  /// Runs with `say` called before each poll of the server, and looks after what must hold all the time.
  void run_hostile(int ticks, const std::function<void()>& say) {
    before_poll = say;
    std::uint32_t age = 0;
    run_ticks(ticks, [&] {
      hear_all();
      age = std::max(age, update_age(0));
      rate_to_it_.add(port->bytes_to[kHostile]);
      ASSERT_LE(most_versions(), kHistoryTicks + kPinnedVersions + 1);
      if (!has_session(kHostile)) return;
      most_in_flight_ = std::max(most_in_flight_, view_of(kHostile).in_flight());
      most_drops_ = std::max(most_drops_, view_of(kHostile).pending_drops());
    });
    before_poll = nullptr;
    EXPECT_LE(age, age_before_) << "ticks that the honest client waits for what is new";
    EXPECT_LE(most_in_flight_, kMaxInFlight);
    EXPECT_LE(rate_to_it_.most_in_a_second(), kClientRate + kClientRate / 10 + 2 * kMaxDatagramBytes);
    EXPECT_EQ(clients[0]->state(), ClientState::Connected) << clients[0]->describe_close();
  }
  void TearDown() override {
    if (!server || clients.empty()) return;
    expect_exact(0);
    EXPECT_EQ(clients[0]->mirror()->counters().resyncs_asked, 0u);
  }

  /// Takes in what came, and remembers what an honest client would acknowledge.
  void hear_all() {
    while (const auto opened = peer.hear())
      newest_heard = std::max(newest_heard, opened->header.sequence.value);
  }
  /// One datagram. Without `update` it is a sign of life.
  void say(Builder& builder, flatbuffers::Offset<protocol::ClientUpdate> update, std::uint64_t ack_newest = 0,
           std::uint16_t ack_count = 1) {
    const std::vector<protocol::AckRange> ranges(ack_newest == 0 ? 0 : 1, protocol::AckRange(0, ack_count));
    const auto acks = ranges.empty() ? 0 : builder.CreateVectorOfStructs(ranges);
    const auto kind = update.IsNull() ? protocol::Payload::NONE : protocol::Payload::ClientUpdate;
    builder.Finish(protocol::CreatePacket(builder, ack_newest, acks, 0, kind, update.Union()));
    ASSERT_LE(builder.GetSize(), kMaxPacketBodyBytes);
    peer.say_built(Sequence{next++}, builder);
  }
  void say_alive() {
    Builder builder;
    say(builder, {});
  }
  /// As an honest client does: everything that came has arrived.
  std::uint16_t all_heard() const {
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(newest_heard, 1000));
  }
  /// Each packet asks for as many chunks as it holds, with hashes that differ. Returns for how many.
  std::uint64_t say_that_all_chunks_differ() {
    std::vector<std::pair<ChunkId, Epoch>> all;
    view_of(kHostile).for_each_chunk(
        [&](ChunkIndex, ChunkId id, Epoch epoch, std::optional<Tick>) { all.emplace_back(id, epoch); });
    for (std::size_t first = 0; first < all.size(); first += 32) {
      Builder builder;
      List<protocol::Resync> resyncs;
      const std::vector<std::uint32_t> hashes(server->table().size(), 77);
      const auto hashes_at = builder.CreateVector(hashes);
      for (std::size_t i = first; i < std::min(first + 32, all.size()); ++i) {
        resyncs.push_back(protocol::CreateResync(builder, all[i].first.value, all[i].second.value,
                                                 server->tick().value, hashes_at));
      }
      say_update(builder, {}, resyncs);
    }
    return all.size();
  }
  void say_update(Builder& builder, const List<protocol::Input>& inputs,
                  const List<protocol::Resync>& resyncs,
                  flatbuffers::Offset<protocol::DigestReport> digest = {}) {
    const auto inputs_at = builder.CreateVector(inputs);
    const auto resyncs_at = builder.CreateVector(resyncs);
    say(builder, protocol::CreateClientUpdate(builder, server->tick().value, inputs_at, resyncs_at, digest),
        newest_heard, all_heard());
  }
  static flatbuffers::Offset<protocol::Input> input(Builder& builder, Tick tick, const Jump& jump = {0, 0}) {
    std::array<std::uint8_t, sizeof jump> bytes{};
    std::memcpy(bytes.data(), &jump, sizeof jump);
    return protocol::CreateInput(builder, tick.value, builder.CreateVector(bytes.data(), bytes.size()));
  }
  std::uint64_t bad(BadDatagram kind) const { return server->transport_counters().bad_count(kind); }

  RawPeer peer{network, kHostile, 5};
  std::uint64_t next = 1;
  std::uint64_t newest_heard = 0;
  std::size_t most_in_flight_ = 0;
  std::size_t most_drops_ = 0;

 private:
  std::vector<Entity> movers_;
  std::uint32_t age_before_ = 0;
  test::RateMeter rate_to_it_;
};

// P21, T15
TEST_F(HostileClientTest, WhoAcknowledgesWhatWasNeverSentIsNotHeardAndTimesOut) {
  const std::uint64_t acknowledged = server->transport_counters().acknowledged;
  const std::uint64_t of_honest = view_of(0).in_flight();
  int said = 0;
  run_hostile(12 * kTickRate, [&] {
    for (const std::uint64_t ahead : {1000ull, 1ull << 40, ~0ull - newest_heard}) {
      Builder builder;
      say(builder, protocol::CreateClientUpdate(builder), newest_heard + ahead);
      ++said;
    }
  });
  EXPECT_EQ(bad(BadDatagram::BadAcknowledgement) + bad(BadDatagram::UnknownConnection),
            static_cast<std::uint64_t>(said));
  EXPECT_FALSE(has_session(kHostile)) << "it said nothing that counts";
  EXPECT_EQ(server->transport_counters().left_count(CloseReason::TimedOut), 1u);
  EXPECT_LE(server->transport_counters().acknowledged - acknowledged, of_honest + 12 * kTickRate * 4)
      << "the honest client's";
}

// P21
TEST_F(HostileClientTest, WhoAcknowledgesNothingForAMinuteCostsItsBudgetAndNoMore) {
  run_hostile(60 * kTickRate, [&] { say_alive(); });
  ASSERT_TRUE(has_session(kHostile));
  EXPECT_EQ(view_of(kHostile).chunks_missing(), view_of(kHostile).chunk_count()) << "it has no baseline";
  EXPECT_GT(server->replication().lost_full_states, 100u);
  EXPECT_GT(most_in_flight_, 0u);
}

// P21: chunks come and go, and it never says that it heard of their end.
TEST_F(HostileClientTest, WhoRunsToAndFroAndAcknowledgesNothingIsNotRememberedForEver) {
  std::size_t drops_after_half = 0;
  int tick = 0;
  run_hostile(60 * kTickRate, [&] {
    Builder builder;
    const float x = ++tick / 20 % 2 == 0 ? -900.0f : 0.0f;
    const List<protocol::Input> inputs{input(builder, server->tick() + 1, {x, 0})};
    const auto inputs_at = builder.CreateVector(inputs);
    say(builder, protocol::CreateClientUpdate(builder, 0, inputs_at));
    if (tick == 30 * kTickRate) drops_after_half = most_drops_;
  });
  ASSERT_GT(drops_after_half, 0u) << "else nothing left its interest";
  EXPECT_LE(most_drops_, drops_after_half) << "drops that wait for an acknowledgement";
}

// P21
TEST_F(HostileClientTest, EndlessResyncsOfAllChunksAreAnsweredAtTheirPace) {
  constexpr int kTicks = 10 * kTickRate;
  run_hostile(30, [&] {
    Builder builder;
    say_update(builder, {}, {});
  });
  const ReplicationCounters before = server->replication();
  std::uint64_t asked = 0;
  run_hostile(kTicks, [&] { asked += say_that_all_chunks_differ(); });
  const ReplicationCounters& after = server->replication();
  const std::size_t chunks = view_of(kHostile).chunk_count();
  const std::uint64_t most = chunks * (kTicks / kResyncTicks + 1);
  EXPECT_GT(asked, most * 10);
  EXPECT_GT(after.resyncs - before.resyncs, chunks * 5);
  EXPECT_LE(after.resyncs - before.resyncs, most);
  EXPECT_LE(after.full_states - before.full_states, most) << "each is answered once";
  // A full state is encoded once for each version and everyone; the others are the honest client's deltas, and its.
  EXPECT_LE(after.blocks_encoded - before.blocks_encoded, chunks * kTicks * 3);
  EXPECT_EQ(server->counters().mismatches_reported, after.resyncs - before.resyncs);
  EXPECT_TRUE(has_session(kHostile));
}

TEST_F(HostileClientTest, FalseMismatchesWithoutEndLeaveTheLogToTheOthersAndAreOneSessions) {
  run_hostile(30, [&] {
    Builder builder;
    say_update(builder, {}, {});
  });
  const std::string text = test::log_of([&] {
    before_poll = [&] { say_that_all_chunks_differ(); };
    run_ticks(20, [&] { hear_all(); });
    add_client();
    run_ticks(10, [&] { hear_all(); });
    before_poll = nullptr;
  });
  EXPECT_THAT(text, HasSubstr("player 3 joined"));
  EXPECT_THAT(text, HasSubstr("player 2: chunk"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 3) << text;
  EXPECT_GT(server->counters().mismatches_reported, LineAllowance::kPerSecond);
  EXPECT_EQ(server->counters().mismatched_sessions, 1u);
}

// P21, T15
TEST_F(HostileClientTest, ResyncsOfWhatDoesNotExistAreCountedAndCostNothing) {
  const ReplicationCounters before = server->replication();
  const std::uint64_t bad_updates = server->counters().bad_updates;
  std::uint32_t asked = 0, too_many = 0;
  run_hostile(5 * kTickRate, [&] {
    const std::uint32_t own =
        server->chunks().chunks_of(SquareKey::cell(0, 0)).empty()
            ? 0
            : server->chunks()[server->chunks().chunks_of(SquareKey::cell(0, 0))[0]].id().value;
    Builder builder;
    List<protocol::Resync> resyncs;
    for (std::uint32_t i = 0; i < 10; ++i) {
      resyncs.push_back(protocol::CreateResync(builder, 1'000'000 + i, 1, 1));   // not there yet
      resyncs.push_back(protocol::CreateResync(builder, 0xC0000000 + i, 1, 1));  // of no audience
      resyncs.push_back(protocol::CreateResync(builder, ~0u - i, 0xFFFF, 1));
    }
    resyncs.push_back(protocol::CreateResync(builder, own, 0, 1));  // an epoch that never is
    asked += static_cast<std::uint32_t>(resyncs.size());
    // These were its own once, or will be: nothing to say against it.
    for (const int epoch : {2, 7, 0x7FFF, 0xFFFF})
      resyncs.push_back(protocol::CreateResync(builder, own, static_cast<std::uint16_t>(epoch), 1));
    say_update(builder, {}, resyncs);
    Builder large;
    say_update(large, {}, List<protocol::Resync>(200, protocol::CreateResync(large, own, 1, 1)));
    ++too_many;
  });
  EXPECT_EQ(server->replication().bad_resyncs - before.bad_resyncs, asked);
  EXPECT_EQ(server->counters().bad_updates - bad_updates, too_many);
  EXPECT_EQ(server->replication().resyncs, before.resyncs);
  EXPECT_TRUE(has_session(kHostile));
}

// T15
TEST_F(HostileClientTest, ThousandInputsInATickAreTakenAtTheGamesPace) {
  constexpr int kTicks = 5 * kTickRate;
  const std::uint64_t before = game.inputs;
  game.most_inputs_in_tick = 0;
  // All of them too late, so that none need wait for its tick.
  std::uint32_t tick = server->tick().value - 1'000'000;
  run_hostile(kTicks, [&] {
    for (int packet = 0; packet < 25; ++packet) {
      Builder builder;
      List<protocol::Input> inputs;
      for (int i = 0; i < 40; ++i) inputs.push_back(protocol::CreateInput(builder, tick++));
      say_update(builder, inputs, {});
    }
    tick -= 50;  // what comes next names these again
  });
  EXPECT_EQ(game.most_inputs_in_tick, 4u);
  EXPECT_EQ(game.inputs - before, 4u * kTicks);
  EXPECT_EQ(server->counters().bad_inputs, 4u * kTicks) << "they are empty, which is no input of this game";
  EXPECT_EQ(server->counters().bad_updates, 0u) << "their form is right";
  EXPECT_TRUE(has_session(kHostile));
}

// T15
TEST_F(HostileClientTest, InputsThatNoClientSendsAreCountedAndNotPlayed) {
  const std::uint64_t before = game.inputs;
  std::uint64_t malformed = 0, far = 0;
  run_hostile(3 * kTickRate, [&] {
    const Tick now = server->tick();
    const auto say_inputs = [&](std::initializer_list<std::uint32_t> ticks) {
      Builder builder;
      List<protocol::Input> inputs;
      for (const std::uint32_t tick : ticks) inputs.push_back(input(builder, Tick{tick}));
      say_update(builder, inputs, {});
    };
    say_inputs({now.value + 1, now.value + 1});        // twice the same
    say_inputs({now.value + 2, now.value + 1});        // unordered
    say_inputs({now.value, now.value + 0x80000000u});  // neither is before the other
    Builder large;                                     // longer than any input
    const std::vector<std::uint8_t> bytes(kMaxInputBytes + 1);
    say_update(large, {protocol::CreateInput(large, now.value + 1, large.CreateVector(bytes))}, {});
    Builder many;  // more than a client keeps
    say_update(many, List<protocol::Input>(kMaxInputs + 1, input(many, now + 1)), {});
    malformed += 5;
    // One by one their form is right; the next half of all ticks lies ahead of the first, so each is new.
    say_inputs({now.value + 0x40000000u + static_cast<std::uint32_t>(far)});
    ++far;
  });
  EXPECT_EQ(server->counters().bad_updates, malformed);
  EXPECT_GE(server->counters().bad_inputs + 2, far) << "no clock is that far off";
  EXPECT_EQ(game.inputs, before);
  EXPECT_TRUE(has_session(kHostile));
}

// P12: what it sends costs the reading, and no answer.
TEST_F(HostileClientTest, ThousandsOfValidUpdatesInATickHoldUpNobodyAndAreAnsweredOnce) {
  constexpr std::uint64_t kPackets = 5000;
  run_hostile(30, [&] {
    Builder builder;
    say_update(builder, {}, {});
  });
  std::uint64_t datagrams_to_all = port->datagrams;
  const std::uint64_t received = server->transport_counters().received_datagrams;
  const std::uint64_t blocks = server->replication().blocks_sent;
  constexpr int kTicks = 20;
  run_hostile(kTicks, [&] {
    // The odd numbers alone: the ranges of acknowledgements back to it are as long as can be.
    for (std::uint64_t i = 0; i < kPackets; ++i) {
      Builder builder;
      say(builder, protocol::CreateClientUpdate(builder, server->tick().value), newest_heard, all_heard());
      ++next;
    }
  });
  EXPECT_GE(server->transport_counters().received_datagrams - received, kTicks * kPackets);
  datagrams_to_all = port->datagrams - datagrams_to_all;
  EXPECT_LE(datagrams_to_all, kTicks * 30u) << "of frames to two clients; none answers a packet";
  EXPECT_LE(server->replication().blocks_sent - blocks, kTicks * 2 * server->chunks().size());
  EXPECT_LE(port->largest, kMaxDatagramBytes);
  EXPECT_TRUE(has_session(kHostile));
}

// T15
TEST_F(HostileClientTest, DigestReportsThatNobodyAskedForSayNothing) {
  const auto report = [&](protocol::DigestResult result) {
    Builder builder;
    const auto digest = protocol::CreateDigestReport(builder, server->tick().value, result, 1, 2);
    say_update(builder, {}, {}, digest);
  };
  run_hostile(kTickRate, [&] {
    for (const auto result : {protocol::DigestResult::Exact, protocol::DigestResult::Differs,
                              protocol::DigestResult::None, static_cast<protocol::DigestResult>(200)})
      report(result);
  });
  EXPECT_EQ(server->counters().digests_exact + server->counters().digests_different, 0u);
  server->freeze();
  // Asked now, it names results that do not exist, then one that does, and then takes it back.
  run_hostile(kTickRate, [&] { report(static_cast<protocol::DigestResult>(200)); });
  EXPECT_GT(server->counters().bad_updates, 0u);
  EXPECT_FALSE(server->all_compared());
  const std::uint64_t different = server->counters().digests_different;
  run_hostile(kTickRate, [&] {
    report(protocol::DigestResult::Differs);
    report(protocol::DigestResult::Exact);
  });
  EXPECT_EQ(server->counters().digests_different, different + 1) << "once, whatever it says";
  EXPECT_EQ(server->counters().digests_exact, 1u) << "the honest client's";
  EXPECT_TRUE(server->all_compared());
}

}  // namespace
}  // namespace shoal
