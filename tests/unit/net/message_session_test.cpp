// Messages through whole sessions: both transports, sealed packets, budgets, ends of sessions.
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

std::vector<std::byte> text(std::string_view words) {
  const auto bytes = std::as_bytes(std::span(words));
  return {bytes.begin(), bytes.end()};
}
std::vector<std::byte> large(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  return bytes;
}

class MessageSessionTest : public NetTest {
 protected:
  TestClient& join(std::uint16_t number = 1) {
    TestClient& client = add_client(number);
    client.transport.connect();
    const std::size_t before = server->handler.joined.size();
    for (int i = 0; i < 4000 && (client.transport.state() != ClientState::Connected ||
                                 server->handler.joined.size() == before);
         ++i)
      run(milliseconds{1});
    EXPECT_EQ(client.transport.state(), ClientState::Connected);
    return client;
  }
};

TEST_F(MessageSessionTest, ArriveBothWaysInOrderUnderLoss) {
  network.set_default_link({.loss_percent = 20,
                            .duplicate_percent = 10,
                            .reorder_percent = 20,
                            .corrupt_percent = 2,
                            .latency = milliseconds{30}});
  start_server();
  TestClient& client = join();
  const SessionId session = server->handler.joined.at(0);
  std::vector<std::vector<std::byte>> sent;
  for (std::uint64_t i = 0; i < 40; ++i) sent.push_back(large(i * i * 7, i));
  for (const auto& message : sent) {
    ASSERT_TRUE(server->transport.queue_message(session, MessageChannel::Ordered, message));
    ASSERT_TRUE(client.transport.queue_message(MessageChannel::Ordered, message));
  }
  run(seconds{30});
  EXPECT_TRUE(client.handler.messages == sent) << client.handler.messages.size() << " came";
  EXPECT_TRUE(server->handler.messages[session] == sent)
      << server->handler.messages[session].size() << " came";
  EXPECT_EQ(server->transport.session_count(), 1u);
}

TEST_F(MessageSessionTest, MebibyteArrivesWhole) {
  network.set_default_link({.loss_percent = 3, .latency = milliseconds{20}});
  start_server();
  TestClient& client = join();
  const auto message = large(kMaxMessageBytes, 5);
  ASSERT_TRUE(
      server->transport.queue_message(server->handler.joined.at(0), MessageChannel::Ordered, message));
  run(seconds{20});
  ASSERT_THAT(client.handler.messages, SizeIs(1));
  EXPECT_TRUE(client.handler.messages[0] == message);
}

// T12
TEST_F(MessageSessionTest, MessageThatFitsNowhereIsRefusedAndTheNextGoesThrough) {
  start_server();
  TestClient& client = join();
  const auto refused = client.transport.queue_message(
      MessageChannel::Ordered, large(kServerMessageLimits.ordered.max_message_bytes + 1, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), QueueError::TooLarge);
  ASSERT_TRUE(client.transport.queue_message(MessageChannel::Ordered, text("next")));
  run(milliseconds{100});
  EXPECT_THAT(server->handler.messages[server->handler.joined[0]], ElementsAre(text("next")));
}

