// Sessions over the simulated network, from handshake to the last word.
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

class SessionTest : public NetTest {
 protected:
  /// Frames to every session and updates from every client, `hz` times a second.
  void run_traffic(Duration duration, int hz = 60) {
    const Duration interval = Duration{seconds{1}} / hz;
    Time next = clock.now();
    run(duration, [&] {
      if (clock.now() < next) return;
      next = next + interval;
      ++tick;
      server->transport.for_each_session([&](SessionId id) { (void)server->send_frame(id, tick, 300); });
      for (const auto& client : clients) {
        if (client->transport.state() == ClientState::Connected) (void)client->send_update(tick);
      }
    });
  }
  std::uint32_t tick = 0;
};

TEST_F(SessionTest, ClientJoinsAndBothSidesExchangePackets) {
  start_server({.tick_rate_hz = 25, .schema = demo_schema()});
  TestClient& client = add_client(1, {.schema = demo_schema()});
  client.transport.connect();
  run_traffic(milliseconds{200});
  ASSERT_EQ(client.transport.state(), ClientState::Connected);
  EXPECT_EQ(client.handler.accept.tick_rate_hz, 25u);
  EXPECT_THAT(server->handler.joined, SizeIs(1));
  EXPECT_THAT(client.handler.packets, ::testing::Not(IsEmpty()));
  EXPECT_THAT(server->handler.packets, ::testing::Not(IsEmpty()));
  EXPECT_EQ(server->transport.counters().bad_total(), 0u);
  EXPECT_EQ(client.transport.counters().bad_total(), 0u);
}

TEST_F(SessionTest, SurvivesThirtyPercentLossWithDuplicationReorderingAndCorruption) {
  network.set_default_link({.loss_percent = 30,
                            .duplicate_percent = 10,
                            .reorder_percent = 10,
                            .corrupt_percent = 5,
                            .latency = milliseconds{40},
                            .jitter = milliseconds{10}});
  start_server({.schema = demo_schema()});
  for (std::uint16_t i = 0; i < 8; ++i) add_client(i, {.schema = demo_schema()}).transport.connect();
  run_traffic(seconds{30});
  EXPECT_EQ(server->transport.session_count(), 8u);
  for (const auto& client : clients) {
    EXPECT_EQ(client->transport.state(), ClientState::Connected) << client->transport.describe_close();
    EXPECT_NEAR(to_milliseconds(client->transport.rtt()), 80, 25);
    EXPECT_GT(client->handler.fates.acknowledged_count, 800u);
    EXPECT_LT(client->transport.in_flight(), 200u) << "P21: pending acknowledgements stay bounded";
    EXPECT_GT(client->transport.counters().bad_count(BadDatagram::BadTag), 0u);
    EXPECT_GT(client->transport.counters().bad_count(BadDatagram::Duplicate), 0u);
    EXPECT_EQ(client->transport.counters().bad_count(BadDatagram::Malformed), 0u);
  }
  server->transport.for_each_session(
      [&](SessionId id) { EXPECT_NEAR(to_milliseconds(server->transport.rtt(id)), 80, 25); });
}

TEST_F(SessionTest, EachPacketEndsExactlyOnceUnderLoss) {
  network.set_default_link({.loss_percent = 30, .reorder_percent = 20, .latency = milliseconds{30}});
  start_server();
  TestClient& client = add_client(1);
  client.transport.connect();
  run_traffic(seconds{10});
  network.set_default_link({});
  run(seconds{4});  // only signs of life now: what is open ends
  ASSERT_THAT(server->handler.joined, SizeIs(1));
  FateBook& fates = server->handler.fates[server->handler.joined[0]];
  EXPECT_EQ(fates.open_count(), 0u);
  EXPECT_EQ(client.handler.fates.open_count(), 0u);
  EXPECT_GT(fates.lost_count, 100u);
  EXPECT_GT(fates.acknowledged_count, 300u);
}

