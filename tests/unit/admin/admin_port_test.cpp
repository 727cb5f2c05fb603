#include "server/admin/admin_port.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace shoal {
namespace {

using testing::HasSubstr;

constexpr std::string_view kToken = "0123456789abcdef0123";

class AdminPortTest : public ::testing::Test {
 protected:
  void open(bool has_token = true) {
    AdminActions actions;
    actions.kick = [this](PlayerNumber number) {
      kicked = number.value;
      return number.value == 3;
    };
    actions.ban_address = [this](const AddressRange& range) { banned_bits = range.prefix_bits; };
    actions.ban_player = [this](const PlayerId& player) { banned = to_string(player); };
    actions.announce = [this](std::string_view text) { announced = text; };
    actions.set_log_level = [this](LogLevel level) { log_level = level; };
    actions.explain = [](PlayerNumber number, std::uint32_t index,
                         std::optional<std::uint32_t> generation) -> std::optional<EntityExplanation> {
      if (number.value != 3) return std::nullopt;
      EntityExplanation explanation;
      explanation.entity = {index, generation.value_or(9)};
      explanation.verdict = "not sent: for a test";
      return explanation;
    };
    AdminConfig config{.address = Endpoint::ipv4(127, 0, 0, 1, 0), .token = {}};
    if (has_token) config.token = hash_of_token(kToken);
    auto opened = AdminPort::open(config, board, clock, actions);
    ASSERT_TRUE(opened) << opened.error().why;
    port = std::move(*opened);
  }
  void publish(std::size_t players = 0, bool takes_players = true) {
    auto status = std::make_shared<ServerStatus>();
    status->phase = takes_players ? "running" : "draining";
    status->takes_players = takes_players;
    status->player_count = players;
    status->limits.max_players = 2;
    status->players = std::make_shared<const std::vector<PlayerStatus>>();
    std::shared_ptr<const ServerStatus> newest = status;
    ASSERT_TRUE(board.publish(newest));
    board.beat(clock.now());
  }
  HttpReply ask(std::string method, std::string path, std::string query = "", std::string body = "") {
    HttpRequest request{.method = std::move(method),
                        .path = std::move(path),
                        .query = std::move(query),
                        .host = host,
                        .authorization = authorization,
                        .remote = "10.0.0.1",
                        .body = std::move(body)};
    // The tick goes on meanwhile.
    std::atomic<bool> is_over{false};
    std::thread tick([&] {
      while (!is_over && ticks) port->between_ticks();
    });
    HttpReply reply = port->answer(request);
    is_over = true;
    tick.join();
    return reply;
  }
  int status_of(std::string method, std::string path, std::string query = "", std::string body = "") {
    return ask(std::move(method), std::move(path), std::move(query), std::move(body)).status;
  }

  ManualClock clock;
  StatusBoard board;
  std::unique_ptr<AdminPort> port;
  std::string authorization = "Bearer " + std::string(kToken);
  std::string host;
  bool ticks = true;
  std::uint32_t kicked = 0;
  int banned_bits = 0;
  std::string banned;
  std::string announced;
  LogLevel log_level = LogLevel::Off;
};

TEST_F(AdminPortTest, BeforeTheFirstTickThereIsNothingToRead) {
  open();
  for (const char* path : {"/metrics", "/healthz", "/readyz", "/stats.json", "/players.json"})
    EXPECT_EQ(status_of("GET", path), 503) << path;
  EXPECT_EQ(status_of("GET", "/"), 200);
}

TEST_F(AdminPortTest, HealthFollowsTheTick) {
  open();
  publish();
  EXPECT_EQ(status_of("GET", "/healthz"), 200);
  clock.advance(kLeastPatience);
  EXPECT_EQ(status_of("GET", "/healthz"), 200);
  clock.advance(milliseconds(100));
  const HttpReply reply = ask("GET", "/healthz");
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(reply.body, HasSubstr("no tick for 1.1 s"));
  EXPECT_EQ(status_of("GET", "/readyz"), 503);
  board.beat(clock.now());
  EXPECT_EQ(status_of("GET", "/healthz"), 200);
}

TEST_F(AdminPortTest, ServerThatEndsIsNoHangingOne) {
  open();
  auto status = std::make_shared<ServerStatus>();
  status->phase = "ending";
  status->is_over = true;
  std::shared_ptr<const ServerStatus> newest = status;
  ASSERT_TRUE(board.publish(newest));
  board.beat(clock.now());
  clock.advance(seconds(30));
  EXPECT_EQ(status_of("GET", "/healthz"), 200);
  const HttpReply ready = ask("GET", "/readyz");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, HasSubstr("ending"));
}

