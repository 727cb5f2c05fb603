// Sessions over the simulated network, from handshake to the last word.
#include "tests/unit/net/net_fixture.hpp"

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

}  // namespace
}  // namespace shoal
