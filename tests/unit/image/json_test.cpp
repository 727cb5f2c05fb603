#include "shared/image/json.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <limits>

#include "image_world.hpp"
#include "shared/image/value_json.hpp"

namespace shoal {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string text_of(const Result<std::string, ImageError>& text) {
  EXPECT_TRUE(text.ok()) << (text.ok() ? "" : text.error().text);
  return text.ok() ? *text : std::string();
}

TEST(WorldJson, RandomWorldsComeBackAsTheyWere) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ImageWorld world, copy;
    live(world, random, 300);
    const std::vector<ImageSection> sections = {{"tick \"now\"", {std::byte{0xAF}}}};
    const std::string text = text_of(world_json(world, image_types(), sections));
    const auto loaded = load_world_json(copy, text, image_types());
    ASSERT_TRUE(loaded.ok()) << loaded.error().text;
    EXPECT_EQ(loaded->sections, sections);
    EXPECT_THAT(loaded->notes, IsEmpty());
    expect_same(world, copy);
    EXPECT_EQ(text_of(world_json(copy, image_types(), sections)), text);
    const auto image = save_image(world, image_types(), sections);
    EXPECT_EQ(text_of(json_of_image(*image)), text) << "an image says the same without its game";
  }
}

TEST(WorldJson, WorldByHandNeedsNoTable) {
  ImageWorld world;
  const auto loaded = load_world_json(world, R"({"entities": [
    {"entity": "3:1", "components": {"shoal.demo.Position": {"y": 2}, "test.Asleep": {}}},
    {"entity": "1:4"}
  ]})",
                                      image_types());
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  EXPECT_EQ(loaded->entities, 2u);
  EXPECT_EQ(world.get<const demo::Position>(Entity{3, 1}).y, 2.0f);
  EXPECT_EQ(world.get<const demo::Position>(Entity{3, 1}).x, 0.0f);
  EXPECT_TRUE(world.alive(Entity{1, 4}));
  EXPECT_EQ(world.create(), (Entity{0, 1}));
  EXPECT_EQ(world.create(), (Entity{2, 1}));
}