TEST_F(AdminPortTest, ReadyWhileThePhaseTakesPlayersAndThereIsRoom) {
  open();
  publish(1);
  EXPECT_EQ(status_of("GET", "/readyz"), 200);
  EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr("\nshoal_ready 1\n"));
  publish(2);
  EXPECT_THAT(ask("GET", "/readyz").body, HasSubstr("full: 2 of 2"));
  publish(0, false);
  EXPECT_THAT(ask("GET", "/readyz").body, HasSubstr("the server is draining"));
  EXPECT_EQ(status_of("GET", "/healthz"), 200);
  EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr("\nshoal_ready 0\n"));
}

TEST_F(AdminPortTest, EveryPageIsOnTheIndex) {
  open();
  const std::string index = ask("GET", "/").body;
  for (const char* path : {"/metrics", "/healthz", "/readyz", "/stats.json", "/players.json", "/why", "/kick",
                           "/ban", "/announce", "/drain", "/log-level"})
    EXPECT_THAT(index, HasSubstr(path));
}

TEST_F(AdminPortTest, WhatIsNotThereOrAskedWrongly) {
  open();
  publish();
  EXPECT_EQ(status_of("GET", "/nothing"), 404);
  EXPECT_EQ(status_of("GET", "/metrics/"), 404);
  EXPECT_EQ(status_of("POST", "/metrics"), 405);
  EXPECT_EQ(status_of("GET", "/kick", "client=3"), 405);
  EXPECT_EQ(status_of("DELETE", "/kick", "client=3"), 405);
  for (const char* query : {"", "client=3", "entity=3", "client=x&entity=3", "client=3&entity=3:",
                            "client=3&entity=:3", "client=3&entity=3:x", "client=-3&entity=3"})
    EXPECT_EQ(status_of("GET", "/why", query), 400) << query;
  for (const char* query : {"", "client=", "client=x"})
    EXPECT_EQ(status_of("POST", "/kick", query), 400) << query;
  for (const char* query :
       {"", "address=x", "player=x", "address=10.0.0.1&player=0123456789abcdef0123456789abcdef"})
    EXPECT_EQ(status_of("POST", "/ban", query), 400) << query;
  EXPECT_EQ(status_of("POST", "/announce"), 400);
  EXPECT_EQ(status_of("POST", "/log-level", "level=loud"), 400);
  EXPECT_EQ(status_of("POST", "/drain"), 501) << "nobody wired it";
}

