// Who a player is, for the server and the game: 16 bytes that stay the same from session to session.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "shared/net/keys.hpp"

namespace shoal {

/// Hash of the client's long-lived key, or of the name in the matchmaker's ticket. The zero names nobody.
struct PlayerId {
  std::array<std::uint8_t, 16> bytes{};

  friend constexpr auto operator<=>(const PlayerId&, const PlayerId&) = default;
};

PlayerId player_of_key(const PublicKey& player_key);
PlayerId player_of_ticket(std::string_view player_name);

/// 32 lower-case hexadecimal digits.
std::string to_string(const PlayerId& player);
/// None: not 32 hexadecimal digits.
std::optional<PlayerId> parse_player_id(std::string_view text);

}  // namespace shoal

template <>
struct std::hash<shoal::PlayerId> {
  std::size_t operator()(const shoal::PlayerId& player) const noexcept {
    // The bytes are a hash already.
    std::size_t value = 0;
    std::memcpy(&value, player.bytes.data(), sizeof value);
    return value;
  }
};