TEST_F(SessionTest, PartitionEndsInTimeOutWithReasonOnBothSides) {
  start_server({.time_out = seconds{3}});
  TestClient& client = add_client(1);
  client.transport.connect();
  run_traffic(milliseconds{500});
  ASSERT_EQ(client.transport.state(), ClientState::Connected);
  network.partition(kServerEndpoint, client_endpoint(1));
  run_traffic(seconds{4});
  EXPECT_THAT(client.handler.closed, ElementsAre(Pair(CloseReason::TimedOut, "nothing for 3.0 s")));
  EXPECT_THAT(client.transport.describe_close(), HasSubstr("check the network"));
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::TimedOut)));
}

TEST_F(SessionTest, CloseIsShownOnBothSidesWithDetail) {
  start_server();
  TestClient& client = add_client(1);
  client.transport.connect();
  run_traffic(milliseconds{100});
  server->transport.close(server->handler.joined[0], CloseReason::Kicked, "afk");
  run(milliseconds{50});
  EXPECT_THAT(client.handler.closed, ElementsAre(Pair(CloseReason::Kicked, "afk")));
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::Kicked)));
}

TEST_F(SessionTest, ClientThatLeavesIsShownAsSuch) {
  start_server();
  TestClient& client = add_client(1);
  client.transport.connect();
  run_traffic(milliseconds{100});
  client.transport.close();
  EXPECT_THAT(client.handler.closed, ElementsAre(Pair(CloseReason::ClientLeft, "")));
  run(milliseconds{5});
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::ClientLeft)));
}

TEST_F(SessionTest, WhoMissedTheCloseIsToldAgain) {
  start_server();
  TestClient& client = add_client(1);
  client.transport.connect();
  run_traffic(milliseconds{100});
  network.partition(kServerEndpoint, client_endpoint(1));
  server->transport.close(server->handler.joined[0], CloseReason::Kicked, "afk");
  run(milliseconds{50});
  EXPECT_EQ(client.transport.state(), ClientState::Connected) << "all copies were lost";
  network.heal(kServerEndpoint, client_endpoint(1));
  run(milliseconds{300});
  EXPECT_THAT(client.handler.closed, ElementsAre(Pair(CloseReason::Kicked, "afk")));
}

TEST_F(SessionTest, ServerThatMissedTheCloseIsToldAgain) {
  start_server();
  TestClient& client = add_client(1);
  client.transport.connect();
  run_traffic(milliseconds{100});
  network.partition(kServerEndpoint, client_endpoint(1));
  client.transport.close();
  network.heal(kServerEndpoint, client_endpoint(1));
  run(milliseconds{300});
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::ClientLeft)));
}

TEST_F(SessionTest, OneWayPartitionStillTellsTheSideThatHears) {
  start_server({.time_out = seconds{3}});
  TestClient& client = add_client(1);
  client.transport.connect();
  run_traffic(milliseconds{100});
  network.partition_one_way(client_endpoint(1), kServerEndpoint);
  run_traffic(seconds{3} + milliseconds{50});
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::TimedOut)));
  EXPECT_THAT(client.handler.closed, ElementsAre(Pair(CloseReason::TimedOut, "nothing for 3.0 s")))
      << "the server's last word arrives";
}

TEST_F(SessionTest, SilentSessionLivesOnSignsOfLife) {
  start_server({.time_out = seconds{2}});
  TestClient& client = add_client(1);
  client.transport.connect();
  run(seconds{20});
  EXPECT_EQ(client.transport.state(), ClientState::Connected);
  EXPECT_EQ(server->transport.session_count(), 1u);
  EXPECT_LT(client.transport.counters().sent_datagrams, 100u) << "four or so a second";
}

TEST_F(SessionTest, ClientThatNeverSpeaksAfterJoiningTimesOut) {
  start_server({.time_out = seconds{2}});
  RawPeer peer(network, client_endpoint(1), 5);
  ASSERT_TRUE(peer.join(server->transport));
  run(seconds{3});
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::TimedOut)));
  EXPECT_EQ(server->transport.session_count(), 0u);
}

