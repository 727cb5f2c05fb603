// The game: players run about and gather apples. What runs on the server is here; what client and server share is the
// schema and the bytes of an input.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "seed.hpp"
#include "server/game.hpp"
#include "shared/base/random.hpp"

namespace seed {

/// Where a player wants to run: each of x and y is -1, 0 or 1.
struct Input {
  std::int8_t x = 0;
  std::int8_t y = 0;
};
std::array<std::byte, 2> encode_input(Input input);
/// None for bytes that are no input: they come from a peer, who may send anything.
std::optional<Input> decode_input(std::span<const std::byte> bytes);

class SeedGame final : public shoal::Game {
 public:
  explicit SeedGame(std::uint32_t tick_rate_hz) : tick_seconds_(1.0f / static_cast<float>(tick_rate_hz)) {}

  std::span<const shoal::ComponentDescriptor> components() const override;
  void register_components(shoal::Registry& registry) override;
  void register_systems(shoal::Schedule& schedule) override;
  void start(shoal::Registry& registry) override;
  shoal::Entity spawn_player(shoal::Registry& registry, shoal::PlayerNumber number,
                             shoal::Tick tick) override;
  bool apply_input(shoal::Registry& registry, shoal::Entity player, shoal::Tick tick,
                   std::span<const std::byte> input) override;
  void player_left(shoal::Registry& registry, shoal::Entity player, shoal::CloseReason reason) override;

 private:
  void gather(shoal::Registry& registry);
  Position somewhere();

  float tick_seconds_;
  shoal::Random random_{7};
};

}  // namespace seed
