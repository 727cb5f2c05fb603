#include "shared/net/message_router.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "schema/protocol_generated.h"
#include "tests/unit/net/message_link.hpp"
#include "tests/unit/net/net_fixture.hpp"

// Any tables serve: these are at hand.

namespace shoal {
namespace {

/// What flatc makes of `table Tree { child: Tree; children: [Tree]; }`.
struct Tree : private flatbuffers::Table {
  static constexpr flatbuffers::voffset_t kChild = 4;
  static constexpr flatbuffers::voffset_t kChildren = 6;
  const Tree* child() const { return GetPointer<const Tree*>(kChild); }
  const flatbuffers::Vector<flatbuffers::Offset<Tree>>* children() const {
    return GetPointer<const flatbuffers::Vector<flatbuffers::Offset<Tree>>*>(kChildren);
  }
  bool Verify(flatbuffers::Verifier& verifier) const {
    return VerifyTableStart(verifier) && VerifyOffset(verifier, kChild) && verifier.VerifyTable(child()) &&
           VerifyOffset(verifier, kChildren) && verifier.VerifyVector(children()) &&
           verifier.VerifyVectorOfTables(children()) && verifier.EndTable();
  }
};

flatbuffers::Offset<Tree> tree(
    flatbuffers::FlatBufferBuilder& builder, flatbuffers::Offset<Tree> child,
    flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<Tree>>> children = 0) {
  const auto start = builder.StartTable();
  if (!child.IsNull()) builder.AddOffset(Tree::kChild, child);
  if (!children.IsNull()) builder.AddOffset(Tree::kChildren, children);
  return builder.EndTable(start);
}

/// A message of one table in the other, so many in all.
auto deep(std::size_t tables) {
  return [tables](flatbuffers::FlatBufferBuilder& builder) {
    flatbuffers::Offset<Tree> top = tree(builder, 0);
    for (std::size_t i = 1; i < tables; ++i) top = tree(builder, top);
    return top;
  };
}
/// A message whose reader comes to so many tables, of which all but the first are one and the same.
auto wide(std::size_t tables) {
  return [tables](flatbuffers::FlatBufferBuilder& builder) {
    const std::vector<flatbuffers::Offset<Tree>> shared(tables - 1, tree(builder, 0));
    return tree(builder, 0, builder.CreateVector(shared));
  };
}

}  // namespace
}  // namespace shoal

template <>
struct shoal::MessageName<shoal::Tree> {
  static constexpr std::string_view value = "test.Tree";
};
template <>
struct shoal::MessageName<shoal::protocol::Refuse> {
  static constexpr std::string_view value = "test.Chat";
};
template <>
struct shoal::MessageName<shoal::protocol::Digest> {
  static constexpr std::string_view value = "test.Question";
};
template <>
struct shoal::MessageName<shoal::protocol::DigestReport> {
  static constexpr std::string_view value = "test.Answer";
};

namespace shoal {
namespace {

using Chat = protocol::Refuse;
using Question = protocol::Digest;
using Answer = protocol::DigestReport;
constexpr SessionId kSession{3, 1};
constexpr Time kStart{seconds{5}};

auto chat(std::string text) {
  return [text = std::move(text)](MessageRouter::Builder& builder) {
    return protocol::CreateRefuse(builder, protocol::RefuseReason::Busy, builder.CreateString(text));
  };
}
auto question(std::uint64_t number) {
  return [number](MessageRouter::Builder& builder) { return protocol::CreateDigest(builder, 1, number, 2); };
}

/// A server's router and a client's; what one queues waits until it is carried over.
class MessageRouterTest : public ::testing::Test {
 protected:
  struct OnTheWay {
    bool to_server;
    SessionId session;
    MessageChannel channel;
    std::vector<std::byte> bytes;
  };
  static ReceivedMessage received(MessageChannel channel, std::span<const std::byte> bytes) {
    ReceivedMessage message{channel, std::make_unique<std::byte[]>(bytes.size()),
                            static_cast<std::uint32_t>(bytes.size())};
    std::copy(bytes.begin(), bytes.end(), message.bytes.get());
    return message;
  }
  MessageRouter::Sink sink(bool to_server) {
    return [this, to_server](SessionId session, MessageChannel channel,
                             std::span<const std::byte> bytes) -> Result<std::uint32_t, QueueError> {
      if (is_full) return Failure{QueueError::QueueFull};
      way.push_back({to_server, to_server ? kSession : session, channel, {bytes.begin(), bytes.end()}});
      return 0u;
    };
  }
  /// Brings everything that is on the way, answers to it, too. False: somebody refused.
  bool carry() {
    bool ok = true;
    while (!way.empty()) {
      const OnTheWay next = std::move(way.front());
      way.pop_front();
      MessageRouter& target = next.to_server ? server : client;
      ok =
          target.take(next.to_server ? next.session : SessionId{}, received(next.channel, next.bytes), now) &&
          ok;
    }
    return ok;
  }
  /// Asks the server; what became of it is noted in `outcomes`.
  Result<std::uint32_t, QueueError> ask(std::uint64_t number, Duration time_out = seconds{1}) {
    return client.request<Question, Answer>(
        {}, MessageChannel::Unordered, question(number), now, time_out,
        [this](Result<const Answer*, RequestError> answer) {
          outcomes.push_back(answer ? std::to_string((*answer)->hash())
                                    : "error " + std::to_string(static_cast<int>(answer.error())));
        });
  }
  void answer_questions() {
    server.on_request<Question, Answer>(
        [this](const MessageSource& source, const Question& asked, MessageRouter::Builder& builder) {
          EXPECT_EQ(source.session, kSession);
          ++asked_count;
          return protocol::CreateDigestReport(builder, 1, protocol::DigestResult::Exact, asked.hash() + 1);
        });
  }

