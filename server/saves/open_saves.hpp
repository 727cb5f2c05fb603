// What a server needs to save its world, made ready before the server is: the folder, and the world that goes on.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "server/game.hpp"
#include "server/options.hpp"
#include "server/saves/save_disk.hpp"
#include "server/saves/save_store.hpp"
#include "server/saves/server_section.hpp"
#include "shared/ecs/registry.hpp"

namespace shoal {

struct Saves {
  Saves(std::unique_ptr<SaveDisk> folder, const SaveOptions& options, ImageTypes image_types,
        std::string program_name);

  std::unique_ptr<SaveDisk> disk;
  SaveStore store;
  ImageTypes types;
  std::string program;  // with its version
  /// The world's twin: at first what was loaded, then what is being saved.
  std::unique_ptr<Registry> twin;
  /// What the newest save says; none: a new world begins.
  std::optional<ServerSection> loaded;
};

/// Opens the folder, which is made where there is none, and loads the newest good save, if there is one. The error says
/// why this server must not start. REQUIRES: options.folder is not empty.
Result<std::unique_ptr<Saves>, std::string> open_saves(const SaveOptions& options, Game& game,
                                                       std::uint32_t max_entities, std::string program);
/// The same on a disk of the caller's.
Result<std::unique_ptr<Saves>, std::string> open_saves(std::unique_ptr<SaveDisk> disk,
                                                       const SaveOptions& options, Game& game,
                                                       std::uint32_t max_entities, std::string program);

}  // namespace shoal