// P22
TEST_F(SessionTest, PacketThatTheHandlerIgnoresIsLostForItsSender) {
  start_server();
  TestClient& client = add_client(1);
  client.handler.when_packet = [](const protocol::Frame& frame) {
    return frame.tick() % 2 == 0 ? PacketVerdict::Ignore : PacketVerdict::Acknowledge;
  };
  client.transport.connect();
  run_traffic(seconds{2});
  run(seconds{3});
  FateBook& fates = server->handler.fates[server->handler.joined[0]];
  EXPECT_EQ(fates.open_count(), 0u);
  EXPECT_NEAR(static_cast<double>(fates.lost_count), static_cast<double>(fates.acknowledged_count), 2);
}

// P17
TEST_F(SessionTest, ReconnectHasNothingInCommonWithTheOldSession) {
  network.set_default_link({.latency = milliseconds{20}, .jitter = milliseconds{10}});
  start_server();
  TestClient& client = add_client(1);
  client.transport.connect();
  run_traffic(milliseconds{500});
  const ConnectionId old_connection = client.transport.connection_id();
  client.transport.close();
  client.transport.connect();  // while packets of the old session are still under way
  client.handler.packets.clear();
  run_traffic(milliseconds{500});
  ASSERT_EQ(client.transport.state(), ClientState::Connected);
  EXPECT_NE(client.transport.connection_id(), old_connection);
  EXPECT_GT(client.transport.counters().bad_count(BadDatagram::UnknownConnection), 0u) << "old mail was seen";
  EXPECT_EQ(client.handler.packets.front(), Sequence{1}) << "and not taken";
  ASSERT_THAT(server->handler.joined, SizeIs(2));
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::ClientLeft)));
}

// T4, P17
TEST_F(SessionTest, CrashedClientComesBackFromTheSameAddressAtOnce) {
  start_server();
  {
    TestClient first(network, clock, 1);
    first.transport.connect();
    for (int i = 0; i < 10; ++i) {
      clock.advance(milliseconds{1});
      server->transport.poll();
      first.transport.poll();
    }
    ASSERT_EQ(first.transport.state(), ClientState::Connected);
  }  // gone without a word
  add_client(1, {}).transport.connect();
  clients[0]->entropy = SeededEntropy(99);
  clients[0]->transport.close();
  clients[0]->transport.connect();
  run(milliseconds{20});
  EXPECT_EQ(clients[0]->transport.state(), ClientState::Connected);
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::Replaced)));
  EXPECT_EQ(server->transport.session_count(), 1u);
}

// T13
TEST_F(SessionTest, NextClientInTheSlotGetsNoneOfTheLastOnesMail) {
  start_server({.max_sessions = 1});
  RawPeer first(network, client_endpoint(1), 5);
  ASSERT_TRUE(first.join(server->transport));
  const SessionId old_session = server->handler.joined[0];
  server->transport.close(old_session, CloseReason::Kicked);
  TestClient& second = add_client(2);
  second.transport.connect();
  run(milliseconds{20});
  const SessionId new_session = server->handler.joined[1];
  EXPECT_EQ(new_session.index, old_session.index);
  EXPECT_NE(new_session, old_session);
  EXPECT_FALSE(server->transport.is_open(old_session));
  EXPECT_EQ(server->send_frame(old_session, 1).error(), SendError::NoSession);
  EXPECT_EQ(server->transport.payload_room(old_session), 0u);
  // The old client's packets, late as they are, do not reach the new session.
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::ClientUpdate,
                                        protocol::CreateClientUpdate(builder).Union()));
  first.say_built(Sequence{1}, builder);
  run(milliseconds{5});
  EXPECT_THAT(server->handler.packets, IsEmpty());
  EXPECT_TRUE(server->transport.is_open(new_session));
}