  bool is_full = false;
  Time now = kStart;
  std::deque<OnTheWay> way;
  std::vector<std::string> outcomes;
  int asked_count = 0;
  MessageRouter server{sink(false)};
  MessageRouter client{sink(true), true};
};

using Outcomes = std::vector<std::string>;
const std::string kTimedOut = "error 0";
const std::string kSessionEnded = "error 1";
const std::string kNoHandler = "error 2";

TEST_F(MessageRouterTest, HandlerOfTheTypeGetsTheTable) {
  std::string said;
  server.on<Chat>([&](const MessageSource& source, const Chat& message) {
    EXPECT_EQ(source.session, kSession);
    EXPECT_EQ(source.channel, MessageChannel::Ordered);
    said = message.detail()->str();
  });
  ASSERT_TRUE(client.send<Chat>({}, MessageChannel::Ordered, chat("hello")));
  EXPECT_TRUE(carry());
  EXPECT_EQ(said, "hello");
}

TEST_F(MessageRouterTest, TypesWithoutAHandlerAreCounted) {
  ASSERT_TRUE(client.send<Chat>({}, MessageChannel::Ordered, chat("hello")));
  EXPECT_TRUE(carry()) << "the other side may be newer";
  EXPECT_EQ(server.unknown_count(), 1u);
}

TEST_F(MessageRouterTest, EncodedOnceForManyIsTheSame) {
  int heard = 0;
  server.on<Chat>([&](const MessageSource&, const Chat&) { ++heard; });
  const auto bytes = client.encode_plain<Chat>(chat("all"));
  for (int i = 0; i < 3; ++i)
    way.push_back({true, kSession, MessageChannel::Ordered, {bytes.begin(), bytes.end()}});
  EXPECT_TRUE(carry());
  EXPECT_EQ(heard, 3);
}

// T15
TEST_F(MessageRouterTest, DamagedMessagesAreRefusedBeforeAHandlerSeesThem) {
  answer_questions();
  server.on<Chat>([](const MessageSource&, const Chat& message) {
    if (message.detail() != nullptr) (void)message.detail()->str();
  });
  client.on_event<Chat>([](const MessageSource&, const EventInfo&, const Chat&) {});
  ASSERT_TRUE(client.send<Chat>({}, MessageChannel::Ordered, chat("hello")));
  ASSERT_TRUE(ask(5));
  ASSERT_TRUE(server.send_event<Chat>(kSession, MessageChannel::Ordered, 9, Tick{4}, chat("bang")));
  const std::deque<OnTheWay> good = std::exchange(way, {});
  Random random(1);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    OnTheWay bad = good[random.below(3)];
    for (std::uint32_t edits = 1 + random.below(3); edits > 0; --edits) {
      bad.bytes[random.below(static_cast<std::uint32_t>(bad.bytes.size()))] =
          static_cast<std::byte>(random.next());
    }
    if (random.chance(0.2)) bad.bytes.resize(random.below(static_cast<std::uint32_t>(bad.bytes.size())));
    MessageRouter& target = bad.to_server ? server : client;
    refused += target.take(bad.session, received(bad.channel, bad.bytes), now) ? 0 : 1;
    way.clear();
  }
  EXPECT_GT(refused, 1000);
}

TEST_F(MessageRouterTest, RequestIsAnsweredOnce) {
  answer_questions();
  ASSERT_TRUE(ask(41));
  ASSERT_TRUE(ask(50));
  EXPECT_EQ(outcomes, Outcomes{});
  EXPECT_TRUE(carry());
  EXPECT_EQ(outcomes, (Outcomes{"42", "51"}));
  client.tick(now + seconds{100});
  client.end_session({});
  EXPECT_EQ(outcomes.size(), 2u);
  EXPECT_EQ(client.waiting_requests(), 0u);
}

TEST_F(MessageRouterTest, RequestThatNobodyAnswersFailsAtOnce) {
  ASSERT_TRUE(ask(41));
  EXPECT_TRUE(carry());
  EXPECT_EQ(outcomes, Outcomes{kNoHandler});
}

TEST_F(MessageRouterTest, RequestTimesOutOnceAndItsLateAnswerIsDropped) {
  answer_questions();
  ASSERT_TRUE(ask(41, seconds{2}));
  now = kStart + milliseconds{1999};
  client.tick(now);
  EXPECT_EQ(outcomes, Outcomes{});
  now = kStart + seconds{2};
  client.tick(now);
  client.tick(now);
  EXPECT_EQ(outcomes, Outcomes{kTimedOut});
  EXPECT_TRUE(carry());
  EXPECT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(client.late_answer_count(), 1u);
}

TEST_F(MessageRouterTest, RequestsOfASessionEndWithIt) {
  answer_questions();
  ASSERT_TRUE(ask(41));
  client.end_session({});
  EXPECT_EQ(outcomes, Outcomes{kSessionEnded});
  EXPECT_TRUE(carry());
  client.tick(now + seconds{100});
  EXPECT_EQ(outcomes.size(), 1u);
}

// T13: the next client received the last one's mail.
TEST_F(MessageRouterTest, AnswerFromTheNextSessionOfASlotIsNotTaken) {
  answer_questions();
  std::vector<RequestError> errors;
  const auto callback = [&](Result<const Answer*, RequestError> answer) {
    ASSERT_FALSE(answer);
    errors.push_back(answer.error());
  };
  const auto number = (server.request<Question, Answer>(kSession, MessageChannel::Ordered, question(1), now,
                                                        seconds{9}, callback));
  ASSERT_TRUE(number);
  server.end_session(kSession);
  EXPECT_EQ(errors, std::vector{RequestError::SessionEnded});
  constexpr SessionId kNext{kSession.index, kSession.generation + 1};
  ASSERT_TRUE((server.request<Question, Answer>(kNext, MessageChannel::Ordered, question(1), now, seconds{9},
                                                callback)));
  // Somebody else answers, with any number.
  std::vector<std::byte> answer;
  for (std::uint32_t guess = 0; guess < 10; ++guess) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(protocol::CreateDigestReport(builder, 1));
    answer.clear();
    write_message_header({message_type<Answer>(), MessageKind::Answer, guess}, answer);
    const auto table = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    answer.insert(answer.end(), table.begin(), table.end());
    EXPECT_TRUE(server.take({9, 1}, received(MessageChannel::Ordered, answer), now));
  }
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(server.waiting_requests(), 1u);
}

