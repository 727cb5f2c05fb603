// A client that comes back by itself, over a network in memory and a clock that is told to go on.
#include "client/reconnect.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/server/served_world.hpp"

namespace shoal::test {
namespace {

using ::testing::AllOf;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

class ReconnectTest : public ServedWorldTest {
 protected:
  ReconnectTest() {
    config.time_out = seconds(2);
    // As long as a test: it is the same server that comes back, as seen from the client.
    config.identity = Secret{};
    reconnect.holds = seconds(2);
  }
  Client& begin(const ReconnectConfig& reconnect_config) {
    start(config);
    Client& client = add_client();
    reconnector.emplace(client, clock, 1, reconnect_config);
    play(1);
    return client;
  }
  /// Ticks of the server and polls of the client; `run_server` false: the server's process is stopped.
  void play(double how_long, bool run_server = true) {
    for (int i = 0; i < how_long * kTickRate; ++i) {
      clock.advance(Duration(std::chrono::seconds(1)) / kTickRate);
      if (run_server) {
        server->poll();
        server->run_tick();
      }
      clients[0]->poll();
      clients[0]->send_update();
      reconnector->run();
      states.push_back(reconnector->state());
    }
  }
  void play_until(ReconnectState state) {
    for (int i = 0; i < 60 * kTickRate && reconnector->state() != state; ++i) play(1.0 / kTickRate);
    EXPECT_EQ(reconnector->state(), state) << reconnector->describe();
  }
  /// As a process that was killed and starts anew with a new world.
  void restart_server() {
    server.reset();
    server.emplace(game, *port, clock, entropy, config);
  }
  SessionId session() const {
    SessionId result;
    server->for_each_view([&](PlayerNumber number, const Endpoint&, const ClientView&) {
      result = server->session_of(number);
    });
    return result;
  }