TEST(WorldJson, WhatIsWrongIsSaidWithItsPlace) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"", "parse error at line 1, column 1"},
      {"{\n\"entities\": [,]}", "parse error at line 2, column 14"},
      {"[]", "line 1: the document: an object is expected, not a list"},
      {"{}", "the list \"entities\" is missing"},
      {"{\"entities\":[],\n\"entities\":[]}", "line 2: \"entities\" stands twice in one object"},
      {"{\"entities\":[],\n\"entitis\":[]}", "line 2: entitis: nothing of this name belongs here"},
      {R"({"entities":[{"entity":"7"}]})", "entities[0].entity: an entity such as \"7:2\" is expected"},
      {R"({"entities":[{"entity":"7:0"}]})", "entities[0].entity: an entity such as"},
      {R"({"entities":[{"entity":"7:1"},{"entity":"7:1"}]})",
       "entities[1].entity: the index is listed twice"},
      {R"({"entities":[{"entity":"4000000000:1"}]})", "an index this great needs \"generations\""},
      {R"({"generations":[1],"entities":[{"entity":"0:2"}]})",
       "\"generations\" says otherwise of this index"},
      {R"({"generations":[1],"entities":[]})", "generations[0]: the index is not free, and not listed"},
      {R"({"generations":[1],"free_queue":[0],"entities":[{"entity":"0:1"}]})",
       "generations[0]: the index is free, and listed"},
      {R"({"generations":[1],"free_queue":[0,0],"entities":[]})", "the free queue has index 0 twice"},
      {R"({"generations":[-1],"entities":[]})", "generations[0]: a whole number from 0 to 2147483647"},
      {R"({"free_queue":[],"entities":[]})", "free_queue: it means nothing without \"generations\""},
      {"{\"entities\":[{\"entity\":\"0:1\",\"components\":{\n\n\"shoal.demo.Position\":{\"x\":\"far\"\n}}}]}",
       "line 3: entities[0].components.shoal.demo.Position.x: a number that a float can be, \"NaN\", "
       "\"Infinity\" or "
       "\"-Infinity\" is expected, not a text"},
      {"{\"entities\":[{\"entity\":\"0:1\",\"components\":{\n\"shoal.demo.Health\":{\"current\":70000\n}}}]}",
       "line 2: entities[0].components.shoal.demo.Health.current: a whole number from 0 to 65535 is "
       "expected, not 70000"},
      {R"({"entities":[{"entity":"0:1","components":{"shoal.demo.Health":{"currant":1}}}]})",
       "shoal.demo.Health.currant: there is no such field"},
      {R"({"entities":[{"entity":"0:1","components":{"shoal.demo.Healt":{}}}]})",
       "shoal.demo.Healt: no component of this name is registered"},
      {R"({"entities":[{"entity":"0:1","components":{"test.Brain":"01"}}]})",
       "test.Brain: 8 bytes are expected, not 1"},
      {R"({"entities":[{"entity":"0:1","components":{"test.Name":"0x"}}]})",
       "test.Name: bytes in hexadecimal are expected"},
      {R"({"entities":[{"entity":"0:1","components":{"test.Asleep":{}}}],"orders":{"test.Asleep":[1]}})",
       "orders.test.Asleep: it is not each entity with the component once"},
      {R"({"entities":[],"orders":{"test.Asleep":[]}})",
       "orders.test.Asleep: no entity has such a component"},
      {R"({"entities":[],"sections":{"tick":"2"}})", "sections.tick: bytes in hexadecimal"},
      {R"({"entities":[{"entity":"0:1","components":{"shoal.Node":{"child_count":1}}}]})",
       "entity 0:1 does not know how many children it has"},
      {R"({"entities":[{"entity":"0:1","components":{"shoal.Local":{}}}]})",
       "some of its entities are Local"},
      {"{\"entities\":\xFF}", "parse error"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.text);
    ImageWorld world;
    const std::string before = state_of(world);
    const auto loaded = load_world_json(world, each.text, image_types());
    ASSERT_FALSE(loaded.ok());
    EXPECT_THAT(loaded.error().text, HasSubstr(each.message));
    EXPECT_EQ(state_of(world), before);
  }
  for (const std::size_t levels : {std::size_t{33}, std::size_t{100'000}})
    EXPECT_THAT(parse_json(std::string(levels, '[')).error().text, HasSubstr("line 1: nested too deeply"));
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += fmt::format("\"{}\":{},", i, i);
  EXPECT_EQ(parse_json(many + "\"last\":0}")->find("99")->text, "99");
  EXPECT_THAT(parse_json(many + "\"5\":0}").error().text, HasSubstr("\"5\" stands twice in one object"));
  EXPECT_THAT(parse_json(many + "\"77\":0}").error().text, HasSubstr("\"77\" stands twice in one object"));
  EXPECT_TRUE(parse_json(std::string(32, '[') + std::string(32, ']')).ok());
}

TEST(EntityJson, HasEachForm) {
  ImageWorld world;
  const Entity entity = world.create();
  world.emplace<Name>(entity, "ab");
  world.emplace<Local>(entity);
  world.emplace<OnTeam>(entity, 3u);
  EXPECT_EQ(
      text_of(entity_json(world, entity, image_types())),
      R"({"entity":"0:1","components":{"shoal.Local":{},"test.Name":"6162","shoal.OnTeam":{"team":3}}})");
}

TEST(EntityJson, ViewAsAListComesBackElsewhere) {
  ImageWorld world, copy;
  for (int i = 0; i < 5; ++i) {
    const Entity entity = world.create();
    if (i % 2 == 0) world.emplace<demo::Velocity>(entity, 0.5f, static_cast<float>(i), 1e-7f);
    world.emplace<Name>(entity, "n");
  }
  const std::string text =
      text_of(view_json(world, std::as_const(world).view<demo::Velocity>(), image_types()));
  const auto applied = apply_json(copy, text, image_types());
  ASSERT_TRUE(applied.ok()) << applied.error().text;
  EXPECT_THAT(*applied, ElementsAre(Entity{0, 1}, Entity{2, 1}, Entity{4, 1})) << "in the order of the view";
  EXPECT_EQ(copy.alive_count(), 3u);
  EXPECT_EQ(copy.get<const demo::Velocity>(Entity{4, 1}).y, 4.0f);
  EXPECT_EQ(copy.get<const Name>(Entity{2, 1}).text, "n");
}

TEST(EntityJson, TextSetsWhatItNamesAndLeavesTheRest) {
  ImageWorld world;
  const Entity entity = world.create();
  world.emplace<demo::Health>(entity, std::uint16_t{5}, std::uint16_t{9});
  world.emplace<demo::Burning>(entity);
  world.emplace<Name>(entity, "old");
  std::vector<std::string> heard;
  world.on_update<demo::Health>().connect([&](Registry&, Entity) { heard.push_back("health"); });
  world.on_construct<demo::Velocity>().connect([&](Registry&, Entity) { heard.push_back("velocity"); });
  world.on_destroy<demo::Burning>().connect([&](Registry&, Entity) { heard.push_back("burning"); });
  world.on_update<Name>().connect([&](Registry&, Entity) { heard.push_back("name"); });
  const auto applied = apply_json(world, R"([{"entity":"0:1","components":{"shoal.demo.Health":{"current":6},
    "shoal.demo.Velocity":{"x":1},"shoal.demo.Burning":null,"test.Name":"6e6577"}},
    {"components":{"test.Asleep":{}}}])",
                                  image_types());
  ASSERT_TRUE(applied.ok()) << applied.error().text;
  EXPECT_THAT(*applied, ElementsAre(entity, Entity{1, 1}));
  EXPECT_EQ(world.get<const demo::Health>(entity).current, 6);
  EXPECT_EQ(world.get<const demo::Health>(entity).maximum, 9);
  EXPECT_EQ(world.get<const demo::Velocity>(entity).x, 1.0f);
  EXPECT_EQ(world.get<const Name>(entity).text, "new");
  EXPECT_FALSE(world.all_of<demo::Burning>(entity));
  EXPECT_TRUE(world.all_of<Asleep>(Entity{1, 1}));
  EXPECT_THAT(heard, ElementsAre("health", "velocity", "burning", "name"));
}

