// Who finds its player again, and for how long.
#include "server/absent_players.hpp"

#include <gmock/gmock.h>

#include "tests/unit/server/served_world.hpp"

namespace shoal::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

PlayerId player_id(std::uint8_t number) {
  PlayerId id;
  id.bytes[0] = number;
  return id;
}
AbsentPlayers::Absent absent(std::uint8_t number, Tick until) {
  return {{player_id(number), {number}, {number, 0}}, CloseReason::TimedOut, until, false};
}

TEST(AbsentPlayers, OfMoreThanMayWaitThoseGoWhoHaveWaitedLongest) {
  AbsentPlayers players(2);
  for (std::uint8_t number = 1; number <= 4; ++number) players.add(absent(number, Tick{number}));
  const auto given_up = players.take_surplus();
  ASSERT_EQ(given_up.size(), 2u);
  EXPECT_EQ(given_up[0].player.id, player_id(1));
  EXPECT_EQ(given_up[1].player.id, player_id(2));
  EXPECT_TRUE(players.take_surplus().empty());
  EXPECT_FALSE(players.take(player_id(1)));
  EXPECT_EQ(players.take(player_id(4))->player.entity, (Entity{4, 0}));
  EXPECT_EQ(players.all().size(), 1u);
}

TEST(AbsentPlayers, OfMoreThanMayWaitThoseGoFirstFromWhoseAddressMostOthersWait) {
  const auto from = [](std::uint8_t number, std::optional<AddressHolder> holder) {
    AbsentPlayers::Absent player = absent(number, Tick{number});
    player.holder = holder;
    return player;
  };
  const AddressHolder crowd{1}, pair{2}, single{3};
  AbsentPlayers players(8);
  const std::array<std::optional<AddressHolder>, 9> holders{single, pair,  std::nullopt, crowd,       crowd,
                                                            pair,   crowd, crowd,        std::nullopt};
  for (std::uint8_t number = 0; number < 9; ++number) players.add(from(number, holders[number]));
  const auto one = players.take_surplus();
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].player.id, player_id(3)) << "of four the one who has waited longest";
  for (std::uint8_t number = 9; number < 12; ++number) players.add(from(number, std::nullopt));
  std::vector<PlayerNumber> given_up;
  for (const auto& player : players.take_surplus()) given_up.push_back(player.player.number);
  EXPECT_EQ(given_up, (std::vector<PlayerNumber>{{1}, {4}, {6}})) << "two crowds are left with one each";
  players.add(from(12, std::nullopt));
  EXPECT_EQ(players.take_surplus().at(0).player.id, player_id(0)) << "who is no crowd waits in turn";
}

TEST(AbsentPlayers, WaitUntilTheirTickAlsoAcrossTheWrap) {
  AbsentPlayers players(8);
  const Tick last{0xFFFFFFFF};
  players.add(absent(1, last));
  players.add(absent(2, last + 5));
  EXPECT_TRUE(players.take_overdue(last - 1).empty());
  EXPECT_EQ(players.take_overdue(last).size(), 1u);
  EXPECT_EQ(players.take_overdue(last + 5).size(), 1u);
  EXPECT_TRUE(players.all().empty());
}

// Writes down what it hears of players.
class TalkativeGame final : public ServedGame {
 public:
  void player_left(Registry& registry, Entity player, CloseReason reason) override {
    told.push_back("left: " + std::string(to_string(reason)));
    if (registry.alive(player)) registry.destroy(player);
  }
  void player_absent(Registry&, Entity, CloseReason reason) override {
    told.push_back("absent: " + std::string(to_string(reason)));
  }
  void player_returned(Registry& registry, Entity player, Tick) override {
    told.push_back(registry.alive(player) ? "returned" : "returned dead");
  }
  std::vector<std::string> told;
};

// Joins with a key of its own, has a player, and says why its session ends.
class EndsAsItLikes final : private ClientTransport::Handler {
 public:
  EndsAsItLikes(SimulatedNetwork& network, const Clock& clock, Entropy& entropy, const Endpoint& local)
      : port_(network.open(local)), clock_(clock), entropy_(entropy) {}
  /// `run_tick` lets time pass for everyone else.
  void join_and_end(const Endpoint& server, const ComponentTable& table, CloseReason reason,
                    const std::function<void()>& run_tick) {
    const ClientTransportConfig config{.server = server, .schema = schema_versions(table)};
    ClientTransport transport(*port_, clock_, entropy_, config, *this);
    transport.connect();
    for (int i = 0; i < 5; ++i) {
      run_tick();
      transport.poll();
    }
    ASSERT_EQ(transport.state(), ClientState::Connected) << transport.describe_close();
    transport.close(reason);
    run_tick();
  }