// T13
TEST_F(MessageSessionTest, NextClientInTheSlotDoesNotReceiveTheLastOnesMail) {
  start_server({.max_sessions = 1});
  TestClient& first = join(1);
  ASSERT_TRUE(
      server->transport.queue_message(server->handler.joined[0], MessageChannel::Ordered, large(100'000, 1)));
  run(milliseconds{1});
  first.transport.close();
  run(milliseconds{10});
  TestClient& second = join(2);
  ASSERT_TRUE(
      server->transport.queue_message(server->handler.joined[1], MessageChannel::Ordered, text("yours")));
  run(seconds{1});
  EXPECT_THAT(second.handler.messages, ElementsAre(text("yours")));
  EXPECT_EQ(server->transport.queue_message(server->handler.joined[0], MessageChannel::Ordered, text("late"))
                .error(),
            QueueError::NoSession);
}

// P12
TEST_F(MessageSessionTest, BurstOfMessagesDelaysStateAndNeverStarvesIt) {
  constexpr std::uint64_t kRate = 100'000;
  start_server({.bytes_per_second = kRate});
  TestClient& client = join();
  const SessionId session = server->handler.joined[0];
  ASSERT_TRUE(server->transport.queue_message(session, MessageChannel::Ordered, large(600'000, 1)));
  server->transport.set_state_waits(session, true);
  std::uint32_t tick = 0;
  std::uint64_t state_bytes = 0;
  Time next = clock.now();
  run(seconds{5}, [&] {
    if (clock.now() < next) return;
    next = next + milliseconds{33};
    while (server->transport.may_send(session) && state_bytes < 10 * kRate) {
      ASSERT_TRUE(server->send_frame(session, ++tick, 1000));
      state_bytes += 1000;
    }
  });
  EXPECT_GT(static_cast<double>(state_bytes), 0.4 * 5 * kRate) << "state has at least about half";
  EXPECT_THAT(client.handler.messages, IsEmpty()) << "600 kB do not fit into what is left of five seconds";
  run(seconds{10});
  EXPECT_THAT(client.handler.messages, SizeIs(1));
}

// T14
TEST_F(MessageSessionTest, PeerThatTakesNothingFillsItsOwnQueueAndNobodyElses) {
  start_server({.time_out = seconds{60}});
  RawPeer silent(network, client_endpoint(9), 5);
  ASSERT_TRUE(silent.join(server->transport));
  const SessionId slow = server->handler.joined[0];
  TestClient& client = join();
  int taken = 0;
  while (server->transport.queue_message(slow, MessageChannel::Ordered, large(60'000, 1)))
    ASSERT_LT(++taken, 100);
  const auto full = server->transport.queue_message(slow, MessageChannel::Ordered, large(60'000, 1));
  EXPECT_EQ(full.error(), QueueError::QueueFull);
  ASSERT_TRUE(
      server->transport.queue_message(server->handler.joined[1], MessageChannel::Ordered, text("hello")));
  run(milliseconds{100});
  EXPECT_THAT(client.handler.messages, ElementsAre(text("hello")));
}

TEST_F(MessageSessionTest, ServerThatMissedTheCloseIsToldAgain) {
  start_server();
  TestClient& client = join();
  const SessionId session = server->handler.joined[0];
  client.handler.takes_messages = false;
  ASSERT_TRUE(server->transport.queue_message(session, MessageChannel::Ordered, text("nonsense")));
  network.set_links_from(client_endpoint(1), {.loss_percent = 100});
  run(milliseconds{50});
  ASSERT_EQ(client.transport.state(), ClientState::Closed);
  EXPECT_EQ(client.transport.close_reason(), CloseReason::ProtocolError);
  ASSERT_TRUE(server->transport.is_open(session)) << "no Close arrived";
  network.set_links_from(client_endpoint(1), {});
  run(milliseconds{400});
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(session, CloseReason::ProtocolError)));
}

// T15
TEST_F(MessageSessionTest, FragmentThatNoClientSendsEndsThatSessionWithItsReason) {
  start_server();
  RawPeer liar(network, client_endpoint(9), 5);
  ASSERT_TRUE(liar.join(server->transport));
  TestClient& honest = join();
  flatbuffers::FlatBufferBuilder builder;
  const std::vector<std::uint8_t> bodies(64, 1);
  const auto bodies_at = builder.CreateVector(bodies);
  const std::vector<protocol::FragmentEntry> entries{{0, 0xFFFFFFFFu, 7, 1}};
  const auto entries_at = builder.CreateVectorOfStructs(entries);
  protocol::MessagesBuilder messages(builder);
  messages.add_ordered(entries_at);
  messages.add_bodies(bodies_at);
  const auto payload = messages.Finish();
  builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::Messages, payload.Union()));
  liar.say_built(Sequence{1}, builder);
  run(milliseconds{20});
  EXPECT_THAT(server->handler.left, ElementsAre(Pair(server->handler.joined[0], CloseReason::ProtocolError)));
  EXPECT_EQ(honest.transport.state(), ClientState::Connected);
}

TEST_F(MessageSessionTest, HandlerThatRefusesAMessageEndsTheSession) {
  start_server();
  server->handler.when_message = [](SessionId) { return false; };
  TestClient& client = join();
  ASSERT_TRUE(client.transport.queue_message(MessageChannel::Unordered, text("nonsense")));
  run(milliseconds{20});
  EXPECT_EQ(client.transport.close_reason(), CloseReason::ProtocolError);
}

TEST_F(MessageSessionTest, HandlerMayCloseTheSessionThatItHearsFrom) {
  start_server();
  server->handler.when_message = [&](SessionId session) {
    server->transport.close(session, CloseReason::Kicked);
    return true;
  };
  TestClient& client = join();
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(client.transport.queue_message(MessageChannel::Unordered, text("one of several")));
  run(milliseconds{20});
  EXPECT_EQ(client.transport.close_reason(), CloseReason::Kicked);
  EXPECT_THAT(server->handler.messages[server->handler.joined[0]], SizeIs(1));
}

TEST_F(MessageSessionTest, MessagesOfASlowPathFollowItsBudget) {
  start_server({.bytes_per_second = 20'000});
  TestClient& client = join();
  ASSERT_TRUE(
      server->transport.queue_message(server->handler.joined[0], MessageChannel::Ordered, large(100'000, 1)));
  const std::uint64_t before = server->transport.counters().sent_bytes;
  run(seconds{3});
  EXPECT_LT(server->transport.counters().sent_bytes - before, 66'000u);
  EXPECT_THAT(client.handler.messages, IsEmpty());
}

}  // namespace
}  // namespace shoal
