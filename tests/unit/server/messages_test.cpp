// Messages through a whole server and its clients: who gets which event and when, what ends with a session, what a burst
// may cost.
#include <gmock/gmock.h>

#include "schema/messages_generated.h"
#include "tests/unit/server/served_world.hpp"

namespace shoal::test {
namespace {

using demo::Chat;
using demo::Hit;
using demo::Position;
using demo::Said;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

auto hit(std::uint16_t damage) {
  return [damage](MessageRouter::Builder& builder) { return demo::CreateHit(builder, damage); };
}
auto words(std::string text) {
  return [text](MessageRouter::Builder& builder) {
    return demo::CreateSaid(builder, builder.CreateString(text));
  };
}

// What a client heard.
struct Heard {
  std::vector<std::uint16_t> hits;
  std::vector<bool> shown;  // whether the mirror showed the entity, at each
  std::size_t late = 0;
  std::vector<std::string> said;
};

class MessagesTest : public ServedWorldTest {
 protected:
  MessagesTest() {
    game.begin = [this](Registry& registry) { begin(registry); };
    game.each_tick = [this](Registry& registry, Tick tick) {
      if (each_tick) each_tick(registry, tick);
    };
  }
  void begin(Registry& registry) {
    near = registry.create();
    registry.emplace<Position>(near, 1.0f, 1.0f, 0.0f);
    far = registry.create();
    registry.emplace<Position>(far, 120.0f, 120.0f, 0.0f);
  }
  void start_small(ServerConfig config = {}) {
    config.interest.square_size = 16;
    config.interest.radius = 24;
    start(config);
  }
  Client& add_listener() {
    heard.push_back(std::make_unique<Heard>());
    Heard& log = *heard.back();
    Client& client = add_client();
    client.messages().on_event<Hit>([&](const MessageSource&, const EventInfo& event, const Hit& told) {
      log.hits.push_back(told.damage());
      log.late += event.is_late;
      log.shown.push_back(client.registry()->alive(Entity::from_bits(event.entity)));
    });
    client.messages().on<Said>([&](const MessageSource&, const Said& told) {
      log.said.push_back(told.words() ? told.words()->str() : "");
    });
    return client;
  }
  SessionId session_of(std::size_t client) const {
    SessionId result;
    server->for_each_view([&](PlayerNumber number, const Endpoint& at, const ClientView&) {
      if (at == client_at(static_cast<std::uint8_t>(client))) result = server->session_of(number);
    });
    return result;
  }