TEST_F(MessageRouterTest, RequestsThatWaitAreBounded) {
  for (std::size_t i = 0; i < MessageRouter::kMaxRequests; ++i) ASSERT_TRUE(ask(i));
  const auto refused = ask(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), QueueError::QueueFull);
  client.tick(now + seconds{1});
  EXPECT_EQ(outcomes.size(), MessageRouter::kMaxRequests) << "the refused one is not called back";
  EXPECT_TRUE(ask(1));
}

TEST_F(MessageRouterTest, RequestThatFindsNoRoomIsNotCalledBack) {
  is_full = true;
  ASSERT_FALSE(ask(1));
  client.tick(now + seconds{10});
  EXPECT_EQ(outcomes, Outcomes{});
}

TEST_F(MessageRouterTest, CallbackMayAskAgain) {
  int rounds = 0;
  std::function<void(Result<const Answer*, RequestError>)> again = [&](Result<const Answer*, RequestError>) {
    if (++rounds < 5) {
      ASSERT_TRUE((client.request<Question, Answer>({}, MessageChannel::Ordered, question(1), now, seconds{1},
                                                    again)));
    }
  };
  again(Failure{RequestError::TimedOut});
  for (int i = 0; i < 3; ++i) client.tick(now = now + seconds{1});
  EXPECT_EQ(rounds, 4);
  client.end_session({});
  EXPECT_EQ(rounds, 5);
}