// P17
TEST_F(SessionTest, OldPacketsOfTheSameClientDoNotReachItsNewSessionInTheSameSlot) {
  start_server({.max_sessions = 1});
  RawPeer peer(network, client_endpoint(1), 5);
  ASSERT_TRUE(peer.join(server->transport));
  const ConnectionId old_connection = peer.connection;
  server->transport.close(server->handler.joined[0], CloseReason::Kicked);
  while (peer.hear()) continue;
  ++peer.nonce;
  ASSERT_TRUE(peer.join(server->transport));
  ASSERT_EQ(server->handler.joined[1].index, server->handler.joined[0].index);
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::ClientUpdate,
                                        protocol::CreateClientUpdate(builder).Union()));
  peer.connection = old_connection;
  peer.say_built(Sequence{1}, builder);
  run(milliseconds{5});
  EXPECT_THAT(server->handler.packets, IsEmpty());
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::UnknownConnection), 1u);
}

TEST_F(SessionTest, PacketOfSomebodyWithoutTheKeyIsCountedAndDropped) {
  start_server();
  RawPeer owner(network, client_endpoint(1), 5);
  ASSERT_TRUE(owner.join(server->transport));
  RawPeer thief(network, client_endpoint(2), 6);
  thief.connection = owner.connection;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::ClientUpdate,
                                        protocol::CreateClientUpdate(builder).Union()));
  thief.say_built(Sequence{1}, builder);
  run(milliseconds{5});
  EXPECT_THAT(server->handler.packets, IsEmpty());
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::BadTag), 1u);
  owner.say_built(Sequence{1}, builder);
  run(milliseconds{5});
  EXPECT_THAT(server->handler.packets, SizeIs(1));
}

// T14, P21
TEST_F(SessionTest, SilentPeerCostsTheOthersNothing) {
  start_server({.time_out = seconds{60}});
  TestClient& good = add_client(1);
  good.transport.connect();
  RawPeer silent(network, client_endpoint(2), 5);
  run(milliseconds{20});
  ASSERT_TRUE(silent.join(server->transport));
  const SessionId silent_session = server->handler.joined[1];
  run(seconds{3}, [&] {
    (void)server->send_frame(silent_session, 1, 1000);
    EXPECT_LE(server->transport.in_flight(silent_session), kMaxInFlight);
    if (clock.now().since_zero.count() % 16'000'000 == 0)
      (void)server->send_frame(server->handler.joined[0], 1, 1000);
  });
  FateBook& fates = server->handler.fates[server->handler.joined[0]];
  EXPECT_EQ(fates.lost_count, 0u);
  EXPECT_GT(fates.acknowledged_count, 150u);
}

TEST_F(SessionTest, ServerForgetsWhomItWouldTellAgainAfterTheTimeOut) {
  start_server({.time_out = seconds{3}});
  RawPeer peer(network, client_endpoint(2), 5);
  ASSERT_TRUE(peer.join(server->transport));
  server->transport.close(server->handler.joined[0], CloseReason::Kicked);
  server->transport.flush();
  while (peer.hear()) continue;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0));
  const auto is_answered = [&](std::uint64_t sequence) {
    peer.say_built(Sequence{sequence}, builder);
    server->transport.poll();
    return peer.hear().has_value();
  };
  EXPECT_TRUE(is_answered(1));
  clock.advance(seconds{2});
  EXPECT_TRUE(is_answered(2));
  clock.advance(seconds{1});
  EXPECT_FALSE(is_answered(3));
}

TEST_F(SessionTest, FullFlightIsRefusedUntilFatesAreKnown) {
  start_server({.time_out = seconds{60}});
  RawPeer silent(network, client_endpoint(2), 5);
  ASSERT_TRUE(silent.join(server->transport));
  const SessionId session = server->handler.joined[0];
  for (std::size_t i = 0; i < kMaxInFlight; ++i) ASSERT_TRUE(server->send_frame(session, 1));
  EXPECT_EQ(server->send_frame(session, 1).error(), SendError::TooManyInFlight);
  run(seconds{3});
  EXPECT_EQ(server->handler.fates[session].lost_count, kMaxInFlight);
  EXPECT_TRUE(server->send_frame(session, 1));
}

