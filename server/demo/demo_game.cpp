#include "server/demo/demo_game.hpp"

#include <chrono>
#include <thread>

#include "schema/components_descriptors.hpp"
#include "schema/messages_generated.h"
#include "shared/base/fault.hpp"
#include "shared/base/little_endian.hpp"
#include "shared/base/log.hpp"
#include "shared/game/player.hpp"
#include "shared/game/saved_state.hpp"
#include "shared/game/server_components.hpp"
#include "shared/game/spawn.hpp"
#include "shared/game/state.hpp"
#include "shared/game/systems.hpp"

namespace shoal::demo {
namespace {

constexpr std::size_t kMaxChatBytes = 200;
constexpr std::string_view kStateSection = "demo.state";
constexpr std::size_t kWeaponBytes = 5;

// By hand: as bytes in memory it would have some that nobody set.
void write_weapon(const Weapon& weapon, std::vector<std::byte>& target) {
  std::array<std::byte, kWeaponBytes> bytes;
  store_little_endian(bytes.data(), weapon.ready.value);
  bytes.back() = static_cast<std::byte>(weapon.trigger);
  target.insert(target.end(), bytes.begin(), bytes.end());
}
std::optional<Weapon> read_weapon(std::span<const std::byte> bytes) {
  if (bytes.size() != kWeaponBytes || std::to_integer<unsigned>(bytes[4]) > 1) return std::nullopt;
  Weapon weapon;
  weapon.ready.value = load_little_endian<std::uint32_t>(bytes.data());
  weapon.trigger = bytes[4] != std::byte{0};
  return weapon;
}

template <class T>
void tell_if_other(std::string_view option, T asked, T saved) {
  if (asked != saved) log_info("--{} {} has no effect: the saved world has {}", option, asked, saved);
}

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
    if (!messages.may_relay(source.session)) return;
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

std::optional<ImageTypes> DemoGame::image_types() const {
  ImageTypes types;
  types.add(component_descriptors());
  for (const char* name : {"Lifetime", "Brain", "BurningTimer", "InvulnerableTimer", "HasteTimer"})
    types.add_opaque(std::string("shoal.demo.server.") + name);
  types.add_encoded<Weapon>("shoal.demo.server.Weapon", write_weapon, read_weapon);
  return types;
}

std::vector<ImageSection> DemoGame::save_sections(const Registry& registry) const {
  const auto& state = registry.resources().get<GameState>();
  return {{std::string(kStateSection), encode_saved_state({state.config, state.spawned})}};
}

void DemoGame::prepare_save(Registry& copy) const {
  include_spawn_points(copy);
}

std::optional<std::string> DemoGame::read_sections(std::span<const ImageSection> sections) {
  for (const ImageSection& section : sections) {
    if (section.name != kStateSection) continue;
    const auto saved = decode_saved_state(section.bytes);
    if (!saved) return "its section demo.state is not one that this program knows";
    tell_if_other("seed", asked_.seed, saved->config.seed);
    tell_if_other("entities", asked_.entities, saved->config.entities);
    config_ = saved->config;
    config_.tick_rate = asked_.tick_rate;
    spawned_ = saved->spawned;
    return std::nullopt;
  }
  return "it has no section demo.state, so it is of another game";
}

void DemoGame::resume(Registry& registry, Tick) {
  resume_world(registry, config_, spawned_);
}

}  // namespace shoal::demo