// T15
TEST_F(MessageRouterTest, AnswerOfAnotherTypeIsAnErrorAndTheRequestEndsWithTheSession) {
  ASSERT_TRUE(ask(1));
  way.clear();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(protocol::CreateDigest(builder, 1));
  std::vector<std::byte> answer;
  write_message_header({message_type<Question>(), MessageKind::Answer, 1}, answer);
  const auto table = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  answer.insert(answer.end(), table.begin(), table.end());
  EXPECT_FALSE(client.take({}, received(MessageChannel::Ordered, answer), now));
  client.end_session({});
  EXPECT_EQ(outcomes, Outcomes{kSessionEnded});
}

// P9
TEST_F(MessageRouterTest, EventsOfAClientWaitForTheirState) {
  std::vector<std::pair<std::string, bool>> heard;
  client.on_event<Chat>([&](const MessageSource&, const EventInfo& event, const Chat& message) {
    EXPECT_EQ(event.entity, 9u);
    EXPECT_EQ(event.tick, Tick{4});
    heard.emplace_back(message.detail()->str(), event.is_late);
  });
  ASSERT_TRUE(server.send_event<Chat>(kSession, MessageChannel::Ordered, 9, Tick{4}, chat("bang")));
  EXPECT_TRUE(carry());
  EXPECT_TRUE(heard.empty());
  const auto not_there = [](std::uint64_t, Tick) { return false; };
  client.release_events(now, not_there);
  EXPECT_TRUE(heard.empty());
  client.release_events(now, [](std::uint64_t entity, Tick tick) { return entity == 9 && tick == Tick{4}; });
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0], std::pair(std::string("bang"), false));
  // The next one is late; the one behind it goes with the session.
  ASSERT_TRUE(server.send_event<Chat>(kSession, MessageChannel::Ordered, 9, Tick{4}, chat("late")));
  EXPECT_TRUE(carry());
  client.release_events(now + seconds{1}, not_there);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_TRUE(heard[1].second);
  ASSERT_TRUE(server.send_event<Chat>(kSession, MessageChannel::Ordered, 9, Tick{4}, chat("gone")));
  EXPECT_TRUE(carry());
  client.end_session({});
  client.release_events(now + seconds{9}, not_there);
  EXPECT_EQ(heard.size(), 2u);
}

TEST_F(MessageRouterTest, HandlerThatEndsTheSessionHearsNoMoreOfItsEvents) {
  int heard = 0;
  client.on_event<Chat>([&](const MessageSource&, const EventInfo&, const Chat&) {
    ++heard;
    client.end_session({});
  });
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(server.send_event<Chat>(kSession, MessageChannel::Ordered, 9, Tick{4}, chat("bang")));
  }
  EXPECT_TRUE(carry());
  const auto there = [](std::uint64_t, Tick) { return true; };
  client.release_events(now, there);
  client.release_events(now, there);
  EXPECT_EQ(heard, 1);
}