 private:
  void on_connected(const AcceptBody&) override {}
  PacketVerdict on_packet(Sequence, const protocol::Packet&) override { return PacketVerdict::Acknowledge; }
  void on_acknowledged(Sequence) override {}
  void on_lost(Sequence) override {}
  void on_closed(CloseReason, std::string_view) override {}

  std::unique_ptr<DatagramPort> port_;
  const Clock& clock_;
  Entropy& entropy_;
};

class AbsentPlayersTest : public ServedWorldTest {
 protected:
  AbsentPlayersTest() {
    config.time_out = seconds(2);
    config.return_time = seconds(5);
  }
  void start() {
    network_port = network.open(kServer);
    port.emplace(*network_port);
    server.emplace(talkative, *port, clock, entropy, config);
  }
  Entity entity_of(std::size_t client) const { return clients[client]->controlled(); }
  void cut(std::size_t client) { network.partition(client_at(static_cast<std::uint8_t>(client)), kServer); }
  void come_again(std::size_t client) {
    if (clients[client]->state() != ClientState::Closed) clients[client]->close();
    network.heal(client_at(static_cast<std::uint8_t>(client)), kServer);
    clients[client]->connect();
  }
  void join_and_end(std::uint16_t port_number, CloseReason reason) {
    EndsAsItLikes client(network, clock, entropy, Endpoint::ipv4(10, 0, 3, 1, port_number));
    client.join_and_end(kServer, server->table(), reason, [this] { run_tick(); });
  }
  std::uint64_t left(CloseReason reason) const {
    return server->transport_counters().left[static_cast<std::size_t>(reason)];
  }
  /// Until the server has noticed that nobody is there.
  void time_out(std::size_t client) {
    cut(client);
    run_seconds(3);
  }

  ServerConfig config;
  TalkativeGame talkative;
};

TEST_F(AbsentPlayersTest, WhoTimedOutFindsItsEntityAndItsNumberAgain) {
  start();
  add_client();
  add_client();
  run_seconds(1);
  const Entity own = entity_of(0), other = entity_of(1);
  const auto before = server->players_to_save();
  ASSERT_NE(own, other);
  time_out(0);
  EXPECT_EQ(server->absent_count(), 1u);
  EXPECT_TRUE(server->registry().alive(own));
  come_again(0);
  run_seconds(1);
  EXPECT_EQ(entity_of(0), own);
  EXPECT_EQ(entity_of(1), other);
  EXPECT_EQ(server->players_to_save(), before);
  EXPECT_EQ(server->absent_count(), 0u);
  EXPECT_EQ(server->counters().returned, 1u);
  EXPECT_THAT(talkative.told, ElementsAre("absent: timed out", "returned"));
  expect_exact(0);
}

// One address whose limit is two sessions, and which has a new key for each: its ends look as if its sessions broke off.
TEST_F(AbsentPlayersTest, WhoJoinsAndBreaksOffAgainAndAgainCostsNobodyElseItsPlace) {
  config.max_sessions = 8;
  config.return_time = seconds(60);
  config.admission.limits.exempt = {};
  config.admission.limits.max_sessions = 2;
  start();
  add_client();
  run_seconds(1);
  const Entity own = entity_of(0);
  time_out(0);
  for (std::uint16_t i = 0; i < 20; ++i)
    join_and_end(static_cast<std::uint16_t>(5000 + i), CloseReason::TimedOut);
  EXPECT_EQ(server->absent_count(), 8u);
  EXPECT_EQ(left(CloseReason::TimedOut), 21u);
  come_again(0);
  run_seconds(1);
  EXPECT_EQ(entity_of(0), own);
}

