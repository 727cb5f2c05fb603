// The JSON of Agones' side-car: what it says of this game server, and what it is told. 64-bit integers travel as
// strings; both forms are read. The library behind it is in the .cpp alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "shared/base/result.hpp"
#include "shared/base/time.hpp"

namespace shoal {

/// What of the game server's object matters here.
struct GameServer {
  std::string name;
  std::string state;
  bool is_being_deleted = false;
  bool wants_health = true;
  /// How often it wants to hear that the server is well.
  Duration health_period = seconds(5);
};

/// From the answer to GET /gameserver. The error says what is missing; unknown fields are nobody's business.
Result<GameServer, std::string> read_game_server(std::string_view json);
/// What went wrong, from an answer with an error status: its message, or the text itself, on one line and cut.
std::string read_error(std::string_view body);

std::string key_value_body(std::string_view key, std::string_view value);
/// Whole seconds, rounded up.
std::string reserve_body(Duration time);
std::string counter_body(std::uint32_t count, std::uint32_t capacity);

}  // namespace shoal
