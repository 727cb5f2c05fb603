// The image of a world: the whole registry as bytes, and back. docs/image.md says what the bytes are.
//
//   const auto saved = save_image(world, types, sections);         // anywhere, while nobody changes the world
//   const auto loaded = load_image(other_world, *saved, types);    // a frozen registry in which nobody is alive
//
// A server saves off its tick: copy_world (shared/ecs/world_copy.hpp) takes an instant on the tick's thread, and
// save_image of the copy runs on another one.
//
// Thread rule: save_image from several threads while nobody changes the registry. load_image as changes of it.
// Invariants:
// 1. After a load, create() gives the same handles in the same order as the saved world would have: generations,
//    free indices and their order are part of the image. Values that refer to entities need no translation.
// 2. Each pool has the order that it had, so loops visit in the same order and sums are the same bits. (An owning
//    group that the saved world did not have takes its members to the front.)
// 3. All or nothing: a load looks at everything before it changes anything. After an error the registry is what it
//    was. Any bytes may be given; none reaches an assertion.
// 4. The same world gives the same bytes: what pads a value by fields is saved as zeros.
// 5. Entities with the tag Local are not saved. Their indices are free in the image, as if they had been destroyed by
//    rising index when it was taken: next generation, newest in the queue. Others keep their order. In the hierarchy
//    what was under them is a root.
// 6. A loaded world is new: the change log, if switched on, says Born of each entity, by rising index, then Added of
//    each component, by component number and in the pool's order; every value is dirty. So a server's change tracker
//    replicates it as it would a world that was built by hand. Signals fire only if asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/image/image_error.hpp"
#include "shared/image/image_types.hpp"

namespace shoal {

/// Bytes of the game's own beside the registry (tick, state of random numbers, score), under a name.
struct ImageSection {
  std::string name;
  std::vector<std::byte> bytes;

  friend bool operator==(const ImageSection&, const ImageSection&) = default;
};

/// Linear in entities and values. Fails if a component type of the registry has no entry in `types` (also when
/// nobody has it yet, so that it shows before it matters), or beyond 2 GiB. REQUIRES: frozen; section names differ;
/// no on_destroy signal runs.
Result<std::vector<std::byte>, ImageError> save_image(const Registry& registry, const ImageTypes& types,
                                                      std::span<const ImageSection> sections = {});

/// Of components in the image that the registry does not know.
enum class UnknownComponents : std::uint8_t {
  Refuse,
  Skip,  // their entities come without them; the notes say which
};

struct LoadOptions {
  UnknownComponents unknown_components = UnknownComponents::Refuse;
  /// When everything is in its place: on_construct of each component, by component number and in the pool's order,
  /// of those that still have it.
  bool fire_on_construct = false;
};

struct LoadedImage {
  std::size_t entities = 0;
  /// What is not as it was: fields that came or went, components that were skipped. One sentence each.
  std::vector<std::string> notes;
  std::vector<ImageSection> sections;
};

/// Components by fields may have changed since: a new field has its default (zero, for an entity null), one that
/// went is dropped, one of another type is an error. REQUIRES: frozen, nobody is alive. Handles from before mean
/// nothing afterwards.
Result<LoadedImage, ImageError> load_image(Registry& registry, std::span<const std::byte> bytes,
                                           const ImageTypes& types, LoadOptions options = {});

/// The sections alone, without a registry. Of a newer format too, as far as they are where they used to be: who wrote it
/// may stand in one.
Result<std::vector<ImageSection>, ImageError> image_sections(std::span<const std::byte> bytes);

}  // namespace shoal
