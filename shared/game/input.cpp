#include "shared/game/input.hpp"

#include "shared/base/little_endian.hpp"
#include "shared/game/vector.hpp"

namespace shoal::demo {
namespace {

constexpr std::uint8_t kFireFlag = 1;

std::byte encode_move(float value) {
  const float clamped = value > 1 ? 1 : value < -1 ? -1 : value == value ? value : 0;
  const float scaled = clamped * 127;
  return static_cast<std::byte>(static_cast<std::int8_t>(scaled + (scaled < 0 ? -0.5f : 0.5f)));
}

float decode_move(std::byte byte) {
  return static_cast<float>(static_cast<std::int8_t>(byte)) / 127;
}

std::uint16_t encode_aim(float degrees) {
  // Beyond this a float has no fractions of a degree, and infinity has no angle at all.
  const bool sensible = degrees > -1e6f && degrees < 1e6f;
  const float turn = sensible ? (wrapped_degrees(degrees) + 180) / 360 : 0.5f;
  return static_cast<std::uint16_t>(static_cast<std::uint32_t>(turn * 65536 + 0.5f));
}

}  // namespace

std::array<std::byte, kInputBytes> encode_input(const PlayerInput& input) {
  const std::uint16_t aim = encode_aim(input.aim_degrees);
  std::array<std::byte, kInputBytes> bytes{static_cast<std::byte>(input.fire ? kFireFlag : 0),
                                           encode_move(input.move_x), encode_move(input.move_y)};
  store_little_endian(&bytes[3], aim);
  return bytes;
}

Result<PlayerInput, InputError> decode_input(std::span<const std::byte> bytes) {
  if (bytes.size() != kInputBytes) return Failure{InputError::WrongSize};
  const auto flags = std::to_integer<std::uint8_t>(bytes[0]);
  if ((flags & ~kFireFlag) != 0) return Failure{InputError::UnknownFlags};
  constexpr auto kNoMove = static_cast<std::byte>(0x80);
  if (bytes[1] == kNoMove || bytes[2] == kNoMove) return Failure{InputError::MoveOutOfRange};
  const auto aim = load_little_endian<std::uint16_t>(&bytes[3]);
  PlayerInput input;
  input.move_x = decode_move(bytes[1]);
  input.move_y = decode_move(bytes[2]);
  input.aim_degrees = static_cast<float>(aim) * (360.0f / 65536) - 180;
  input.fire = (flags & kFireFlag) != 0;
  return input;
}

}  // namespace shoal::demo
