// A whole server program around a game: options, files, port, service, report, exit code. The demo's main is one call
// of it, and so is that of a game of your own:
//
//   int main(int argc, char** argv) {
//     return shoal::run_server(argc, argv, {.make_game = [](const shoal::ServerOptions& options) {…}});
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "server/game.hpp"
#include "server/options.hpp"

namespace shoal {

struct ServerProgram {
  /// The most that --entities takes.
  std::uint32_t max_entities = 1u << 17;
  std::function<std::unique_ptr<Game>(const ServerOptions& options)> make_game;
};

/// Returns the exit code: 0 when all went well, 1 when a mirror differed or was never compared, 2 when an option or a
/// file is wrong, 3 when a second SIGTERM took the rest of their time from players, 4 when the
/// world could not be saved in the end.
int run_server(int argc, char** argv, const ServerProgram& program);

}  // namespace shoal