TEST(EntityJson, RefusedTextChangesNothing) {
  ImageWorld world{RegistryLimits{.max_entities = 4}};
  const Entity parent = world.create();
  const Entity child = world.create();
  attach(world, child, parent);
  world.destroy(world.create());
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {R"([{"components":{"test.Asleep":{}}},{"components":{"test.Nobody":{}}}])",
       "[1].components.test.Nobody: no component of this name"},
      {R"({"entity":"0:2"})", "entity: the index belongs to an entity of another generation"},
      {R"({"entity":"4:1"})", "entity: there is no such entity, and none can be made"},
      {R"({"entity":"2:0"})", "entity: there is no such entity, and none can be made"},
      {R"({"entity":null})", "entity: an entity such as"},
      {R"([{"entity":"2:7"},{"entity":"2:8"}])", "[1].entity: this index is there twice"},
      {R"([{},{},{}])", "[2]: no more entities can be made; raise"},
      {R"({"entity":"0:1","components":{"shoal.Node":{"child_count":2}}})",
       "hierarchies are changed by attach"},
      {R"({"components":{"shoal.Node":{}}})", "hierarchies are changed by attach"},
      {R"({"components":{"test.Name":"756e7265616461626c65"}})",
       "the game's function does not read these bytes"},
      {R"({"entity":"0:1","component":{}})", "component: nothing of this name belongs here"},
      {"17", "the document: an object is expected, not a number"},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.text);
    const std::string before = state_of(world);
    const auto applied = apply_json(world, each.text, image_types());
    ASSERT_FALSE(applied.ok());
    EXPECT_THAT(applied.error().text, HasSubstr(each.message));
    EXPECT_EQ(state_of(world), before);
  }
  EXPECT_TRUE(apply_json(world, *entity_json(world, parent, image_types()), image_types()).ok())
      << "what an entity says of itself may be said to it";
}

TEST(EntityJson, NewEntityDoesNotTakeAnIndexThatTheTextNames) {
  ImageWorld world;
  world.destroy(world.create());
  const auto applied = apply_json(world, R"([{}, {"entity":"0:2"}])", image_types());
  ASSERT_TRUE(applied.ok()) << applied.error().text;
  EXPECT_THAT(*applied, ElementsAre(Entity{1, 1}, Entity{0, 2}));
}

TEST(EntityJson, ListenerMayEndTheEntityMeanwhile) {
  ImageWorld world;
  world.on_construct<demo::Health>().connect(
      [](Registry& registry, Entity entity) { registry.destroy(entity); });
  const auto applied = apply_json(
      world, R"({"components":{"shoal.demo.Health":{},"test.Name":"61","test.Asleep":{}}})", image_types());
  ASSERT_TRUE(applied.ok());
  EXPECT_EQ(world.alive_count(), 0u);
}

struct Everything {
  bool yes;
  std::int8_t a;
  std::uint8_t b;
  std::int16_t c;
  std::uint16_t d;
  std::int32_t e;
  std::uint32_t f;
  float g;
  Entity h;
};
std::string written(const FieldTree& tree, const Everything& value) {
  std::string text;
  tree.write(std::as_bytes(std::span(&value, 1)), text);
  return text;
}
const std::vector<ImageField>& fields_of_everything() {
  static const std::vector<ImageField> fields = {{"yes", FieldType::Bool, offsetof(Everything, yes)},
                                                 {"list[0]", FieldType::Int8, offsetof(Everything, a)},
                                                 {"list[1]", FieldType::Uint8, offsetof(Everything, b)},
                                                 {"inner.c", FieldType::Int16, offsetof(Everything, c)},
                                                 {"inner.d", FieldType::Uint16, offsetof(Everything, d)},
                                                 {"rows[0].e", FieldType::Int32, offsetof(Everything, e)},
                                                 {"rows[0].f[0]", FieldType::Uint32, offsetof(Everything, f)},
                                                 {"rows[1].g", FieldType::Float, offsetof(Everything, g)},
                                                 {"h", FieldType::Entity, offsetof(Everything, h)}};
  return fields;
}

