// Images of a schema that has changed since.
#include "image_world.hpp"

namespace shoal {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class T>
struct Schema {
  std::vector<FieldDescriptor> fields;
  std::vector<ComponentDescriptor> descriptors;
  ImageTypes types;

  explicit Schema(std::vector<FieldDescriptor> all, std::uint64_t hash = 1) : fields(std::move(all)) {
    descriptors.push_back({"game.Thing", fnv1a32("game.Thing"), hash, kIsTag<T> ? 0 : sizeof(T), alignof(T),
                           Audience::Everyone, false, fields});
    types.add(descriptors);
  }
  std::unique_ptr<Registry> world() const {
    auto made = std::make_unique<Registry>();
    made->register_component<T>("game.Thing");
    made->freeze();
    made->log().set_enabled(true);
    return made;
  }
};

FieldDescriptor field(std::string_view path, FieldType type, std::size_t offset) {
  return {path, type, FieldKind::Plain, static_cast<std::uint16_t>(offset), 0, 0, 0};
}

struct Before {
  float x = 0;
  Entity target{};
  std::uint16_t rounds = 0;
  bool armed = false;
};
const Schema<Before>& before() {
  static const Schema<Before> schema({field("x", FieldType::Float, offsetof(Before, x)),
                                      field("target", FieldType::Entity, offsetof(Before, target)),
                                      field("rounds", FieldType::Uint16, offsetof(Before, rounds)),
                                      field("armed", FieldType::Bool, offsetof(Before, armed))});
  return schema;
}

constexpr Entity kFirst{0, 1};
constexpr Entity kSecond{1, 1};

std::vector<std::byte> image_from_before() {
  const auto world = before().world();
  world->create();
  world->create();
  world->emplace<Before>(kSecond, 2.5f, kFirst, std::uint16_t{7}, true);
  world->emplace<Before>(kFirst, -1.0f, kSecond, std::uint16_t{8}, false);
  return saved(*world, before().types);
}

TEST(ImageOfOlderSchema, FieldsMoveComeAndGo) {
  struct After {
    bool armed;
    Entity target;
    Entity helper;
    float x;
    std::int32_t score;
  };
  const Schema<After> after({field("armed", FieldType::Bool, offsetof(After, armed)),
                             field("target", FieldType::Entity, offsetof(After, target)),
                             field("helper", FieldType::Entity, offsetof(After, helper)),
                             field("x", FieldType::Float, offsetof(After, x)),
                             field("score", FieldType::Int32, offsetof(After, score))});
  const auto world = after.world();
  const LoadedImage loaded = load(*world, image_from_before(), after.types);
  EXPECT_THAT(loaded.notes, ElementsAre("game.Thing.helper is new: it has its default",
                                        "game.Thing.score is new: it has its default",
                                        "game.Thing.rounds is gone: its values were dropped"));
  EXPECT_THAT(world->storage<After>().indices(), ElementsAre(1, 0));
  const After& second = world->get<const After>(kSecond);
  EXPECT_EQ(second.x, 2.5f);
  EXPECT_EQ(second.target, kFirst) << "references are ids, and ids are exact";
  EXPECT_EQ(second.helper, kNullEntity);
  EXPECT_EQ(second.score, 0);
  EXPECT_TRUE(second.armed);
  EXPECT_EQ(world->get<const After>(kFirst).x, -1.0f);
}

TEST(ImageOfOlderSchema, ValuesBecomeATagAndATagBecomesValues) {
  const Schema<Asleep> tag({});
  const auto world = tag.world();
  EXPECT_EQ(load(*world, image_from_before(), tag.types).notes.size(), 4u);
  EXPECT_TRUE(world->all_of<Asleep>(kFirst));
  const auto back = before().world();
  load(*back, saved(*world, tag.types), before().types);
  EXPECT_EQ(back->get<const Before>(kFirst).target, kNullEntity);
}

TEST(ImageOfOlderSchema, FieldOfAnotherTypeIsRefusedByName) {
  struct After {
    std::uint32_t x;
  };
  const Schema<After> after({field("x", FieldType::Uint32, 0)});
  const auto world = after.world();
  const auto loaded = load_image(*world, image_from_before(), after.types);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().fault, ImageFault::ChangedType);
  EXPECT_THAT(loaded.error().text, HasSubstr("game.Thing.x is float in the image and uint here"));
  EXPECT_EQ(world->entity_table().index_end(), 0u);
}

TEST(ImageOfOlderSchema, OtherRangeOrEnumIsNoted) {
  const Schema<Before> after(before().fields, 2);
  const auto world = after.world();
  EXPECT_THAT(load(*world, image_from_before(), after.types).notes,
              ElementsAre(HasSubstr("game.Thing has another range, kind or enum")));
}

TEST(ImageOfOlderSchema, OtherFormIsRefused) {
  ImageTypes opaque;
  opaque.add_opaque("game.Thing");
  const auto world = before().world();
  auto loaded = load_image(*world, image_from_before(), opaque);
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().text, HasSubstr("game.Thing by fields, here it is held as opaque bytes"));

  world->emplace<Before>(world->create());
  const auto bytes = saved(*world, opaque);
  const Schema<Brain> smaller({});
  const auto other = smaller.world();
  loaded = load_image(*other, bytes, opaque);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().fault, ImageFault::ChangedType);
  EXPECT_THAT(loaded.error().text, HasSubstr("game.Thing has 16 bytes in the image and 8 here"));
}

TEST(ImageOfOlderSchema, UnknownComponentIsRefusedByNameOrSkipped) {
  Registry world;
  world.freeze();
  const auto bytes = image_from_before();
  const auto loaded = load_image(world, bytes, ImageTypes());
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().fault, ImageFault::UnknownComponent);
  EXPECT_THAT(loaded.error().text,
              HasSubstr("game.Thing on 2 entities, which is not registered here: register it"));
  EXPECT_EQ(world.entity_table().index_end(), 0u);
  EXPECT_THAT(load(world, bytes, ImageTypes(), {.unknown_components = UnknownComponents::Skip}).notes,
              ElementsAre(HasSubstr("game.Thing is not registered here: 2 entities came without it")));
  EXPECT_TRUE(world.alive(kSecond));
}

TEST(ImageOfOlderSchema, OrderOfRegistrationDoesNotMatter) {
  Registry one, other;
  one.register_component<Asleep>("test.Asleep");
  one.register_component<Before>("game.Thing");
  other.register_component<Before>("game.Thing");
  other.register_component<Asleep>("test.Asleep");
  one.freeze();
  other.freeze();
  other.log().set_enabled(true);
  one.emplace<Asleep>(one.create());
  one.emplace<Before>(one.create(), 4.0f);
  EXPECT_THAT(load(other, saved(one, before().types), before().types).notes, IsEmpty());
  EXPECT_THAT(other.log().entries().subspan(2),
              ElementsAre(LogEntry{kSecond, other.component_type<Before>(), LogKind::Added},
                          LogEntry{kFirst, other.component_type<Asleep>(), LogKind::Added}))
      << "by the loader's own numbers";
  EXPECT_TRUE(other.all_of<Asleep>(kFirst));
  EXPECT_EQ(other.get<const Before>(kSecond).x, 4.0f);
}

}  // namespace
}  // namespace shoal
