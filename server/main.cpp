// shoal-server: the demo world.

#include "server/demo/demo_game.hpp"
#include "server/service/program.hpp"

int main(int argc, char** argv) {
  const auto make_game = [](const shoal::ServerOptions& options) {
    return std::make_unique<shoal::demo::DemoGame>(shoal::demo::GameConfig{
        .entities = options.entities, .seed = options.seed, .tick_rate = options.server.tick_rate_hz});
  };
  return shoal::run_server(argc, argv, {.max_entities = shoal::demo::kMaxEntities, .make_game = make_game});
}