TEST_F(AdminPortTest, CommandsAreDone) {
  open();
  publish();
  EXPECT_EQ(status_of("POST", "/kick", "client=3"), 200);
  EXPECT_EQ(kicked, 3u);
  EXPECT_EQ(status_of("POST", "/kick", "client=4"), 404);
  EXPECT_EQ(status_of("POST", "/ban", "address=198.51.100.0%2F24"), 200);
  EXPECT_EQ(banned_bits, 96 + 24);
  EXPECT_EQ(status_of("POST", "/ban", "player=0123456789abcdef0123456789abcdef"), 200);
  EXPECT_EQ(banned, "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(status_of("POST", "/announce", "", "In five minutes we restart."), 200);
  EXPECT_EQ(announced, "In five minutes we restart.");
  EXPECT_EQ(status_of("POST", "/announce", "", "As a file has it.\r\n"), 200);
  EXPECT_EQ(announced, "As a file has it.");
  EXPECT_EQ(status_of("POST", "/announce", "", std::string(801, 'x')), 413);
  EXPECT_EQ(status_of("POST", "/announce", "", "\n"), 400);
  EXPECT_EQ(status_of("POST", "/log-level", "level=warn"), 200);
  EXPECT_EQ(log_level, LogLevel::Warn);
}

TEST_F(AdminPortTest, CommandsNeedTheToken) {
  open();
  publish();
  authorization = "";
  const HttpReply reply = ask("POST", "/kick", "client=3");
  EXPECT_EQ(reply.status, 401);
  EXPECT_EQ(reply.headers.at(0).first, "WWW-Authenticate");
  authorization = "Bearer wrong";
  EXPECT_EQ(status_of("POST", "/kick", "client=3"), 403);
  EXPECT_EQ(kicked, 0u);
  EXPECT_THAT(ask("GET", "/metrics").body, HasSubstr("\nshoal_admin_token_failures_total 1\n"));
  for (std::uint32_t i = 1; i < AdminGuard::kMaxFailures; ++i) (void)status_of("POST", "/kick", "client=3");
  EXPECT_EQ(status_of("POST", "/kick", "client=3"), 429);
}

TEST_F(AdminPortTest, ServerWithoutATokenIsReadOnlyAndSaysHowToChangeThat) {
  open(false);
  publish();
  const HttpReply reply = ask("POST", "/kick", "client=3");
  EXPECT_EQ(reply.status, 403);
  EXPECT_THAT(reply.body, HasSubstr("--admin-token-file"));
  EXPECT_EQ(kicked, 0u);
  EXPECT_EQ(status_of("GET", "/why", "client=3&entity=5"), 200);
}

TEST_F(AdminPortTest, WebPageUnderAForeignNameReadsNothing) {
  open();
  publish();
  for (const char* own : {"", "localhost", "localhost:7780", "127.0.0.1:7780", "127.0.0.1", "[::1]:7780"}) {
    host = own;
    EXPECT_EQ(status_of("GET", "/players.json"), 200) << own;
  }
  for (const char* foreign :
       {"evil.example", "evil.example:7780", "localhost.evil.example", "10.0.0.1:7780", "x"}) {
    host = foreign;
    EXPECT_EQ(status_of("GET", "/players.json"), 403) << foreign;
    EXPECT_EQ(status_of("POST", "/kick", "client=3"), 403) << foreign;
  }
  EXPECT_EQ(kicked, 0u);
}

TEST_F(AdminPortTest, WhyAsksTheTick) {
  open();
  publish();
  const HttpReply reply = ask("GET", "/why", "client=3&entity=5");
  EXPECT_EQ(reply.status, 200);
  EXPECT_THAT(reply.body, HasSubstr("\"entity\": \"5:9\""));
  EXPECT_THAT(ask("GET", "/why", "client=3&entity=5:2").body, HasSubstr("\"entity\": \"5:2\""));
  EXPECT_EQ(status_of("GET", "/why", "client=4&entity=5"), 404);
}

TEST_F(AdminPortTest, TickThatDoesNotAnswerIsTold) {
  open();
  publish();
  ticks = false;
  EXPECT_EQ(status_of("POST", "/kick", "client=3"), 503);
  EXPECT_EQ(status_of("GET", "/metrics"), 200) << "reading needs no tick";
  port->between_ticks();
  EXPECT_EQ(kicked, 0u) << "who was told of a failure does not succeed later";
}

TEST(StatusBoard, PublishingNeverWaitsForAReader) {
  StatusBoard board;
  std::atomic<bool> is_over{false};
  std::thread reader([&] {
    while (!is_over) (void)board.newest();
  });
  int published = 0;
  for (int i = 0; i < 20000; ++i) {
    auto status = std::make_shared<ServerStatus>();
    status->player_count = static_cast<std::size_t>(i);
    std::shared_ptr<const ServerStatus> newest = status;
    if (board.publish(newest)) ++published;
  }
  is_over = true;
  reader.join();
  EXPECT_GT(published, 0);
  EXPECT_NE(board.newest(), nullptr);
}

}  // namespace
}  // namespace shoal
