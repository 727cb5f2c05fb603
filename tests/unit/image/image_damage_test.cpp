// What no load may take: cut off, changed, foreign, too new, and images that are whole and say what cannot be.
#include <array>
#include <cstring>

#include "image_world.hpp"
#include "shared/image/image_content.hpp"
#include "shared/image/image_file.hpp"

namespace shoal {
namespace {

using namespace test;
using testing::HasSubstr;

std::vector<std::byte> sample_image() {
  Random random(7);
  ImageWorld world;
  live(world, random, 60);
  const ImageSection section{"tick", std::vector<std::byte>(4)};
  return *save_image(world, image_types(), std::span(&section, 1));
}

/// Loads into a world that has a past, expects that error and that nothing happened.
ImageError refused(std::span<const std::byte> bytes, const ImageTypes& types = image_types()) {
  ImageWorld world;
  Random random(1);
  live(world, random, 20);
  world.clear();
  const std::string before = state_of(world);
  const auto loaded = load_image(world, bytes, types);
  EXPECT_EQ(state_of(world), before) << "a refused image changes nothing";
  EXPECT_FALSE(loaded.ok());
  return loaded.ok() ? ImageError{} : loaded.error();
}

TEST(ImageDamage, CutOffAtAnyByteIsSaidToBeCutOff) {
  const auto bytes = sample_image();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    // At its exact size, so that a sanitizer sees each byte read too many.
    const std::vector<std::byte> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    ASSERT_EQ(refused(cut).fault, ImageFault::Truncated) << length;
  }
}

TEST(ImageDamage, EveryChangedByteIsNoticed) {
  auto bytes = sample_image();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const std::byte original = bytes[at];
    bytes[at] ^= static_cast<std::byte>(1u << (at % 8));
    const ImageFault fault = refused(bytes).fault;
    // Of the length's upper bytes a bit makes it longer than what is here.
    const ImageFault expected = at < 8                ? ImageFault::Foreign
                                : at >= 16 && at < 24 ? fault
                                                      : ImageFault::Damaged;
    ASSERT_EQ(fault, expected) << at;
    bytes[at] = original;
  }
}

TEST(ImageDamage, BytesBehindTheEndAreDamage) {
  auto bytes = sample_image();
  bytes.push_back(std::byte{0});
  EXPECT_EQ(refused(bytes).fault, ImageFault::Damaged);
}

TEST(ImageDamage, ForeignFileIsSaidToBeForeign) {
  const std::string text = "[server]\nport = 7777\n";
  EXPECT_EQ(refused(std::as_bytes(std::span(text))).fault, ImageFault::Foreign);
}

TEST(ImageDamage, NewerFormatSaysWhatToUpdate) {
  const auto bytes = sample_image();
  const ImageError error =
      refused(with_image_header(std::span(bytes).subspan(kImageHeaderBytes), kImageFormat + 1));
  EXPECT_EQ(error.fault, ImageFault::NewerFormat);
  EXPECT_THAT(error.text, HasSubstr("the image has format 2, this program knows 1: update the program"));
  const auto body = std::span(bytes).subspan(kImageHeaderBytes);
  EXPECT_EQ(refused(with_image_header(body, std::uint64_t{1} << 32)).fault, ImageFault::NewerFormat);
  EXPECT_EQ(refused(with_image_header(body, 0)).fault, ImageFault::Invalid);
}

TEST(ImageDamage, SectionsOfANewerFormatAreFoundWhereTheyUsedToBe) {
  const ImageSection section{"who", {std::byte{1}, std::byte{2}}};
  const auto bytes = *save_image(ImageWorld(), image_types(), std::span(&section, 1));
  EXPECT_THAT(*image_sections(bytes), ::testing::ElementsAre(section));
  const auto body = std::span(bytes).subspan(kImageHeaderBytes);
  EXPECT_THAT(*image_sections(with_image_header(body, kImageFormat + 1)), ::testing::ElementsAre(section));
  EXPECT_EQ(image_sections(with_image_header(std::vector<std::byte>(100), kImageFormat + 1)).error().fault,
            ImageFault::Invalid);
  EXPECT_EQ(image_sections(std::span(bytes).first(bytes.size() - 1)).error().fault, ImageFault::Truncated);
}

