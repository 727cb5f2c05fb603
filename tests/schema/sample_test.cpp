// What the generator makes of sample.fbs: the aggregates compile, the descriptors say what the schema says.
#include "tests/schema/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "shared/base/hash.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/wire/quantise.hpp"
#include "tests/schema/sample_descriptors.hpp"

namespace sample::game {
namespace {

using shoal::ComponentDescriptor;
using shoal::FieldDescriptor;
using shoal::FieldKind;
using shoal::FieldType;

const ComponentDescriptor& descriptor(std::string_view name) {
  const auto all = component_descriptors();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.name == name; });
  if (found == all.end()) {
    ADD_FAILURE() << "no descriptor of " << name;
    return all.front();
  }
  return *found;
}
const FieldDescriptor& field(const ComponentDescriptor& component, std::string_view path) {
  for (const FieldDescriptor& entry : component.fields) {
    if (entry.path == path) return entry;
  }
  ADD_FAILURE() << "no field " << path << " in " << component.name;
  return component.fields.front();
}
std::vector<std::string> paths(const ComponentDescriptor& component) {
  std::vector<std::string> result;
  for (const FieldDescriptor& entry : component.fields) result.emplace_back(entry.path);
  return result;
}

TEST(SampleSchema, ListsComponentsByNameAndNoFieldTypes) {
  std::vector<std::string_view> names;
  for (const ComponentDescriptor& component : component_descriptors()) names.push_back(component.name);
  EXPECT_THAT(names, ::testing::ElementsAre("sample.game.Frozen", "sample.game.Nested", "sample.game.Place",
                                            "sample.game.Scalars", "sample.game.Visible"));
}
TEST(SampleSchema, WireIdIsHashOfFullName) {
  for (const ComponentDescriptor& component : component_descriptors()) {
    EXPECT_EQ(component.wire_id, shoal::fnv1a32(component.name));
  }
}
TEST(SampleSchema, AggregatesStartAtZero) {
  const Scalars scalars{};
  EXPECT_FALSE(scalars.flag);
  EXPECT_EQ(scalars.raw, 0.0f);
  EXPECT_EQ(scalars.mood, Mood::Calm);
  EXPECT_TRUE(scalars.friend_of.is_null());
  EXPECT_EQ(Nested{}.team, team::Red);
  static_assert(std::is_aggregate_v<Scalars> && std::is_aggregate_v<Nested> && std::is_empty_v<Frozen>);
}
TEST(SampleSchema, StructAttributesReachTheDescriptor) {
  EXPECT_EQ(descriptor("sample.game.Scalars").audience, shoal::Audience::Owner);
  EXPECT_EQ(descriptor("sample.game.Nested").audience, shoal::Audience::Team);
  EXPECT_EQ(descriptor("sample.game.Frozen").audience, shoal::Audience::Team);
  EXPECT_EQ(descriptor("sample.game.Place").audience, shoal::Audience::Everyone);
  EXPECT_TRUE(descriptor("sample.game.Place").interest_position);
  EXPECT_FALSE(descriptor("sample.game.Nested").interest_position);
  EXPECT_EQ(descriptor("sample.game.Scalars").size_bytes, sizeof(Scalars));
  EXPECT_EQ(descriptor("sample.game.Scalars").alignment_bytes, alignof(Scalars));
}
TEST(SampleSchema, TagHasNoBytesAndNoFields) {
  EXPECT_EQ(descriptor("sample.game.Frozen").size_bytes, 0u);
  EXPECT_TRUE(descriptor("sample.game.Frozen").fields.empty());
}
TEST(SampleSchema, NestedStructsAndArraysAreFlattened) {
  EXPECT_THAT(paths(descriptor("sample.game.Nested")),
              ::testing::ElementsAre("slots[0]", "slots[1]", "slots[2]", "vectors[0].x", "vectors[0].y",
                                     "vectors[1].x", "vectors[1].y", "deep.first.item", "deep.first.holder",
                                     "deep.second.item", "deep.second.holder", "moods[0]", "moods[1]",
                                     "targets[0]", "targets[1]", "team"));
}
TEST(SampleSchema, OffsetsFindTheScalars) {
  Nested nested{};
  const auto* start = reinterpret_cast<const std::byte*>(&nested);
  const auto offset = [&](const void* scalar) { return static_cast<const std::byte*>(scalar) - start; };
  const ComponentDescriptor& component = descriptor("sample.game.Nested");
  EXPECT_EQ(field(component, "slots[2]").offset_bytes, offset(&nested.slots[2]));
  EXPECT_EQ(field(component, "vectors[1].y").offset_bytes, offset(&nested.vectors[1].y));
  EXPECT_EQ(field(component, "deep.second.holder").offset_bytes, offset(&nested.deep.second.holder));
  EXPECT_EQ(field(component, "targets[1]").offset_bytes, offset(&nested.targets[1]));
  EXPECT_EQ(field(component, "team").offset_bytes, offset(&nested.team));
}
TEST(SampleSchema, OuterAttributesApplyToInnerScalars) {
  const FieldDescriptor& x = field(descriptor("sample.game.Place"), "at.x");
  EXPECT_EQ(x.kind, FieldKind::Position);
  EXPECT_EQ(x.min, -512);
  EXPECT_EQ(x.step, 0.01);
  EXPECT_EQ(x.steps, 102400u);
  EXPECT_EQ(field(descriptor("sample.game.Nested"), "vectors[1].y").steps, 4u);
  EXPECT_EQ(field(descriptor("sample.game.Nested"), "slots[1]").steps, 15u);
}
TEST(SampleSchema, IntegerRangeDefaultsToItsType) {
  const ComponentDescriptor& scalars = descriptor("sample.game.Scalars");
  EXPECT_EQ(field(scalars, "int8").min, -128);
  EXPECT_EQ(field(scalars, "int8").steps, 255u);
  EXPECT_EQ(field(scalars, "uint8").steps, 7u);
  EXPECT_EQ(field(scalars, "int16").min, -300);
  EXPECT_EQ(field(scalars, "int16").steps, 600u);
  EXPECT_EQ(field(scalars, "int32").min, -2147483648.0);
  EXPECT_EQ(field(scalars, "int32").steps, 4294967295u);
  EXPECT_EQ(field(scalars, "uint32").steps, 4294967295u);
  EXPECT_EQ(field(scalars, "flag").steps, 1u);
}
TEST(SampleSchema, EnumRangeComesFromItsValues) {
  const FieldDescriptor& mood = field(descriptor("sample.game.Scalars"), "mood");
  EXPECT_EQ(mood.type, FieldType::Int8);
  EXPECT_EQ(mood.kind, FieldKind::Enum);
  EXPECT_EQ(mood.min, -2);
  EXPECT_EQ(mood.steps, 5u);
  const FieldDescriptor& abilities = field(descriptor("sample.game.Scalars"), "abilities");
  EXPECT_EQ(abilities.min, 0);
  EXPECT_EQ(abilities.steps, 7u) << "any combination of three flags";
}
TEST(SampleSchema, RangeThatIsNoWholeNumberOfStepsIsDividedEvenly) {
  const FieldDescriptor& turn = field(descriptor("sample.game.Scalars"), "turn");
  EXPECT_EQ(turn.steps, 629u);
  EXPECT_LE(turn.step, 0.01);
  EXPECT_NEAR(turn.min + turn.step * turn.steps, 3.1415927, 1e-12);
}
TEST(SampleSchema, QuantisingDequantisedValueGivesItBack) {
  for (const ComponentDescriptor& component : component_descriptors()) {
    for (const FieldDescriptor& entry : component.fields) {
      if (entry.type == FieldType::Entity || entry.step == 0) continue;
      alignas(Nested) std::byte aggregate[sizeof(Scalars) + sizeof(Nested)]{};
      for (std::uint32_t q = 0; q < std::min(entry.steps, 200000u); ++q) {
        const std::uint32_t asked = entry.steps - q;
        std::uint32_t answer = 0;
        shoal::dequantise(entry, &asked, aggregate);
        shoal::quantise(entry, aggregate, &answer);
        ASSERT_EQ(answer, asked) << component.name << "." << entry.path;
      }
    }
  }
}
TEST(SampleSchema, RegistersEveryComponentInTheDescriptorsOrder) {
  shoal::Registry registry;
  register_components(registry);
  registry.freeze();
  std::vector<std::uint16_t> numbers;
  for (const ComponentDescriptor& component : component_descriptors()) {
    const auto type = registry.find_component(component.wire_id);
    ASSERT_TRUE(type.has_value()) << component.name;
    numbers.push_back(type->value);
  }
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  const shoal::Entity entity = registry.create();
  registry.emplace<Place>(entity, Place{.at = {.x = 1, .y = 2}});
  registry.emplace<Frozen>(entity);
  EXPECT_EQ(registry.get<Place>(entity).at.y, 2);
}

}  // namespace
}  // namespace sample::game
