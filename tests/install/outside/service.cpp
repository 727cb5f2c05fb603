// The whole program around a game of one's own: options, files, admin port.
#include "farm_game.hpp"
#include "server/service/program.hpp"

int main(int argc, char** argv) {
  return shoal::run_server(argc, argv, {.make_game = [](const shoal::ServerOptions&) {
                             return std::make_unique<farm::FarmGame>();
                           }});
}