TEST(ImageDamage, BodyThatIsNoFlatBufferIsInvalid) {
  for (const std::size_t size : {0u, 3u, 12u, 100u})
    EXPECT_EQ(refused(with_image_header(std::vector<std::byte>(size))).fault, ImageFault::Invalid) << size;
}

TEST(ImageDamage, MoreIndicesThanTheRegistryAllowsIsSaid) {
  ImageWorld world, small{RegistryLimits{.max_entities = 2}};
  for (int i = 0; i < 3; ++i) world.create();
  const auto loaded = load_image(small, saved(world), image_types());
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().fault, ImageFault::Limits);
  EXPECT_THAT(loaded.error().text, HasSubstr("3 entity indices, the registry allows 2: raise"));
}

TEST(ImageDamage, OtherReservedIndicesAreSaid) {
  ImageWorld world{RegistryLimits{.reserved_indices = 4}}, other;
  const auto loaded = load_image(other, saved(world), image_types());
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().fault, ImageFault::Limits);
  EXPECT_THAT(loaded.error().text, HasSubstr("the image reserves 4 entity indices, the registry 0: make"));
}

// --- Whole images that say what cannot be, each from a good one by one change.

struct Forgery {
  const char* name;
  const char* message;
  void (*forge)(ImageContent&);
};

ImageComponent& component(ImageContent& content, std::string_view name) {
  for (ImageComponent& each : content.components) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << name;
  return content.components.front();
}
// So that a forgery can write to it.
ImageComponent& owned(ImageContent& content, std::string_view name) {
  ImageComponent& each = component(content, name);
  each.own_indices.assign(each.indices.begin(), each.indices.end());
  each.own_values.assign(each.values.begin(), each.values.end());
  each.own_value_ends.assign(each.value_ends.begin(), each.value_ends.end());
  each.indices = each.own_indices;
  each.values = each.own_values;
  each.value_ends = each.own_value_ends;
  return each;
}
Node& node(ImageContent& content, std::size_t at) {
  return reinterpret_cast<Node*>(owned(content, "shoal.Node").own_values.data())[at];
}

// Entities 0 to 3 are alive; 0 has the children 1 and 2; 4 and 5 are free, 5 the older one.
ImageWorld& forged_world(ImageWorld& world) {
  std::array<Entity, 6> entities;
  for (Entity& entity : entities) entity = world.create();
  world.destroy(entities[5]);
  world.destroy(entities[4]);
  attach(world, entities[1], entities[0]);
  attach(world, entities[2], entities[0]);
  world.emplace<Name>(entities[0], "ab");
  world.emplace<Name>(entities[1], "cd");
  world.emplace<Asleep>(entities[3]);
  world.emplace<Brain>(entities[3]);
  return world;
}

