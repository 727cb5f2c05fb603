#include "shared/net/player_id.hpp"

#include <sodium.h>

#include <algorithm>

namespace shoal {
namespace {

PlayerId first_half(const Digest256& digest) {
  PlayerId player;
  std::copy_n(digest.begin(), player.bytes.size(), player.bytes.begin());
  return player;
}

}  // namespace

PlayerId player_of_key(const PublicKey& player_key) {
  return first_half(Hasher("shoal player of key").add(player_key).finish());
}

PlayerId player_of_ticket(std::string_view player_name) {
  return first_half(Hasher("shoal player of ticket").add(std::as_bytes(std::span(player_name))).finish());
}

std::string to_string(const PlayerId& player) {
  std::string text(2 * player.bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), player.bytes.data(), player.bytes.size());
  text.pop_back();
  return text;
}

std::optional<PlayerId> parse_player_id(std::string_view text) {
  PlayerId player;
  std::size_t bytes = 0;
  if (text.size() != 2 * player.bytes.size() ||
      sodium_hex2bin(player.bytes.data(), player.bytes.size(), text.data(), text.size(), nullptr, &bytes,
                     nullptr) != 0 ||
      bytes != player.bytes.size()) {
    return std::nullopt;
  }
  return player;
}

}  // namespace shoal