// T19
TEST_F(MessageRouterTest, TablesTooDeepOrTooManyAreRefusedWhateverTheirHandlerWouldDo) {
  int heard = 0;
  server.on<Tree>([&](const MessageSource&, const Tree&) { ++heard; });
  const auto is_taken = [&](auto build) {
    EXPECT_TRUE((client.send<Tree>({}, MessageChannel::Ordered, build)));
    return carry();
  };
  EXPECT_TRUE(is_taken(deep(32)));
  EXPECT_TRUE(is_taken(wide(65536)));
  EXPECT_EQ(heard, 2);
  EXPECT_FALSE(is_taken(deep(33)));
  EXPECT_FALSE(is_taken(wide(65537)));
  EXPECT_FALSE(is_taken(deep(20'000))) << "nor does the reader's stack end";
  EXPECT_EQ(heard, 2);
}

// T19
TEST_F(NetTest, MessageWithTablesTooDeepEndsItsSessionAloneAndIsCounted) {
  start_server();
  for (std::uint16_t i = 1; i <= 2; ++i) add_client(i).transport.connect();
  run(milliseconds{20});
  ASSERT_EQ(server->handler.joined.size(), 2u);
  std::vector<std::byte> sent;
  MessageRouter router(
      [&](SessionId, MessageChannel, std::span<const std::byte> bytes) -> Result<std::uint32_t, QueueError> {
        sent.assign(bytes.begin(), bytes.end());
        return 0u;
      });
  router.on<Tree>([](const MessageSource&, const Tree&) {});
  server->handler.when_message = [&](SessionId session) {
    const std::vector<std::byte>& bytes = server->handler.messages[session].back();
    ReceivedMessage message{MessageChannel::Ordered, std::make_unique<std::byte[]>(bytes.size()),
                            static_cast<std::uint32_t>(bytes.size())};
    std::copy(bytes.begin(), bytes.end(), message.bytes.get());
    return router.take(session, std::move(message), clock.now());
  };
  ASSERT_TRUE((router.send<Tree>({}, MessageChannel::Ordered, deep(32))));
  ASSERT_TRUE(clients[0]->transport.queue_message(MessageChannel::Ordered, sent));
  run(seconds{1});
  EXPECT_EQ(server->transport.session_count(), 2u);
  ASSERT_TRUE((router.send<Tree>({}, MessageChannel::Ordered, deep(33))));
  ASSERT_TRUE(clients[0]->transport.queue_message(MessageChannel::Ordered, sent));
  run(seconds{1});
  EXPECT_EQ(server->transport.counters().left_count(CloseReason::ProtocolError), 1u);
  EXPECT_EQ(clients[0]->transport.close_reason(), CloseReason::ProtocolError);
  EXPECT_EQ(clients[1]->transport.state(), ClientState::Connected);
}

TEST(MessageTypes, TableWithNameStringsBringsItsName) {
  struct Named {
    static constexpr const char* GetFullyQualifiedName() { return "game.Chat"; }
  };
  static_assert(message_type<Named>() == fnv1a32("game.Chat"));
  static_assert(message_type<Chat>() == fnv1a32("test.Chat"));
}

TEST(MessageTypes, NamesWithTheSameNumberAreRefusedInWords) {
  MessageTypes types;
  EXPECT_FALSE(types.add("costarring"));
  EXPECT_FALSE(types.add("costarring")) << "the same type";
  const auto error = types.add("liquid");
  ASSERT_TRUE(error);
  EXPECT_NE(error->find("costarring and liquid"), std::string::npos) << *error;
}

TEST(MessageRouterDeathTest, SecondHandlerOfATypeIsAMistake) {
  MessageRouter router([](SessionId, MessageChannel,
                          std::span<const std::byte>) -> Result<std::uint32_t, QueueError> { return 0u; });
  const auto handler = [](const MessageSource&, const Chat&) {};
  router.on<Chat>(handler);
  EXPECT_DEATH(router.on<Chat>(handler), "one handler");
}

TEST(MessageEnvelope, HeaderIsReadAsItWasWritten) {
  for (const MessageHeader& header :
       {MessageHeader{0x12345678},
        MessageHeader{1, MessageKind::Event, 0, 0x1122334455667788, Tick{0xFFFFFFFF}},
        MessageHeader{2, MessageKind::Request, 77}, MessageHeader{3, MessageKind::Answer, 0xFFFFFFFF},
        MessageHeader{4, MessageKind::Refusal, 5}}) {
    std::vector<std::byte> bytes;
    write_message_header(header, bytes);
    EXPECT_EQ(bytes.size(), message_header_bytes(header.kind));
    EXPECT_EQ(bytes.size() % 8, 0u) << "the table behind it is aligned";
    if (header.kind != MessageKind::Refusal) bytes.resize(bytes.size() + 4);
    std::span<const std::byte> table;
    const auto read = read_message_header(bytes, table);
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, header);
    EXPECT_EQ(table.size(), header.kind == MessageKind::Refusal ? 0u : 4u);
    for (std::size_t size = 0; size < message_header_bytes(header.kind); ++size) {
      EXPECT_FALSE(read_message_header(std::span(bytes).first(size), table)) << size;
    }
    bytes[5] = std::byte{1};
    EXPECT_FALSE(read_message_header(bytes, table)) << "what must be zero is";
  }
}

}  // namespace
}  // namespace shoal