// T8
TEST_F(SessionTest, WhatFitsThePayloadRoomFitsTheDatagramAndNothingLargerLeaves) {
  network.set_default_link({.loss_percent = 40});
  start_server();
  TestClient& client = add_client(1, {.connect_time_out = seconds{60}});
  client.transport.connect();
  std::size_t largest = 0;
  run(seconds{4}, [&] {
    if (client.transport.state() == ClientState::Connected) (void)client.send_update(1);
    server->transport.for_each_session([&](SessionId id) {
      const std::size_t room = server->transport.payload_room(id);
      ASSERT_GT(room, 850u) << "however many acknowledgements there are";
      // A Frame with nothing but bodies costs 40 bytes beside them.
      ASSERT_TRUE(server->send_frame(id, 1, room - 40)) << "room of " << room;
      largest = std::max(largest, room);
      EXPECT_EQ(server->send_frame(id, 1, kMaxPacketBodyBytes).error(), SendError::TooLarge);
    });
  });
  EXPECT_GT(largest, 1000u);
  EXPECT_EQ(client.transport.counters().bad_count(BadDatagram::TooLong), 0u);
}

TEST_F(SessionTest, HandlersMayCloseFromEveryCall) {
  start_server();
  TestClient& client = add_client(1);
  server->handler.when_joined = [&](SessionId id) {
    server->transport.close(id, CloseReason::Kicked, "at once");
  };
  client.transport.connect();
  run(milliseconds{20});
  EXPECT_EQ(client.transport.close_reason(), CloseReason::Kicked)
      << "told again, since Accept came after Close or before";
  EXPECT_EQ(server->transport.session_count(), 0u);

  server->handler.when_joined = {};
  server->handler.when_packet = [&](SessionId id, const protocol::ClientUpdate&) {
    server->transport.close(id, CloseReason::Kicked, "in a packet");
    return PacketVerdict::Acknowledge;
  };
  client.transport.connect();
  run_traffic(milliseconds{100});
  EXPECT_EQ(client.transport.close_detail(), "in a packet");

  server->handler.when_packet = {};
  client.handler.when_packet = [&](const protocol::Frame&) {
    client.transport.close();
    client.transport.connect();
    return PacketVerdict::Acknowledge;
  };
  client.transport.connect();
  run_traffic(milliseconds{100});
  EXPECT_GT(client.handler.connected, 3) << "a client may come back from within a packet";
}

TEST_F(SessionTest, PollingFromAHandlerIsRefusedLoudly) {
  start_server();
  server->handler.when_joined = [&](SessionId) { server->transport.poll(); };
  add_client(1).transport.connect();
  EXPECT_DEATH(run(milliseconds{20}), "must not poll");
}

TEST_F(SessionTest, SameSeedSameRun) {
  const auto play = [](std::uint64_t seed) {
    ManualClock own_clock;
    SimulatedNetwork own_network(own_clock, seed);
    own_network.set_default_link(
        {.loss_percent = 20, .corrupt_percent = 5, .latency = milliseconds{20}, .jitter = milliseconds{9}});
    TestServer own_server(own_network, own_clock);
    TestClient own_client(own_network, own_clock, 1);
    own_client.transport.connect();
    for (int i = 0; i < 2000; ++i) {
      own_clock.advance(milliseconds{1});
      own_server.transport.poll();
      own_client.transport.poll();
      if (i % 16 == 0)
        own_server.transport.for_each_session([&](SessionId id) { (void)own_server.send_frame(id, 1); });
    }
    return std::tuple(own_client.handler.packets, own_client.transport.counters().received_bytes,
                      own_client.transport.rtt());
  };
  EXPECT_EQ(play(5), play(5));
  EXPECT_NE(play(5), play(6));
}

}  // namespace
}  // namespace shoal
