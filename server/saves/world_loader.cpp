#include "server/saves/world_loader.hpp"

#include <fmt/format.h>

#include "shared/base/log.hpp"
#include "shared/ecs/affiliation.hpp"

namespace shoal {
namespace {

bool is_damage(ImageFault fault) {
  return fault == ImageFault::Foreign || fault == ImageFault::Truncated || fault == ImageFault::Damaged;
}

std::string kept(const SaveStore& store, const std::string& name, const std::string& why) {
  return fmt::format(
      "{}/{} cannot be used: {}. Nothing was changed. To go on from the save before it, move this one to "
      "another folder",
      store.folder(), name, why);
}

class Loader {
 public:
  Loader(SaveStore& store, Game& game, const ImageTypes& types, std::uint32_t max_entities,
         const std::string& program)
      : store_(store), game_(game), types_(types), max_entities_(max_entities), program_(program) {}

  struct Damage {
    std::string name;
    std::string why;
  };
  struct Attempt {
    std::optional<LoadedWorld> world;
    std::optional<Damage> damage;
    std::string refusal;  // when there is neither
  };

  Attempt attempt(const std::string& name) {
    const auto bytes = store_.read(name);
    if (!bytes && bytes.error() == std::errc::io_error)
      return damaged(name, describe_disk_error(bytes.error(), store_.folder()));
    if (!bytes) return refused(name, describe_disk_error(bytes.error(), store_.folder()));
    LoadedWorld world{name, make_twin(game_, max_entities_), {}};
    const auto image = load_image(*world.registry, *bytes, types_);
    if (!image && is_damage(image.error().fault)) return damaged(name, image.error().text);
    if (!image) return refused(name, image.error().text + written_by(*bytes));
    const auto server = decode_server_section(image->sections);
    if (!server) return refused(name, "it is an image of a world, but no save of a server");
    world.server = *server;
    std::vector<ImageSection> sections;
    for (const ImageSection& section : image->sections) {
      if (section.name != kServerSection) sections.push_back(section);
    }
    if (const auto why_not = game_.read_sections(sections))
      return refused(name, *why_not + written_by(*bytes));
    for (const std::string& note : image->notes) log_info("{}: {}", name, note);
    return {std::move(world), std::nullopt, {}};
  }

 private:
  static Attempt damaged(const std::string& name, const std::string& why) {
    return {std::nullopt, Damage{name, why}, {}};
  }
  Attempt refused(const std::string& name, const std::string& why) const {
    return {std::nullopt, std::nullopt, kept(store_, name, why)};
  }
  std::string written_by(std::span<const std::byte> image) const {
    const auto sections = image_sections(image);
    const auto server = sections ? decode_server_section(*sections) : std::nullopt;
    if (!server)
      return fmt::format(" (this is {}; who wrote it cannot be told: start that program)", program_);
    return fmt::format(" ({} wrote it, this is {}: start the program that wrote it, or one that is as new)",
                       server->program, program_);
  }

  SaveStore& store_;
  Game& game_;
  const ImageTypes& types_;
  std::uint32_t max_entities_;
  const std::string& program_;
};

}  // namespace

std::unique_ptr<Registry> make_twin(Game& game, std::uint32_t max_entities) {
  auto registry = std::make_unique<Registry>(RegistryLimits{.max_entities = max_entities});
  game.register_components(*registry);
  register_affiliation(*registry);
  registry->freeze();
  registry->log().set_enabled(false);  // nobody reads it
  return registry;
}

Result<std::optional<LoadedWorld>, std::string> load_newest(SaveStore& store, Game& game,
                                                            const ImageTypes& types,
                                                            std::uint32_t max_entities,
                                                            const std::string& program) {
  const auto listing = store.list();
  if (!listing) return Failure{listing.error()};
  if (listing->saves.empty() && listing->damaged.empty()) return std::optional<LoadedWorld>();
  Loader loader(store, game, types, max_entities, program);
  std::vector<Loader::Damage> damages;
  for (const std::string& name : listing->saves) {
    Loader::Attempt attempt = loader.attempt(name);
    if (attempt.damage) {
      damages.push_back(*std::move(attempt.damage));
      continue;
    }
    if (!attempt.world) return Failure{std::move(attempt.refusal)};
    for (const Loader::Damage& damage : damages) {
      log_error("{} is damaged and was set aside as {}.damaged: {}", damage.name, damage.name, damage.why);
      if (const auto why_not = store.set_aside(damage.name)) log_error("{}", *why_not);
    }
    return std::move(attempt.world);
  }
  std::string text =
      fmt::format("none of the saves in {} can be read, and nothing was changed:", store.folder());
  for (const Loader::Damage& damage : damages) text += fmt::format("\n  {}: {}", damage.name, damage.why);
  for (const std::string& name : listing->damaged) text += fmt::format("\n  {}: was set aside before", name);
  text += "\nput back a good copy of one, or move all of them to another folder to begin a new world";
  return Failure{std::move(text)};
}

}  // namespace shoal