const Forgery kForgeries[] = {
    {"GenerationTooGreat", "entity index 0 has the generation 4294967295",
     [](ImageContent& c) { c.entities.generations[0] = 0xFFFFFFFF; }},
    {"QueueBeyond", "the free queue has index 6, which never was",
     [](ImageContent& c) { c.entities.free_queue.push_back(6); }},
    {"QueueTwice", "the free queue has index 5 twice",
     [](ImageContent& c) { c.entities.free_queue.push_back(5); }},
    {"QueueRetired", "the free queue has index 5, which is retired",
     [](ImageContent& c) { c.entities.generations[5] = 0; }},
    {"QueueReserved", "the free queue has index 5, which is reserved",
     [](ImageContent& c) { c.entities.reserved = 6; }},
    {"ReservedBeyond", "7 indices are reserved, and only 6 there",
     [](ImageContent& c) { c.entities.reserved = 7; }},
    {"ReservedFreeBeyond", "index 9 is no reserved one that is free",
     [](ImageContent& c) { c.entities.reserved_free = {9}; }},
    {"ComponentOfTheDead", "test.Name is on entity index 0, which is not alive",
     [](ImageContent& c) { c.entities.free_queue.push_back(0); }},
    {"ComponentBeyond", "test.Asleep is on entity index 77, which is not alive",
     [](ImageContent& c) { owned(c, "test.Asleep").own_indices[0] = 77; }},
    {"EntityTwice", "test.Name is on entity index 0 twice",
     [](ImageContent& c) { owned(c, "test.Name").own_indices[1] = 0; }},
    {"ComponentTwice", "test.Asleep is in it twice",
     [](ImageContent& c) { c.components.emplace_back().name = "test.Asleep"; }},
    {"Local", "some of its entities are Local",
     [](ImageContent& c) { c.components.emplace_back().name = "shoal.Local"; }},
    {"SectionTwice", "the section \"a\" is in it twice",
     [](ImageContent& c) {
       c.sections = {{"a", {}}, {"a", {}}};
     }},
    {"TagWithValues", "the values of test.Asleep are not one for each",
     [](ImageContent& c) { component(c, "test.Asleep").values = component(c, "test.Brain").values; }},
    {"TooFewValues", "the values of test.Brain are not one for each",
     [](ImageContent& c) { component(c, "test.Brain").values = {}; }},
    {"EndsFall", "the values of test.Name are not one for each",
     [](ImageContent& c) { owned(c, "test.Name").own_value_ends[0] = 99; }},
    {"EndsMissing", "the values of test.Name are not one for each",
     [](ImageContent& c) { component(c, "test.Name").value_ends = {}; }},
    {"FieldBeyond", "shoal.Node.ending lies beyond the value",
     [](ImageContent& c) { component(c, "shoal.Node").fields.back().offset_bytes = 48; }},
    {"FieldFarBeyond", "shoal.Node.ending lies beyond the value",
     [](ImageContent& c) { component(c, "shoal.Node").fields.back().offset_bytes = 0xFFFFFFFF; }},
    {"FieldTwice", "shoal.Node.parent is there twice",
     [](ImageContent& c) { component(c, "shoal.Node").fields[1].path = "parent"; }},
    {"FieldsOfOpaque", "test.Brain has fields and is not held by fields",
     [](ImageContent& c) {
       component(c, "test.Brain").fields = {{"x", FieldType::Bool, 0}};
     }},
    {"NeitherTrueNorFalse", "shoal.Node.ending of entity index 1 is neither true nor false",
     [](ImageContent& c) {
       const int two = 2;
       std::memcpy(&node(c, 0).ending, &two, 1);
     }},
    {"Unreadable", "the game's function does not read test.Name of entity index 0",
     [](ImageContent& c) {
       ImageComponent& names = owned(c, "test.Name");
       const std::string_view text = "unreadable";
       names.own_values.resize(text.size());
       std::memcpy(names.own_values.data(), text.data(), text.size());
       names.own_value_ends = {10, 10};
       names.values = names.own_values;
     }},
    // attach(1, 0) makes the nodes of 1 and 0 in this order, then that of 2.
    {"ParentDead", "in the hierarchy (shoal.Node) entity 0:1 does not know how many children",
     [](ImageContent& c) { node(c, 1).child_count = 3; }},
    {"LastChildWrong", "entity 0:1 does not know how many children",
     [](ImageContent& c) { node(c, 1).last_child = node(c, 1).first_child; }},
    {"ChildWithoutNode", "entity 0:1 has a child that has no node",
     [](ImageContent& c) {
       node(c, 1).first_child = Entity{3, 1};
     }},
    {"ChildOfAnotherLife", "entity 0:1 has a child that has no node",
     [](ImageContent& c) {
       node(c, 1).first_child = Entity{1, 2};
     }},
    {"ChildRing", "entity 0:1 has a child that does not know it",
     [](ImageContent& c) {
       node(c, 2).next = Entity{1, 1};
     }},
    {"OwnParent", "entities that no root leads to",
     [](ImageContent& c) {
       Node& self = node(c, 1);
       self.parent = Entity{0, 1};
     }},
    {"RootWithSiblings", "entity 0:1 is a root with siblings",
     [](ImageContent& c) {
       node(c, 1).next = Entity{2, 1};
     }},
    {"EndingNode", "entity 1:1 has a state that cannot be saved",
     [](ImageContent& c) { node(c, 0).ending = true; }},
};

TEST(ImageForgery, EachIsRefusedByNameAndChangesNothing) {
  for (const Forgery& forgery : kForgeries) {
    SCOPED_TRACE(forgery.name);
    ImageWorld world;
    auto content = collect(forged_world(world), image_types());
    ASSERT_TRUE(content.ok());
    ImageWorld good;
    load(good, *encode_image(*content));
    forgery.forge(*content);
    const ImageError error = refused(*encode_image(*content));
    EXPECT_EQ(error.fault, ImageFault::Invalid);
    EXPECT_THAT(error.text, HasSubstr(forgery.message));
  }
}

}  // namespace
}  // namespace shoal
