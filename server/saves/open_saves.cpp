#include "server/saves/open_saves.hpp"

#include <fmt/format.h>

#include "server/saves/folder_disk.hpp"
#include "server/saves/world_loader.hpp"
#include "shared/base/log.hpp"
#include "shared/ecs/world_copy.hpp"

namespace shoal {
namespace {

// What would make every save fail, known before the first.
std::optional<std::string> why_not_saved(const Registry& world, const Registry& twin,
                                         const ImageTypes& types) {
  if (std::string obstacle = copy_obstacle(world, twin); !obstacle.empty()) return obstacle;
  const auto image = save_image(twin, types);
  if (!image) return image.error().text;
  return std::nullopt;
}

}  // namespace

Saves::Saves(std::unique_ptr<SaveDisk> folder, const SaveOptions& options, ImageTypes image_types,
             std::string program_name)
    : disk(std::move(folder)),
      store(*disk, options.folder, options.keep),
      types(std::move(image_types)),
      program(std::move(program_name)) {}

Result<std::unique_ptr<Saves>, std::string> open_saves(const SaveOptions& options, Game& game,
                                                       std::uint32_t max_entities, std::string program) {
  auto disk = std::make_unique<FolderDisk>(options.folder);
  if (const auto error = disk->make())
    return Failure{
        fmt::format("--save-dir {}: {}", options.folder, describe_disk_error(error, options.folder))};
  return open_saves(std::move(disk), options, game, max_entities, std::move(program));
}

Result<std::unique_ptr<Saves>, std::string> open_saves(std::unique_ptr<SaveDisk> disk,
                                                       const SaveOptions& options, Game& game,
                                                       std::uint32_t max_entities, std::string program) {
  auto types = game.image_types();
  if (!types) {
    return Failure{std::string(
        "--save-dir: this game does not say how its world is saved (Game::image_types); leave the "
        "option out")};
  }
  auto saves = std::make_unique<Saves>(std::move(disk), options, *std::move(types), std::move(program));
  saves->twin = make_twin(game, max_entities);
  if (const auto why_not = why_not_saved(*make_twin(game, max_entities), *saves->twin, saves->types))
    return Failure{"--save-dir: this world cannot be saved: " + *why_not};
  if (const auto why_not = saves->store.open()) return Failure{"--save-dir: " + *why_not};
  auto loaded = load_newest(saves->store, game, saves->types, max_entities, saves->program);
  if (!loaded) return Failure{"--save-dir: " + loaded.error()};
  if (!*loaded) {
    log_info("no world was saved in {} yet: a new one begins", options.folder);
    return saves;
  }
  LoadedWorld& world = **loaded;
  log_info("the world goes on from {}/{}: tick {}, {} entities", options.folder, world.name,
           world.server.tick.value, world.registry->alive_count());
  saves->loaded = std::move(world.server);
  saves->twin = std::move(world.registry);
  return saves;
}

}  // namespace shoal
