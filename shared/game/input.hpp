// What a player wants to do in one tick, and its bytes on the wire. Bytes come from a peer, so decoding
// checks all of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/base/result.hpp"

namespace shoal::demo {

struct PlayerInput {
  float move_x = 0;       // -1 to 1
  float move_y = 0;       // -1 to 1
  float aim_degrees = 0;  // -180 to 180, from the x axis towards the y axis
  bool fire = false;

  friend bool operator==(const PlayerInput&, const PlayerInput&) = default;
};

// Five bytes, little-endian:
//
//   0        flags: bit 0 fire, the others are 0
//   1        move_x · 127, signed; -128 does not occur
//   2        move_y · 127, signed; -128 does not occur
//   3 … 4    aim: (aim_degrees + 180) / 360 · 65536, modulo 65536
inline constexpr std::size_t kInputBytes = 5;

enum class InputError : std::uint8_t {
  WrongSize,       // Not an input of this game: the client was built from other sources.
  UnknownFlags,    // A newer client presses a button that we do not know: update the server.
  MoveOutOfRange,  // No honest client sends this: drop the input and count it.
};

/// Values out of range are clamped, what is no number becomes 0.
std::array<std::byte, kInputBytes> encode_input(const PlayerInput& input);
/// Decoding and encoding again gives the same bytes.
Result<PlayerInput, InputError> decode_input(std::span<const std::byte> bytes);

}  // namespace shoal::demo
