#include "tests/fuzz/fuzz_image_world.hpp"

#include <array>
#include <optional>
#include <string>

#include "shared/base/assert.hpp"
#include "shared/base/hash.hpp"
#include "shared/ecs/affiliation.hpp"
#include "shared/ecs/hierarchy.hpp"

namespace shoal::fuzz {
namespace {

struct Thing {
  float x = 0;
  Entity target{};
  std::uint8_t slots[2]{};
  bool armed = false;
};
struct Raw {
  std::uint16_t value = 0;
};
struct Word {
  std::string text;
};
struct Marked {};

constexpr FieldDescriptor field(std::string_view path, FieldType type, std::size_t offset) {
  return {path, type, FieldKind::Plain, static_cast<std::uint16_t>(offset), 0, 0, 0};
}
constexpr FieldDescriptor kThingFields[] = {field("x", FieldType::Float, offsetof(Thing, x)),
                                            field("target", FieldType::Entity, offsetof(Thing, target)),
                                            field("slots[0]", FieldType::Uint8, offsetof(Thing, slots)),
                                            field("slots[1]", FieldType::Uint8, offsetof(Thing, slots) + 1),
                                            field("armed", FieldType::Bool, offsetof(Thing, armed))};
constexpr ComponentDescriptor kDescriptors[] = {{"f.Thing", fnv1a32("f.Thing"), 1, sizeof(Thing),
                                                 alignof(Thing), Audience::Everyone, false, kThingFields}};

}  // namespace

ImageFuzzWorld::ImageFuzzWorld() : Registry({.max_entities = 1u << 16}) {
  register_component<Thing>("f.Thing");
  register_component<Raw>("f.Raw");
  register_component<Word>("f.Word");
  register_component<Marked>("f.Marked");
  register_hierarchy(*this);
  register_affiliation(*this);
  freeze();
  log().set_enabled(true);
  connect_hierarchy(*this);
}

const ImageTypes& image_fuzz_types() {
  static const ImageTypes types = [] {
    ImageTypes made;
    made.add(kDescriptors)
        .add_opaque("f.Raw")
        .add_encoded<Word>(
            "f.Word",
            [](const Word& word, std::vector<std::byte>& target) {
              for (const char letter : word.text) target.push_back(static_cast<std::byte>(letter));
            },
            [](std::span<const std::byte> bytes) -> std::optional<Word> {
              if (bytes.size() > 32) return std::nullopt;
              Word word;
              for (const std::byte letter : bytes) word.text.push_back(static_cast<char>(letter));
              return word;
            });
    return made;
  }();
  return types;
}

void fill(Registry& world) {
  std::array<Entity, 6> entities;
  for (Entity& entity : entities) entity = world.create();
  world.destroy(entities[4]);
  world.destroy(entities[1]);
  world.emplace<Thing>(entities[3], 1.5f, entities[0]);
  world.emplace<Thing>(entities[0], -0.0f, entities[3]);
  world.emplace<Raw>(entities[2], std::uint16_t{7});
  world.emplace<Word>(entities[2], "word");
  world.emplace<Word>(entities[5], "");
  world.emplace<Marked>(entities[5]);
  world.emplace<OnTeam>(entities[5], 3u);
  world.emplace<OwnedBy>(entities[3], entities[5]);
  attach(world, entities[2], entities[0]);
  attach(world, entities[3], entities[0]);
  attach(world, entities[5], entities[3]);
}

void use(Registry& world) {
  const auto bytes = save_image(world, image_fuzz_types());
  SHOAL_ASSERT(bytes.ok(), "what was loaded can be saved");
  const bool has_local = !world.storage<Local>().empty();
  ImageFuzzWorld copy;
  SHOAL_ASSERT(load_image(copy, *bytes, image_fuzz_types()).ok(), "what was saved can be loaded");
  const auto again = save_image(copy, image_fuzz_types());
  SHOAL_ASSERT(again.ok() && *again == *bytes, "the same world gives the same bytes");
  if (!has_local) {
    const auto text = world_json(world, image_fuzz_types());
    SHOAL_ASSERT(text.ok() && *text == *json_of_image(*bytes), "the image says what the world says");
    ImageFuzzWorld from_text;
    SHOAL_ASSERT(load_world_json(from_text, *text, image_fuzz_types()).ok(), "what was written can be read");
    SHOAL_ASSERT(*save_image(from_text, image_fuzz_types()) == *bytes, "JSON holds all that an image holds");
    for (int i = 0; i < 4; ++i)
      SHOAL_ASSERT(world.try_create() == copy.try_create(), "the same handles come next");
  }
  std::vector<Entity> entities;
  world.for_each_entity([&](Entity entity) { entities.push_back(entity); });
  for (const Entity entity : entities) {
    std::size_t children_seen = 0;
    for (const Entity child : children(world, entity)) children_seen += world.alive(child) ? 1u : 0u;
    SHOAL_ASSERT(children_seen == child_count(world, entity), "children live, as many as were counted");
    SHOAL_ASSERT(!is_ancestor(world, entity, entity), "nobody is its own ancestor");
  }
  if (!entities.empty()) destroy_tree(world, entities.front());
  world.clear();
  SHOAL_ASSERT(world.alive_count() == 0, "everyone can be destroyed");
}

void expect_untouched(const Registry& world) {
  SHOAL_ASSERT(world.entity_table().index_end() == 0 && world.log().entries().empty(),
               "what is refused changes nothing");
}

}  // namespace shoal::fuzz
