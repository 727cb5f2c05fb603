// What a saved demo world has beside its entities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shared/game/config.hpp"

namespace shoal::demo {

struct SavedState {
  GameConfig config;  // the rate of ticks is not saved
  std::uint64_t spawned = 0;
};

// 32 bytes, little-endian:
//
//    0   4  version: 1
//    4   4  entities
//    8   8  seed
//   16   8  spawned
//   24   4  world_half_size, float
//   28   4  zero
std::vector<std::byte> encode_saved_state(const SavedState& state);
/// None: another version, another size, or numbers that no world has.
std::optional<SavedState> decode_saved_state(std::span<const std::byte> bytes);

}  // namespace shoal::demo