  ServerConfig config;
  ReconnectConfig reconnect;
  std::optional<Reconnector> reconnector;
  std::vector<ReconnectState> states;
};

TEST_F(ReconnectTest, ClientFindsItsEntityAgainAfterATimeOut) {
  Client& client = begin(reconnect);
  play(3);
  ASSERT_EQ(reconnector->state(), ReconnectState::Connected);
  const Entity own = client.controlled();
  network.partition(client_at(0), kServer);
  play(3);
  EXPECT_NE(reconnector->state(), ReconnectState::Connected);
  network.heal(client_at(0), kServer);
  play_until(ReconnectState::Connected);
  play(1);
  EXPECT_EQ(client.controlled(), own);
  EXPECT_EQ(reconnector->describe(), "connected");
}

TEST_F(ReconnectTest, ClientIsThereWhenAKilledServerIsBack) {
  Client& client = begin(reconnect);
  play(20, false);
  EXPECT_THAT(reconnector->state(), ::testing::AnyOf(ReconnectState::Waiting, ReconnectState::Connecting));
  restart_server();
  play_until(ReconnectState::Connected);
  play(1);
  EXPECT_EQ(client.transport_counters().joined, 2u);
  EXPECT_EQ(server->session_count(), 1u);
  EXPECT_FALSE(client.controlled().is_null());
  expect_exact(0);
}

TEST_F(ReconnectTest, DrainedServerSendsItAwayAndIsMetAgain) {
  std::vector<std::string> heard;
  configure_client = [&](ClientConfig& client) {
    client.on_server_ending = [&](Duration left, std::string_view text) {
      heard.push_back(fmt::format("{:.0f} s: {}", to_seconds(left), text));
    };
  };
  Client& client = begin(reconnect);
  server->begin_drain(seconds(5), "new maps");
  play(2);
  EXPECT_THAT(heard, ::testing::ElementsAre("5 s: new maps"));
  ASSERT_TRUE(client.server_ends_at());
  EXPECT_THAT(to_seconds(*client.server_ends_at() - clock.now()), AllOf(Ge(2.5), Le(3.5)));
  EXPECT_EQ(reconnector->state(), ReconnectState::Connected) << "it plays on";
  add_client();
  play(1);
  clients[1]->poll();
  EXPECT_EQ(clients[1]->refuse_reason(), RefuseReason::Draining) << clients[1]->describe_close();
  server->shut_down();
  play(0.3);
  EXPECT_EQ(client.close_reason(), CloseReason::ServerRestart);
  restart_server();
  play_until(ReconnectState::Connected);
  EXPECT_FALSE(client.server_ends_at());
}

TEST_F(ReconnectTest, WaitsGrowToTheLongestWithChanceInThemAndNoticesWhatItsStateIs) {
  reconnect.first_wait = seconds(1);
  reconnect.longest_wait = seconds(4);
  configure_client = [](ClientConfig& client) { client.connect_time_out = seconds(1); };
  begin(reconnect);
  std::vector<double> waits;
  bool was_waiting = false;
  for (int i = 0; i < 60 * kTickRate; ++i) {
    play(1.0 / kTickRate, false);
    const bool is_waiting = reconnector->state() == ReconnectState::Waiting;
    if (is_waiting && !was_waiting) {
      waits.push_back(to_seconds(reconnector->time_left()));
      EXPECT_THAT(reconnector->describe(), HasSubstr("trying again in"));
    }
    was_waiting = is_waiting;
  }
  ASSERT_GE(waits.size(), 8u);
  for (std::size_t i = 0; i < waits.size(); ++i) {
    const double most = std::min(4.0, static_cast<double>(1u << std::min<std::size_t>(i, 10)));
    EXPECT_THAT(waits[i], AllOf(Ge(most / 2 - 0.1), Le(most))) << i;
  }
  EXPECT_NE(waits[5], waits[6]);
}

TEST_F(ReconnectTest, AfterAKickItGivesUpAndSaysWhy) {
  begin(reconnect);
  BanList bans;
  bans.players.insert(clients[0]->player());
  server->set_bans(bans);
  play(5);
  EXPECT_EQ(reconnector->state(), ReconnectState::GivenUp);
  EXPECT_THAT(reconnector->describe(), AllOf(HasSubstr("given up"), HasSubstr("banned")));
  EXPECT_EQ(server->session_count(), 0u);
}

TEST_F(ReconnectTest, WhoClosesItselfIsNotBroughtBack) {
  Client& client = begin(reconnect);
  client.close();
  play(5);
  EXPECT_EQ(reconnector->state(), ReconnectState::GivenUp);
  client.connect();
  play(1);
  EXPECT_EQ(reconnector->state(), ReconnectState::Connected) << "by its owner";
}

TEST_F(ReconnectTest, WhoLeavesWhileItWaitsIsNotBroughtBack) {
  Client& client = begin(reconnect);
  network.partition(client_at(0), kServer);
  play_until(ReconnectState::Waiting);
  network.heal(client_at(0), kServer);
  reconnector->stop();
  play(20);
  EXPECT_EQ(reconnector->state(), ReconnectState::GivenUp);
  EXPECT_EQ(reconnector->describe(), "left");
  client.connect();
  play(1);
  EXPECT_EQ(reconnector->state(), ReconnectState::Connected) << "by its owner";
}

TEST_F(ReconnectTest, WhenTheResumeTicketIsOverItsPasswordOpensTheDoor) {
  config.admission.mode = JoinMode::Password;
  config.admission.password = "first";
  configure_client = [](ClientConfig& client) {
    client.credential_kind = CredentialKind::Password;
    for (const char c : std::string_view("first")) client.credentials.push_back(static_cast<std::byte>(c));
  };
  Client& client = begin(reconnect);
  ASSERT_EQ(reconnector->state(), ReconnectState::Connected);
  // Another key: it cannot read what it gave before.
  play(3, false);
  config.identity = Secret::random(entropy);
  restart_server();
  play_until(ReconnectState::Connected);
  EXPECT_EQ(client.transport_counters().refused[static_cast<std::size_t>(RefuseReason::TicketExpired)], 1u);
}

TEST_F(ReconnectTest, AnotherPasswordEndsIt) {
  config.admission.mode = JoinMode::Password;
  config.admission.password = "first";
  configure_client = [](ClientConfig& client) {
    client.credential_kind = CredentialKind::Password;
    for (const char c : std::string_view("first")) client.credentials.push_back(static_cast<std::byte>(c));
  };
  begin(reconnect);
  play(3, false);
  config.admission.password = "second";
  restart_server();
  play_until(ReconnectState::GivenUp);
  EXPECT_THAT(reconnector->describe(), HasSubstr("another password"));
}

TEST_F(ReconnectTest, GivesUpWhenItsTimeIsOver) {
  reconnect.give_up_after = seconds(20);
  begin(reconnect);
  const Time lost = clock.now();
  for (int i = 0; i < 120 * kTickRate && reconnector->state() != ReconnectState::GivenUp; ++i)
    play(1.0 / kTickRate, false);
  EXPECT_THAT(to_seconds(clock.now() - lost), AllOf(Ge(20), Le(60)));
}

TEST(Reconnect, NeverAgainstAWill) {
  for (const auto reason : {CloseReason::ClientLeft, CloseReason::Kicked, CloseReason::Replaced,
                            CloseReason::ProtocolError, CloseReason::WrongServerKey})
    EXPECT_FALSE(may_try_again(reason, RefuseReason::Unspecified)) << to_string(reason);
  for (const auto refusal :
       {RefuseReason::WrongPassword, RefuseReason::Banned, RefuseReason::WrongProtocolVersion,
        RefuseReason::SchemaMismatch, RefuseReason::TicketRequired, RefuseReason::TicketUsed})
    EXPECT_FALSE(may_try_again(CloseReason::Refused, refusal)) << to_string(refusal);
  for (const auto refusal : {RefuseReason::ServerFull, RefuseReason::Draining, RefuseReason::Busy})
    EXPECT_TRUE(may_try_again(CloseReason::Refused, refusal)) << to_string(refusal);
}

}  // namespace
}  // namespace shoal::test
