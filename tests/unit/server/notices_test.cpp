// What the server tells its clients by itself, beside a game's messages.
#include <gmock/gmock.h>

#include "tests/unit/server/served_world.hpp"

namespace shoal::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NoticesTest : public ServedWorldTest {
 protected:
  NoticesTest() {
    configure_client = [this](ClientConfig& config) {
      config.on_announcement = [this](std::string_view text) { announced.emplace_back(text); };
    };
  }
  std::vector<std::string> announced;
};

TEST_F(NoticesTest, AnnouncementReachesEachWhoIsInSessionOnceAndInOrder) {
  network.set_default_link({.loss_percent = 30, .latency = milliseconds(20)});
  start({});
  add_client();
  add_client();
  run_seconds(3);
  server->announce("the bridge is closed");
  server->announce("and open again");
  run_seconds(3);
  EXPECT_EQ(std::count(announced.begin(), announced.end(), "the bridge is closed"), 2);
  EXPECT_EQ(std::count(announced.begin(), announced.end(), "and open again"), 2);
  EXPECT_EQ(announced.front(), "the bridge is closed");
  EXPECT_EQ(server->counters().announced, 4u);
  add_client();
  run_seconds(3);
  EXPECT_EQ(announced.size(), 4u) << "who comes later hears nothing of the past";
}

TEST_F(NoticesTest, AnnouncementIsFitForAScreenAndBounded) {
  start({});
  add_client();
  run_seconds(1);
  server->announce("\x1b[2Jgone");
  server->announce(std::string(100'000, 'x'));
  run_seconds(1);
  EXPECT_THAT(announced, ElementsAre("?[2Jgone", std::string(kMaxDetailBytes, 'x')));
}

TEST_F(NoticesTest, WhoDoesNotListenGoesOnPlaying) {
  configure_client = {};
  start({});
  Client& client = add_client();
  run_seconds(1);
  server->announce("nobody hears this");
  run_seconds(1);
  EXPECT_EQ(client.state(), ClientState::Connected);
  EXPECT_EQ(client.messages().unknown_count(), 0u);
  EXPECT_THAT(announced, IsEmpty());
}

TEST_F(NoticesTest, SessionWithoutRoomMissesAnnouncementsAndNothingElse) {
  start({});
  add_client();
  run_seconds(1);
  network.partition(client_at(0), kServer);
  const std::string words(kMaxDetailBytes, 'x');
  for (int i = 0; i < 3000; ++i) server->announce(words);
  EXPECT_GT(server->counters().notices_refused, 0u);
  EXPECT_EQ(server->counters().announced + server->counters().notices_refused, 3000u);
  network.heal(client_at(0), kServer);
  run_seconds(5);
  EXPECT_EQ(announced.size(), server->counters().announced);
}

}  // namespace
}  // namespace shoal::test
