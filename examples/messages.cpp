// What a server and its clients tell each other beside the world: words for all, an event about an entity, a question and
// its answer. docs/messages.md shows the lines between the marks; the tests compile and run them.
#include <algorithm>
#include <cstdio>
#include <string>

#include "client/client.hpp"
#include "examples/campfire.hpp"
#include "examples/campfire_descriptors.hpp"
#include "examples/campfire_messages_generated.h"
#include "server/server.hpp"
#include "shared/net/handshake.hpp"
#include "shared/net/simulated_network.hpp"

using namespace campfire;
using namespace shoal;

namespace {

class Campfire final : public Game {
 public:
  std::span<const ComponentDescriptor> components() const override { return component_descriptors(); }
  void register_components(Registry& registry) override { campfire::register_components(registry); }
  void register_systems(Schedule&) override {}
  void start(Registry& registry) override {
    fire_ = registry.create();
    registry.emplace<Fire>(fire_, std::uint8_t{3});
  }
  Entity spawn_player(Registry& registry, PlayerNumber, Tick) override { return registry.create(); }
  bool apply_input(Registry&, Entity, Tick, std::span<const std::byte>) override { return true; }
  void player_left(Registry& registry, Entity player, CloseReason) override { registry.destroy(player); }
  void register_messages(GameMessages& messages) override;
  void after_tick(const Registry& registry, GameMessages& messages, Tick tick) override;

 private:
  Entity fire_;
  std::uint16_t wood_ = 10;
};

// messages.md: begin handle
void Campfire::register_messages(GameMessages& messages) {
  MessageRouter& router = messages.messages();
  router.on<Say>([&messages, &router](const MessageSource& source, const Say& say) {
    if (say.words() == nullptr || say.words()->size() > 200) return;  // what is inside is ours to check
    if (!messages.may_relay(source.session)) return;  // else one client fills the queues of all
    const unsigned speaker = messages.player_of(source.session)->value;
    const std::string words = "player " + std::to_string(speaker) + ": " + say.words()->str();
    messages.for_each_session([&](SessionId session) {
      (void)router.send<Say>(session, MessageChannel::Ordered, [&](MessageRouter::Builder& builder) {
        return CreateSay(builder, builder.CreateString(words));
      });
    });
  });
  router.on_request<AskForWood, Wood>(
      [this](const MessageSource&, const AskForWood& ask, MessageRouter::Builder& builder) {
        const auto logs = static_cast<std::uint8_t>(std::min<std::uint16_t>(ask.logs(), wood_));
        wood_ = static_cast<std::uint16_t>(wood_ - logs);
        return CreateWood(builder, logs, wood_);
      });
}
// messages.md: end

// messages.md: begin event
void Campfire::after_tick(const Registry& registry, GameMessages& messages, Tick tick) {
  if (tick.value % 30 != 0) return;
  const auto sparks = static_cast<std::uint16_t>(registry.get<const Fire>(fire_).logs * 10);
  messages.send_event_to_all<Crackle>(MessageChannel::Unordered, fire_, [&](MessageRouter::Builder& builder) {
    return CreateCrackle(builder, sparks);
  });
}
// messages.md: end

// messages.md: begin listen
void listen(Client& client) {
  client.messages().on<Say>([](const MessageSource&, const Say& say) {
    if (say.words() == nullptr) return;  // a field that is absent
    std::printf("%s\n", printable(say.words()->string_view()).c_str());
  });
  client.messages().on_event<Crackle>(
      [&client](const MessageSource&, const EventInfo& event, const Crackle& crackle) {
        const Fire* fire = client.registry()->try_get<const Fire>(Entity::from_bits(event.entity));
        if (fire == nullptr) return;  // it came late, and the fire is out of sight or out
        std::printf("%u sparks of a fire with %u logs\n", unsigned{crackle.sparks()}, unsigned{fire->logs});
      });
}
// messages.md: end

// messages.md: begin ask
void speak(Client& client, Time now) {
  (void)client.messages().send<Say>({}, MessageChannel::Ordered, [](MessageRouter::Builder& builder) {
    return CreateSay(builder, builder.CreateString("it is cold"));
  });
  (void)client.messages().request<AskForWood, Wood>(
      {}, MessageChannel::Ordered,
      [](MessageRouter::Builder& builder) { return CreateAskForWood(builder, 4); }, now, seconds(5),
      [](Result<const Wood*, RequestError> wood) {
        if (wood.ok()) {
          std::printf("got %u logs, %u are left\n", unsigned{(*wood)->logs()}, unsigned{(*wood)->left()});
        } else {
          std::puts("no wood: nobody answered in time, or gives any, or the session ended");
        }
      });
}
// messages.md: end

}  // namespace

int main() {
  ManualClock clock;
  SeededEntropy entropy(1);
  SimulatedNetwork network(clock, 1);
  network.set_default_link({.loss_percent = 10, .latency = milliseconds(20)});
  const auto server_port = network.open(Endpoint::ipv4(10, 0, 0, 1, 7777));
  const auto client_port = network.open(Endpoint::ipv4(10, 0, 0, 2, 4000));

  Campfire game;
  Server server(game, *server_port, clock, entropy, ServerConfig{});
  ClientConfig config;
  config.server = server_port->local();
  config.components = component_descriptors();
  config.register_components = register_components;
  Client client(*client_port, clock, entropy, config);
  listen(client);
  client.connect();
  bool has_spoken = false;
  for (int tick = 0; tick < 70; ++tick) {
    clock.advance(Duration(seconds(1)) / 30);
    server.poll();
    server.run_tick();
    client.poll();
    if (client.state() != ClientState::Connected) continue;
    client.send_update();
    if (!has_spoken) speak(client, clock.now());
    has_spoken = true;
  }
}
