// What players of the demo say to each other, through a whole server.
#include <gmock/gmock.h>

#include "schema/messages_generated.h"
#include "server/demo/demo_game.hpp"
#include "tests/unit/net/raw_peer.hpp"
#include "tests/unit/server/served_world.hpp"

namespace shoal::test {
namespace {

using demo::Chat;
using demo::Said;
using ::testing::ElementsAre;

class ChatTest : public ServedWorldTest {
 protected:
  ChatTest() {
    configure_client = [this](ClientConfig& config) {
      config.on_announcement = [this](std::string_view text) { announced.emplace_back(text); };
    };
  }
  /// All see each other.
  void start() {
    ServerConfig config;
    config.interest.radius = 100;
    network_port = network.open(kServer);
    port.emplace(*network_port);
    server.emplace(demo_, *port, clock, entropy, config);
    add_client().messages().on_event<Said>([this](const MessageSource&, const EventInfo&, const Said& said) {
      heard.push_back(said.words()->str());
    });
  }

  demo::DemoGame demo_{{.entities = 0, .seed = 5}};
  std::vector<std::string> heard;
  std::vector<std::string> announced;
};

auto words(std::string text) {
  return [text](MessageRouter::Builder& builder) {
    return demo::CreateChat(builder, builder.CreateString(text));
  };
}

// Says as much as the server's window lets it: a client of ours keeps to what its path carries.
class Talker {
 public:
  explicit Talker(SimulatedNetwork& network) : peer_(network, Endpoint::ipv4(10, 0, 3, 1, 5000), 77) {}
  bool join(Server& server) { return peer_.join(server, schema_versions(server.table())); }
  void say(std::span<const std::byte> message) {
    ASSERT_TRUE(channels_.queue(MessageChannel::Ordered, message));
  }
  /// All arrives, and the server says how much more it takes.
  void talk() {
    while (const auto opened = peer_.hear()) {
      const auto* packet = verified<protocol::Packet>(opened->body);
      if (packet && packet->payload_as_Messages()) (void)channels_.take(*packet->payload_as_Messages());
    }
    while (channels_.has_something_to_send()) {
      flatbuffers::FlatBufferBuilder builder;
      const Sequence sequence{next_};
      const auto messages = channels_.build(builder, 1000, sequence);
      if (messages.IsNull()) return;
      builder.Finish(protocol::CreatePacket(builder, 0, 0, 0, protocol::Payload::Messages, messages.Union()));
      peer_.say_built(sequence, builder);
      channels_.settle(sequence, true);
      ++next_;
    }
  }

 private:
  RawPeer peer_;
  MessageChannels channels_{kClientMessageLimits, kServerMessageLimits};
  std::uint64_t next_ = 1;
};

TEST_F(ChatTest, WhoSpeaksNowAndThenIsHeardWordForWord) {
  start();
  Client& speaker = add_client();
  run_seconds(2);
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(speaker.messages().send<Chat>({}, MessageChannel::Ordered, words(std::to_string(i))));
    run_seconds(0.5);
  }
  EXPECT_THAT(heard, ElementsAre("0", "1", "2", "3", "4", "5", "6", "7", "8", "9"));
  EXPECT_EQ(server->counters().relays_refused, 0u);
}

// The ordered queue of each listener is the one in which the operator's words wait.
TEST_F(ChatTest, FloodOfOneIsNoFloodForTheOthersAndTheOperatorIsHeard) {
  start();
  Talker talker(network);
  ASSERT_TRUE(talker.join(*server));
  run_seconds(2);
  MessageRouter router([](SessionId, MessageChannel, std::span<const std::byte>) {
    return Result<std::uint32_t, QueueError>(0u);  // it only writes
  });
  const auto chat = router.encode_plain<Chat>(words("x"));
  int waiting = 10'000;
  before_poll = [&] {
    for (int i = 0; i < 340 && waiting > 0; ++i, --waiting) talker.say(chat);
    talker.talk();
  };
  run_seconds(1);
  before_poll = nullptr;
  server->announce("mind the gap");
  run_seconds(0.5);
  EXPECT_GE(heard.size(), 10u);
  EXPECT_LE(heard.size(), 20u);
  EXPECT_EQ(heard.size() + server->counters().relays_refused, 10'000u);
  EXPECT_THAT(announced, ElementsAre("mind the gap"));
}

}  // namespace
}  // namespace shoal::test