// Else it would be waited for, or be counted among those whom the operator sent away.
TEST_F(AbsentPlayersTest, ClientCannotSayWhatOnlyTheServerKnowsOfItsEnd) {
  start();
  std::uint16_t port_number = 5000;
  for (const CloseReason reason : {CloseReason::Kicked, CloseReason::Replaced, CloseReason::ServerShutDown,
                                   CloseReason::ServerRestart}) {
    join_and_end(port_number++, reason);
    EXPECT_EQ(left(reason), 0u) << to_string(reason);
  }
  EXPECT_EQ(left(CloseReason::Unspecified), 4u);
  EXPECT_EQ(server->absent_count(), 0u);
}

TEST_F(AbsentPlayersTest, WhoComesTooLateIsANewPlayer) {
  start();
  add_client();
  run_seconds(1);
  const Entity own = entity_of(0);
  time_out(0);
  run_seconds(5);
  EXPECT_FALSE(server->registry().alive(own));
  EXPECT_EQ(server->absent_count(), 0u);
  come_again(0);
  run_seconds(1);
  EXPECT_NE(entity_of(0), own);
  EXPECT_EQ(server->counters().returned, 0u);
  EXPECT_EQ(server->players_to_save().front().number.value, 2u);
  EXPECT_THAT(talkative.told, ElementsAre("absent: timed out", "left: timed out"));
}

TEST_F(AbsentPlayersTest, SomebodyElseGetsAnEntityOfItsOwn) {
  start();
  add_client();
  run_seconds(1);
  const Entity own = entity_of(0);
  time_out(0);
  add_client();
  run_seconds(0.5);
  EXPECT_NE(entity_of(1), own);
  EXPECT_EQ(server->absent_count(), 1u);
}

TEST_F(AbsentPlayersTest, WhoLeavesByItselfIsGoneAtOnce) {
  start();
  add_client();
  run_seconds(1);
  const Entity own = entity_of(0);
  clients[0]->close();
  run_seconds(0.2);
  EXPECT_FALSE(server->registry().alive(own));
  EXPECT_THAT(talkative.told, ElementsAre("left: client left"));
}

TEST_F(AbsentPlayersTest, NewerSessionOfAPlayerTakesOverWithoutAnAbsence) {
  config.time_out = seconds(60);
  configure_client = [](ClientConfig& client) { client.player_key = Secret{}; };
  start();
  add_client();
  run_seconds(1);
  const Entity own = entity_of(0);
  add_client();  // the same player elsewhere
  run_seconds(1);
  EXPECT_EQ(clients[0]->close_reason(), CloseReason::Replaced);
  EXPECT_EQ(entity_of(1), own);
  EXPECT_THAT(talkative.told, ElementsAre("returned"));
}

TEST_F(AbsentPlayersTest, WhoDiedMeanwhileIsANewPlayer) {
  start();
  add_client();
  run_seconds(1);
  const Entity own = entity_of(0);
  time_out(0);
  server->registry().destroy(own);
  come_again(0);
  run_seconds(1);
  EXPECT_TRUE(server->registry().alive(entity_of(0)));
  EXPECT_NE(entity_of(0), own);
  EXPECT_THAT(talkative.told, ElementsAre("absent: timed out", "left: timed out"));
}

TEST_F(AbsentPlayersTest, BannedPlayerIsNotWaitedFor) {
  start();
  add_client();
  run_seconds(1);
  time_out(0);
  ASSERT_EQ(server->absent_count(), 1u);
  BanList bans;
  bans.players.insert(clients[0]->player());
  server->set_bans(bans);
  run_tick();
  EXPECT_EQ(server->absent_count(), 0u);
  EXPECT_TRUE(server->players_to_save().empty());
  EXPECT_THAT(talkative.told, ElementsAre("absent: timed out", "left: timed out"));
}

TEST_F(AbsentPlayersTest, WithoutTimeToReturnEntityGoesAtOnce) {
  config.return_time = {};
  start();
  add_client();
  run_seconds(1);
  const Entity own = entity_of(0);
  time_out(0);
  EXPECT_FALSE(server->registry().alive(own));
  EXPECT_THAT(talkative.told, ElementsAre("left: timed out"));
}

TEST_F(AbsentPlayersTest, FrozenWorldGivesNobodyUp) {
  start();
  add_client();
  run_seconds(1);
  time_out(0);
  server->freeze();
  run_seconds(10);
  EXPECT_EQ(server->absent_count(), 1u);
}

