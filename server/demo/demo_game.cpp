#include "server/demo/demo_game.hpp"

#include <chrono>
#include <thread>

#include "schema/components_descriptors.hpp"
#include "schema/messages_generated.h"
#include "shared/base/fault.hpp"
#include "shared/game/player.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/state.hpp"
#include "shared/game/systems.hpp"

namespace shoal::demo {
namespace {

constexpr std::size_t kMaxChatBytes = 200;

}  // namespace

std::span<const ComponentDescriptor> DemoGame::components() const {
  return component_descriptors();
}

void DemoGame::register_components(Registry& registry) {
  register_all_components(registry);
}

void DemoGame::register_systems(Schedule& schedule) {
  schedule.set_seed(config_.seed);
  demo::register_systems(schedule);
  if (fault("stall-in-a-system")) {
    schedule.add("sleepwalk", [](Registry&, Tick tick) {
      if (tick.value == 30) std::this_thread::sleep_for(std::chrono::seconds(6));
    });
  }
}

void DemoGame::start(Registry& registry) {
  create_world(registry, config_);
}

Entity DemoGame::spawn_player(Registry& registry, shoal::PlayerNumber number, Tick tick) {
  return demo::spawn_player(registry, PlayerNumber{static_cast<std::uint16_t>(number.value)}, tick);
}

bool DemoGame::apply_input(Registry& registry, Entity player, Tick, std::span<const std::byte> input) {
  const auto decoded = decode_input(input);
  if (!decoded.ok()) return false;
  demo::apply_input(registry, player, *decoded);
  return true;
}

void DemoGame::player_left(Registry& registry, Entity player, CloseReason) {
  despawn_player(registry, player);
}

void DemoGame::player_absent(Registry& registry, Entity player, CloseReason) {
  rest_player(registry, player);
}

void DemoGame::register_messages(GameMessages& messages) {
  messages.messages().on<Chat>([&messages](const MessageSource& source, const Chat& chat) {
    if (chat.words() == nullptr || chat.words()->size() > kMaxChatBytes) return;
    messages.send_event_to_all<Said>(MessageChannel::Ordered, messages.entity_of(source.session),
                                     [&](MessageRouter::Builder& builder) {
                                       return CreateSaid(builder, builder.CreateString(chat.words()));
                                     });
  });
}

void DemoGame::after_tick(const Registry& registry, GameMessages& messages, Tick) {
  // Who died of it is seen no more: its end says enough.
  for (const Impact& impact : registry.resources().get<GameState>().impacts) {
    messages.send_event_to_all<Hit>(
        MessageChannel::Unordered, impact.body,
        [&](MessageRouter::Builder& builder) { return CreateHit(builder, impact.damage); });
  }
}

}  // namespace shoal::demo
