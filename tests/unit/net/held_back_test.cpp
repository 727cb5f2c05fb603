// What somebody on the way keeps, and lets through when they like.
#include "tests/unit/net/net_fixture.hpp"
#include "tests/unit/net/raw_peer.hpp"

namespace shoal {
namespace {

class HeldBackTest : public NetTest {
 protected:
  void say(Sequence sequence) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(protocol::CreatePacket(builder, 0, 0, 0));
    peer.say_built(sequence, builder);
  }
  RawPeer peer{network, Endpoint::ipv4(198, 51, 100, 1, 5000), 1};
};

// Each is genuine, and new to the server: one of them within each time-out would keep a dead session's place for an hour.
TEST_F(HeldBackTest, OlderPacketsAreReadAndNoSignsOfLife) {
  start_server({.time_out = seconds{2}});
  ASSERT_TRUE(peer.join(server->transport));
  say(Sequence{10});
  run(milliseconds{1500});
  ASSERT_EQ(server->transport.session_count(), 1u);
  const std::uint64_t bad = server->transport.counters().bad_count(BadDatagram::Duplicate);
  say(Sequence{5});
  run(milliseconds{100});
  EXPECT_EQ(server->transport.counters().bad_count(BadDatagram::Duplicate), bad);
  run(milliseconds{900});
  EXPECT_EQ(server->transport.session_count(), 0u);
}

TEST_F(HeldBackTest, NewestPacketIsASignOfLife) {
  start_server({.time_out = seconds{2}});
  ASSERT_TRUE(peer.join(server->transport));
  say(Sequence{10});
  run(milliseconds{1500});
  say(Sequence{11});
  run(milliseconds{1500});
  EXPECT_EQ(server->transport.session_count(), 1u);
}

}  // namespace
}  // namespace shoal