TEST_F(AbsentPlayersTest, ServerThatEndsStillKnowsWhoseEntitiesThereAreForItsSave) {
  for (const Duration return_time : {Duration(seconds(5)), Duration{}}) {
    config.return_time = return_time;
    clients.clear();
    client_ports.clear();
    server.reset();
    network_port.reset();
    start();
    add_client();
    add_client();
    run_seconds(1);
    time_out(0);
    const auto before = server->players_to_save();
    EXPECT_EQ(before.size(), return_time.count() > 0 ? 2u : 1u);
    server->shut_down();
    EXPECT_EQ(server->session_count(), 0u);
    EXPECT_EQ(server->players_to_save(), before);
  }
}

// A session that broke off and is replaced is absent for a moment: with a full waiting room that cost another one its place.
TEST_F(AbsentPlayersTest, ReplacedSessionCostsNobodyElseItsPlace) {
  config.max_sessions = 2;
  config.return_time = seconds(60);
  start();
  add_client();
  add_client();
  run_seconds(1);
  time_out(0);
  time_out(1);
  add_client();
  run_seconds(1);
  ASSERT_EQ(server->absent_count(), 2u);
  cut(2);
  come_again(2);  // while its session is still there: it did not hear the client leave
  run_seconds(1);
  EXPECT_EQ(server->counters().returned, 1u);
  EXPECT_EQ(server->absent_count(), 2u);
}

// The server was full, and others waited to come back: after a restart those are waited for who played to the end.
TEST_F(AbsentPlayersTest, AfterARestartOfAFullServerThoseAreGivenUpWhoHaveBeenAwayLongest) {
  config.max_sessions = 2;
  start();
  Registry& registry = server->registry();
  std::vector<SavedPlayer> saved;
  for (std::uint8_t number = 1; number <= 4; ++number)
    saved.push_back({player_id(number), {number}, registry.create()});
  server->restore_players(saved);
  run_tick();
  EXPECT_EQ(server->absent_count(), 2u);
  EXPECT_FALSE(registry.alive(saved[0].entity));
  EXPECT_FALSE(registry.alive(saved[1].entity));
  EXPECT_TRUE(registry.alive(saved[2].entity));
  EXPECT_TRUE(registry.alive(saved[3].entity));
  EXPECT_EQ(server->players_to_save(), (std::vector<SavedPlayer>{saved[2], saved[3]}));
}

TEST_F(AbsentPlayersTest, PlayersOfASavedWorldThatMayNotReturnAreGoneWithItsFirstTick) {
  config.return_time = {};
  start();
  const Entity entity = server->registry().create();
  server->restore_players(std::vector<SavedPlayer>{{player_id(1), {3}, entity}});
  run_tick();
  EXPECT_FALSE(server->registry().alive(entity));
  EXPECT_THAT(talkative.told, ElementsAre("left: server shut down"));
}

TEST_F(AbsentPlayersTest, PlayersOfASavedWorldAreAbsentUntilTheyCome) {
  start();
  add_client();
  run_seconds(1);
  const PlayerId id = clients[0]->player();
  // What another process left behind: of the same player, of one who never comes and had left something, of one with
  // the entity of another one and one without any.
  clients[0]->close();
  run_seconds(1);
  Registry& registry = server->registry();
  const Entity first = registry.create(), second = registry.create();
  talkative.told.clear();
  const std::vector<SavedPlayer> saved{{id, {5}, registry.create()},
                                       {id, {7}, first},
                                       {player_id(1), {9}, second},
                                       {player_id(2), {10}, second},
                                       {player_id(1), {11}, registry.create()},
                                       {player_id(3), {12}, Entity{12'345, 3}}};
  server->restore_players(saved);
  EXPECT_THAT(server->players_to_save(), ElementsAre(saved[0], saved[1], saved[3], saved[4]));
  clients[0]->connect();
  run_seconds(1);
  EXPECT_EQ(entity_of(0), first);
  EXPECT_THAT(talkative.told,
              ElementsAre("left: server shut down", "absent: server shut down", "absent: server shut down",
                          "absent: server shut down", "returned"));
  run_seconds(5);
  EXPECT_FALSE(registry.alive(second));
  EXPECT_THAT(server->players_to_save(), ElementsAre(saved[1]));
  add_client();
  run_seconds(1);
  EXPECT_EQ(server->players_to_save().back().number.value, 13u) << "no number is given twice";
}

}  // namespace
}  // namespace shoal::test