TEST(ValueJson, PathsBecomeObjectsAndListsAndBack) {
  const FieldTree tree(fields_of_everything());
  const Everything value{true, -128, 255, -32768, 65535, -2147483647 - 1, 4294967295, 0.5f, {7, 2}};
  const std::string text = written(tree, value);
  EXPECT_EQ(
      text,
      R"({"yes":true,"list":[-128,255],"inner":{"c":-32768,"d":65535},"rows":[{"e":-2147483648,"f":[4294967295]},)"
      R"({"g":0.5}],"h":"7:2"})");
  Everything read{};
  EXPECT_FALSE(tree.read(*parse_json(text), "", std::as_writable_bytes(std::span(&read, 1))));
  EXPECT_EQ(written(tree, read), text);
  const auto fault =
      tree.read(*parse_json(R"({"rows":[{},{"g":true}]})"), "v", std::as_writable_bytes(std::span(&read, 1)));
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->path, "v.rows[1].g");
}

TEST(ValueJson, PathsThatContradictEachOtherAreNames) {
  for (const auto& paths :
       {std::array{"a", "a.b"}, std::array{"a.b", "a"}, std::array{"a[1]", "b"}, std::array{"a[0", "b"},
        std::array{"a..b", "c"}, std::array{"", "b"}, std::array{"a[0]", "a.x"}, std::array{"a[00]", "b"}}) {
    SCOPED_TRACE(paths[0]);
    const std::vector<ImageField> fields = {{paths[0], FieldType::Bool, 0}, {paths[1], FieldType::Bool, 1}};
    const std::byte value[2] = {std::byte{1}, std::byte{0}};
    std::string text;
    FieldTree(fields).write(value, text);
    EXPECT_EQ(text, fmt::format("{{\"{}\":true,\"{}\":false}}", paths[0], paths[1]));
  }
}

TEST(ValueJson, FloatsComeBackToTheBit) {
  const std::vector<ImageField> fields = {{"x", FieldType::Float, 0}};
  const FieldTree tree(fields);
  const auto comes_back = [&](std::uint32_t bits) {
    std::string text;
    tree.write(std::as_bytes(std::span(&bits, 1)), text);
    std::uint32_t read = ~bits;
    EXPECT_FALSE(tree.read(*parse_json(text), "", std::as_writable_bytes(std::span(&read, 1)))) << text;
    EXPECT_EQ(read, bits) << text;
  };
  for (const std::uint32_t bits :
       {0u, 0x80000000u, 1u, 0x80000001u, 0x007FFFFFu, 0x00800000u, 0x7F7FFFFFu, 0x7F800000u, 0xFF800000u,
        0x7FC00000u, 0x7FC00001u, 0xFFC00000u, 0x7F800001u, 0x4B800000u, 0x3DCCCCCDu})
    comes_back(bits);
  Random random(5);
  for (int i = 0; i < 100'000; ++i) comes_back(static_cast<std::uint32_t>(random.next()));
}

TEST(ValueJson, NumbersThatNoFloatIsAreRefusedOrZero) {
  const std::vector<ImageField> fields = {{"x", FieldType::Float, 0}};
  const FieldTree tree(fields);
  float x = 3;
  const auto value = std::as_writable_bytes(std::span(&x, 1));
  EXPECT_TRUE(tree.read(*parse_json(R"({"x":1e39})"), "", value));
  EXPECT_TRUE(tree.read(*parse_json(R"({"x":"nan"})"), "", value));
  EXPECT_TRUE(tree.read(*parse_json(R"({"x":"0x7fc0000g"})"), "", value));
  EXPECT_FALSE(parse_json(R"({"x":1e999})").ok());
  EXPECT_FALSE(parse_json(R"({"x":NaN})").ok());
  EXPECT_FALSE(tree.read(*parse_json(R"({"x":-1e-60})"), "", value));
  EXPECT_EQ(std::bit_cast<std::uint32_t>(x), 0x80000000u);
  EXPECT_FALSE(tree.read(*parse_json(R"({"x":18446744073709551615})"), "", value));
  EXPECT_EQ(x, 18446744073709551616.0f);
}

}  // namespace
}  // namespace shoal
