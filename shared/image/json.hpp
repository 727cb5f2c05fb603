// Entities and worlds as JSON, and back, for people and their tools: admin commands, test worlds, a diff of two
// saves. How values look is in shared/image/value_json.hpp, what a world looks like in docs/image.md.
//
//   entity_json(world, entity, types)            {"entity":"7:2","components":{"game.Position":{"x":1.0,"y":2.5}}}
//   view_json(world, world.view<Sheep>(), types)  a list of these, one a line
//   apply_json(world, text, types)               takes either
//   world_json, load_world_json                  everything that an image has
//
// Thread rule: const functions from several threads while nobody changes the registry; the others as changes of it.
// Invariants:
// 1. What is written reads back as the same bits, floats too; a world with its generations, free indices and the
//    order of each pool.
// 2. All or nothing: a text is read whole before anything changes. Any text may be given. What is wrong is said with
//    its line and where in the document it stands.
// 3. Components are named and listed as in images (ImageTypes); those that are left out there do not appear.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shared/image/image.hpp"

namespace shoal {

/// Fails if a component of it has no entry in `types`. REQUIRES: alive.
Result<std::string, ImageError> entity_json(const Registry& registry, Entity entity, const ImageTypes& types);
/// In this order. REQUIRES: all alive.
Result<std::string, ImageError> entities_json(const Registry& registry, std::span<const Entity> entities,
                                              const ImageTypes& types);
/// Everyone whom the view visits, with all components.
template <class View>
Result<std::string, ImageError> view_json(const Registry& registry, const View& view,
                                          const ImageTypes& types) {
  std::vector<Entity> entities;
  view.each([&](Entity entity, auto&...) { entities.push_back(entity); });
  return entities_json(registry, entities, types);
}

/// One entity or a list, each by the rule of RFC 7396 (merge patch): what the text names is set, with signals; null
/// in place of a component removes it; what it does not name stays. "entity" may be absent, then the entity is new;
/// one that is not alive is made with exactly this id. Fields that a new component does not name have their
/// defaults. shoal.Node may stand there, but must not be another one: attach() and detach() change hierarchies.
/// Gives the entities in the order of the text.
Result<std::vector<Entity>, ImageError> apply_json(Registry& registry, std::string_view text,
                                                   const ImageTypes& types);

/// As save_image.
Result<std::string, ImageError> world_json(const Registry& registry, const ImageTypes& types,
                                           std::span<const ImageSection> sections = {});
/// As load_image. REQUIRES: frozen, nobody is alive.
Result<LoadedImage, ImageError> load_world_json(Registry& registry, std::string_view text,
                                                const ImageTypes& types, LoadOptions options = {});

/// An image as world_json writes it, without the game that made it.
Result<std::string, ImageError> json_of_image(std::span<const std::byte> image);

}  // namespace shoal
