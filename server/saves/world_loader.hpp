// The newest save that can be read, before there is a server.
//
// What is damaged (cut off, changed bytes, garbage) is set aside when an older one is good. What is whole and cannot be
// used here, as a later program wrote it or the game has changed, is never passed over: the error says which program wrote
// it, and every file stays where it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "server/game.hpp"
#include "server/saves/save_store.hpp"
#include "server/saves/server_section.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal {

struct LoadedWorld {
  std::string name;  // of the save
  std::unique_ptr<Registry> registry;
  ServerSection server;
};

/// An empty registry with the types of the game's world.
std::unique_ptr<Registry> make_twin(Game& game, std::uint32_t max_entities);

/// None: nothing was ever saved in that folder. Otherwise the game has read its sections (Game::read_sections).
/// `program` is this one, with its version.
Result<std::optional<LoadedWorld>, std::string> load_newest(SaveStore& store, Game& game,
                                                            const ImageTypes& types,
                                                            std::uint32_t max_entities,
                                                            const std::string& program);

}  // namespace shoal
