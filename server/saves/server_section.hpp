// What a save says of the server beside the world (schema/saves.fbs), as a section of the image.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/absent_players.hpp"
#include "shared/base/tick.hpp"
#include "shared/image/image.hpp"

namespace shoal {

inline constexpr std::string_view kServerSection = "shoal.server";

struct ServerSection {
  std::string program;  // with its version
  Tick tick;
  std::uint32_t newest_player = 0;
  std::vector<SavedPlayer> players;
};

ImageSection encode_server_section(const ServerSection& section);
/// None: there is no such section, or it is not one.
std::optional<ServerSection> decode_server_section(std::span<const ImageSection> sections);

}  // namespace shoal
