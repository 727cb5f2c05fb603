#include "seed_game.hpp"

#include <algorithm>
#include <cmath>

#include "seed_descriptors.hpp"

namespace seed {
namespace {

constexpr int kApples = 40;
constexpr float kSpeed = 8;  // metres per second
constexpr float kReach = 0.5f;
constexpr float kEdge = 64;

}  // namespace

std::array<std::byte, 2> encode_input(Input input) {
  return {static_cast<std::byte>(input.x + 1), static_cast<std::byte>(input.y + 1)};
}

std::optional<Input> decode_input(std::span<const std::byte> bytes) {
  if (bytes.size() != 2 || bytes[0] > std::byte{2} || bytes[1] > std::byte{2}) return std::nullopt;
  const auto direction = [](std::byte byte) {
    return static_cast<std::int8_t>(std::to_integer<int>(byte) - 1);
  };
  return Input{direction(bytes[0]), direction(bytes[1])};
}

std::span<const shoal::ComponentDescriptor> SeedGame::components() const {
  return component_descriptors();
}

void SeedGame::register_components(shoal::Registry& registry) {
  seed::register_components(registry);
  // Components that only the server knows are registered here: registry.register_component<Fuse>("seed.Fuse").
}

void SeedGame::register_systems(shoal::Schedule& schedule) {
  // Says by its parameters what it touches, so it may run beside others and in pieces.
  schedule.add_each("move", [seconds = tick_seconds_](Position& position, const Velocity& velocity) {
    position.x = std::clamp(position.x + velocity.x * seconds, -kEdge, kEdge);
    position.y = std::clamp(position.y + velocity.y * seconds, -kEdge, kEdge);
  });
  // Takes the whole world, so it runs alone.
  schedule.add("gather", [this](shoal::Registry& registry, shoal::Tick) { gather(registry); });
}

void SeedGame::start(shoal::Registry& registry) {
  for (int i = 0; i < kApples; ++i) {
    const shoal::Entity apple = registry.create();
    registry.emplace<Position>(apple, somewhere());
    registry.emplace<Apple>(apple);
  }
}

shoal::Entity SeedGame::spawn_player(shoal::Registry& registry, shoal::PlayerNumber number, shoal::Tick) {
  const shoal::Entity player = registry.create();
  registry.emplace<Position>(player, somewhere());
  registry.emplace<Velocity>(player);
  registry.emplace<Player>(player, Player{.number = static_cast<std::uint16_t>(number.value), .apples = 0});
  return player;
}

bool SeedGame::apply_input(shoal::Registry& registry, shoal::Entity player, shoal::Tick,
                           std::span<const std::byte> input) {
  const auto wanted = decode_input(input);
  if (!wanted) return false;
  if (!registry.all_of<Velocity>(player)) return true;
  const Velocity velocity{kSpeed * static_cast<float>(wanted->x), kSpeed * static_cast<float>(wanted->y)};
  // Looks first: what stays the same is not marked, and so not sent.
  const Velocity& now = registry.get<const Velocity>(player);
  if (now.x != velocity.x || now.y != velocity.y) registry.replace<Velocity>(player, velocity);
  return true;
}

void SeedGame::player_left(shoal::Registry& registry, shoal::Entity player, shoal::CloseReason) {
  if (registry.alive(player)) registry.destroy(player);
}

Position SeedGame::somewhere() {
  return {random_.uniform(-20, 20), random_.uniform(-20, 20)};
}

void SeedGame::gather(shoal::Registry& registry) {
  for (auto [player, at, score] : registry.view<const Position, const Player>()) {
    for (auto [apple, place] : registry.view<const Position, const Apple>()) {
      if (std::abs(at.x - place.x) > kReach || std::abs(at.y - place.y) > kReach) continue;
      registry.patch<Player>(player, [](Player& changed) { ++changed.apples; });
      registry.replace<Position>(apple, somewhere());  // it grows elsewhere
    }
  }
}

}  // namespace seed