  std::function<void(Registry&, Tick)> each_tick;
  Entity near;
  Entity far;
  std::vector<std::unique_ptr<Heard>> heard;
};

TEST_F(MessagesTest, PlayersEntitiesAndSessionsLeadToEachOther) {
  start_small();
  add_listener();
  add_listener();
  run_seconds(0.5);
  for (std::size_t i = 0; i < 2; ++i) {
    const SessionId session = session_of(i);
    ASSERT_FALSE(session.is_null());
    const auto number = server->player_of(session);
    ASSERT_TRUE(number);
    EXPECT_EQ(server->session_of(*number), session);
    EXPECT_EQ(server->entity_of(session), server->player_entity(*number));
    EXPECT_EQ(server->session_of(server->entity_of(session)), session);
  }
  const SessionId session = session_of(0);
  const PlayerNumber number = *server->player_of(session);
  clients[0]->close();
  run_seconds(0.2);
  EXPECT_TRUE(server->session_of(number).is_null());
  EXPECT_FALSE(server->player_of(session));
  EXPECT_TRUE(server->entity_of(session).is_null());
  EXPECT_TRUE(server->session_of(kNullEntity).is_null());
}

// P9: an event arrived before the state it speaks of. Its tick is the version of the chunk: the entity has not changed
// for long, and a client that waited for the tick at hand would wait in vain.
TEST_F(MessagesTest, EventAboutWhatHasNotChangedForLongIsNotLate) {
  start_small();
  add_listener();
  run_seconds(3);
  EXPECT_EQ(server->send_event_to_all<Hit>(MessageChannel::Unordered, near, hit(7)), 1u);
  run_seconds(0.2);
  EXPECT_THAT(heard[0]->hits, ElementsAre(7));
  EXPECT_EQ(heard[0]->late, 0u);
}

// P9: the entity is born in the tick of its event, and its first state is lost on the way, or has no room yet.
TEST_F(MessagesTest, EventAboutTheNewbornComesAfterItsBirth) {
  network.set_default_link({.loss_percent = 30, .latency = milliseconds(20)});
  start_small();
  add_listener();
  run_seconds(2);
  int born = 0;
  std::vector<Entity> told;
  each_tick = [&](Registry& registry, Tick) {
    if (born == 60) return;
    const Entity entity = registry.create();
    registry.emplace<Position>(entity, 2.0f, static_cast<float>(++born) / 10, 0.0f);
    told.push_back(entity);
  };
  std::size_t sent = 0;
  game.when_tick_is_over = [&](GameMessages& messages) {
    for (const Entity entity : told)
      sent += messages.send_event_to_all<Hit>(MessageChannel::Unordered, entity, hit(1));
    told.clear();
  };
  run_seconds(5);
  EXPECT_EQ(sent, 60u) << "the view has its chunk already";
  ASSERT_EQ(heard[0]->hits.size(), 60u);
  EXPECT_EQ(heard[0]->late, 0u);
  EXPECT_THAT(heard[0]->shown, ::testing::Each(true));
}

// P9: nobody waits for the state of the dead.
TEST_F(MessagesTest, EventAboutWhoDiedOnTheWayIsNotHeldBack) {
  start_small();
  add_listener();
  run_seconds(1);
  server->registry().get<Position>(near).x = 1.5f;
  run_tick();
  ASSERT_TRUE(server->send_event<Hit>(session_of(0), MessageChannel::Unordered, near, hit(3)));
  server->registry().destroy(near);
  run_seconds(0.3);
  EXPECT_THAT(heard[0]->hits, ElementsAre(3));
  EXPECT_EQ(heard[0]->late, 0u);
}

// P20: one filter for values, removals and events.
TEST_F(MessagesTest, EventReachesThoseAloneWhoSeeTheEntity) {
  start_small();
  add_listener();
  add_listener();
  run_seconds(1);
  // The second player goes to the far one.
  server->registry().get<Position>(server->entity_of(session_of(1))).x = 118.0f;
  server->registry().get<Position>(server->entity_of(session_of(1))).y = 118.0f;
  run_seconds(1);
  EXPECT_EQ(server->send_event_to_all<Hit>(MessageChannel::Ordered, near, hit(1)), 1u);
  EXPECT_EQ(server->send_event_to_all<Hit>(MessageChannel::Ordered, far, hit(2)), 1u);
  EXPECT_EQ(server->send_event<Hit>(session_of(0), MessageChannel::Ordered, far, hit(3)).error(),
            EventError::NotSeen);
  EXPECT_TRUE(server->sees(session_of(1), far));
  EXPECT_FALSE(server->sees(session_of(0), far));
  run_seconds(2);
  EXPECT_THAT(heard[0]->hits, ElementsAre(1));
  EXPECT_THAT(heard[1]->hits, ElementsAre(2));
}

// P20: who leaves the team in this tick hears no more of what is the team's, though its view was made in the tick before.
TEST_F(MessagesTest, WhoLeavesATeamHearsNoEventOfItFromThatTickOn) {
  Entity secret;
  start_small();
  add_listener();
  add_listener();
  run_seconds(0.5);
  Registry& world = server->registry();
  const Entity first = server->entity_of(session_of(0));
  const Entity second = server->entity_of(session_of(1));
  world.emplace<OnTeam>(first, 1u);
  world.emplace<OnTeam>(second, 1u);
  secret = world.create();
  world.emplace<OnTeam>(secret, 1u);
  world.emplace<demo::Waypoint>(secret, 1.0f, 2.0f);
  run_seconds(0.5);
  EXPECT_EQ(server->send_event_to_all<Hit>(MessageChannel::Ordered, secret, hit(1)), 2u);
  run_seconds(0.2);
  each_tick = [&](Registry& registry, Tick) {
    if (registry.get<const OnTeam>(second).team == 1) registry.get<OnTeam>(second).team = 2;
  };
  game.when_tick_is_over = [&](GameMessages& messages) {
    messages.send_event_to_all<Hit>(MessageChannel::Ordered, secret, hit(2));
    game.when_tick_is_over = nullptr;
  };
  run_seconds(1);
  EXPECT_THAT(heard[0]->hits, ElementsAre(1, 2));
  EXPECT_THAT(heard[1]->hits, ElementsAre(1));
}

// T13: the next client in the slot received the last one's mail.
TEST_F(MessagesTest, MailAndEventsOfTheLastClientAreNotTheNextOnes) {
  ServerConfig config;
  config.max_sessions = 1;
  start_small(config);
  Client& first = add_listener();
  run_seconds(1);
  const SessionId old = session_of(0);
  ASSERT_TRUE(server->messages().send<Said>(old, MessageChannel::Ordered, words(std::string(60'000, 'x'))));
  std::vector<RequestError> errors;
  ASSERT_TRUE((server->messages().request<Said, Said>(
      old, MessageChannel::Ordered, words("?"), clock.now(), seconds(60),
      [&](Result<const Said*, RequestError> answer) { errors.push_back(answer.error()); })));
  first.close();
  run_ticks(2);
  EXPECT_THAT(errors, ElementsAre(RequestError::SessionEnded));
  add_listener();
  run_seconds(1);
  const SessionId next = session_of(1);
  ASSERT_EQ(next.index, old.index);
  EXPECT_EQ(server->messages().send<Said>(old, MessageChannel::Ordered, words("late")).error(),
            QueueError::NoSession);
  EXPECT_EQ(server->send_event<Hit>(old, MessageChannel::Ordered, near, hit(1)).error(), EventError::NotSeen);
  ASSERT_TRUE(server->messages().send<Said>(next, MessageChannel::Ordered, words("yours")));
  run_seconds(2);
  EXPECT_THAT(heard[0]->said, IsEmpty());
  EXPECT_THAT(heard[1]->said, ElementsAre("yours"));
}

// T13: a client that comes again has nothing of its session before: no events that waited, no open requests.
TEST_F(MessagesTest, ClientThatComesAgainBeginsWithEmptyRoutersAndItsOldHandlers) {
  start_small();
  Client& client = add_listener();
  run_seconds(1);
  // About a state that will never be there.
  ASSERT_TRUE(server->messages().send_event<Hit>(session_of(0), MessageChannel::Unordered, near.bits(),
                                                 server->tick() + 1000, hit(9)));
  std::size_t ended = 0;
  ASSERT_TRUE((client.messages().request<Chat, Said>(
      {}, MessageChannel::Ordered,
      [](MessageRouter::Builder& builder) { return demo::CreateChat(builder, builder.CreateString("?")); },
      clock.now(), seconds(60), [&](Result<const Said*, RequestError> answer) { ended += !answer.ok(); })));
  run_ticks(1);
  EXPECT_EQ(client.messages().events().size(), 1u);
  client.close();
  EXPECT_EQ(ended, 1u);
  EXPECT_EQ(client.messages().events().size(), 0u);
  EXPECT_EQ(client.messages().waiting_requests(), 0u);
  run_seconds(0.2);
  client.connect();
  run_seconds(1);
  ASSERT_EQ(client.state(), ClientState::Connected);
  EXPECT_EQ(server->send_event_to_all<Hit>(MessageChannel::Unordered, near, hit(4)), 1u);
  run_seconds(2);
  EXPECT_THAT(heard[0]->hits, ElementsAre(4));
}

// P12: a burst of messages starved state for a minute.
TEST_F(MessagesTest, BurstOfMessagesDoesNotStarveState) {
  std::vector<Entity> crowd;
  game.begin = [&](Registry& registry) {
    begin(registry);
    for (int i = 0; i < 120; ++i) {
      crowd.push_back(registry.create());
      registry.emplace<Position>(crowd.back(), static_cast<float>(i % 12), static_cast<float>(i) / 12, 0.0f);
    }
  };
  each_tick = [&](Registry& registry, Tick tick) {
    for (const Entity entity : crowd) registry.get<Position>(entity).x = static_cast<float>(tick.value % 20);
  };
  ServerConfig config;
  config.client_bytes_per_second = 30'000;
  start_small(config);
  add_listener();
  run_seconds(3);
  const auto oldest_of = [&](double length) {
    std::uint32_t oldest = 0;
    run_seconds(length, [&] { oldest = std::max(oldest, update_age(0)); });
    return oldest;
  };
  const std::uint32_t before = oldest_of(4);
  for (int i = 0; i < 16; ++i)
    ASSERT_TRUE(server->messages().send<Said>(session_of(0), MessageChannel::Ordered,
                                              words(std::string(50'000, 'x'))));
  const std::uint32_t during = oldest_of(8);
  EXPECT_LE(during, 3 * before + 6) << "state has at least half of the budget";
  EXPECT_GT(heard[0]->said.size(), 0u) << "and messages get on";
}

}  // namespace
}  // namespace shoal::test
