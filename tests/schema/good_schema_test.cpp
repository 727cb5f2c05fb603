// What a schema means: sizes at the border, hashes, order.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "schema/generator/emit.hpp"
#include "shared/replication/component_table.hpp"
#include "shared/replication/delta_codec.hpp"
#include "shared/wire/quantise.hpp"
#include "tests/schema/schema_text.hpp"

namespace shoal::schemac {
namespace {

std::uint64_t hash_of(const std::string& body) {
  return component_of({body}).hash;
}

TEST(ComponentHash, CoversAllThatServerAndClientMustAgreeOn) {
  const std::uint64_t hash = hash_of("struct A { x: ushort (max: \"9\"); }");
  EXPECT_NE(hash, hash_of("struct B { x: ushort (max: \"9\"); }")) << "the name";
  EXPECT_NE(hash, hash_of("struct A { y: ushort (max: \"9\"); }")) << "the path of a field";
  EXPECT_NE(hash, hash_of("struct A { x: ubyte (max: \"9\"); }")) << "the type";
  EXPECT_NE(hash, hash_of("struct A { x: ushort (max: \"8\"); }")) << "the range";
  EXPECT_NE(hash, hash_of("struct A { x: ushort (max: \"9\", kind: \"angle\"); }")) << "the kind";
  EXPECT_NE(hash, hash_of("struct A (audience: \"owner\") { x: ushort (max: \"9\"); }")) << "the audience";
  EXPECT_NE(hash, hash_of("struct A { x: ushort (max: \"9\"); y: bool; }")) << "the number of fields";
}
TEST(ComponentHash, CoversTheNamesOfAnEnum) {
  EXPECT_NE(hash_of("enum E : ubyte { Idle, Chase } struct A { x: E; }"),
            hash_of("enum E : ubyte { Chase, Idle } struct A { x: E; }"));
}
TEST(ComponentHash, DoesNotCoverWhatDoesNotTravel) {
  const std::uint64_t hash = hash_of("struct A { x: ushort (max: \"9\"); }");
  EXPECT_EQ(hash, hash_of("/// A word.\nstruct A {\n/// Another.\nx: ushort (max: \"9\", min: \"0\"); }"));
}
TEST(SchemaModel, OrderOfTheFileDoesNotMatter) {
  const auto one = model_of({"struct A { x: int; } struct B { a: bool; } table C (tag) {}"});
  const auto other = model_of({"table C (tag) {} struct B { a: bool; } struct A { x: int; }"});
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_EQ(emit_components(*one, {"c"}), emit_components(*other, {"c"}));
  EXPECT_EQ(emit_descriptors_source(*one, {"c"}), emit_descriptors_source(*other, {"c"}));
}
TEST(SchemaModel, ComponentMayAlsoBeTheTypeOfAField) {
  const auto model = model_of({"struct Place { x: int; } struct Path { at: [Place:2]; }"});
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->components.size(), 2u);
}
TEST(Quantisation, OuterAttributeGoesBeforeTheInnerOne) {
  const ComponentModel component =
      component_of({"struct Pair (type) { a: ubyte (max: \"9\"); b: ubyte (max: \"9\"); } struct A { x: Pair "
                    "(max: \"3\"); y: Pair; }"});
  ASSERT_EQ(component.scalars.size(), 4u);
  EXPECT_EQ(component.scalars[0].quantisation.steps, 3u) << component.scalars[0].path;
  EXPECT_EQ(component.scalars[2].quantisation.steps, 9u) << component.scalars[2].path;
}
TEST(SchemaReadme, ExampleIsASchema) {
  std::ifstream file(SHOAL_TEST_SCHEMA_DIR "/README.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t start = page.find("```\n") + 4;
  const auto model = model_of({.body = page.substr(start, page.find("```", start) - start), .head = ""});
  ASSERT_TRUE(model.ok()) << to_string(model.error().front());
  EXPECT_EQ(model->components.size(), 2u);
}
TEST(Quantisation, FinestStepThatIsAcceptedComesBackFromFloat) {
  // 2 units of the last place below 1024, the finest that the generator takes there.
  const ComponentModel component =
      component_of({"struct A { x: float (min: \"-1023\", max: \"1023\", step: \"0.000123\"); }"});
  ASSERT_EQ(component.scalars.size(), 1u);
  const Quantisation& quantisation = component.scalars.front().quantisation;
  const FieldDescriptor field{.path = "x",
                              .type = quantisation.type,
                              .kind = quantisation.kind,
                              .offset_bytes = 0,
                              .min = quantisation.min,
                              .step = quantisation.step,
                              .steps = quantisation.steps};
  for (std::uint32_t asked = 0; asked <= field.steps; ++asked) {
    alignas(float) std::byte aggregate[sizeof(float)];
    std::uint32_t answer = 0;
    dequantise(field, &asked, aggregate);
    quantise(field, aggregate, &answer);
    ASSERT_EQ(answer, asked);
  }
}
TEST(LargestComponent, FitsADatagramByTheCodecsOwnCount) {
  const auto model = model_of({"struct A { x: [uint:215]; } table B (tag) {}"});
  ASSERT_TRUE(model.ok()) << to_string(model.error().front());
  const ComponentModel& component = model->components.front();
  EXPECT_GT(worst_case_bits(component, 2) + 33, kMaxComponentBits) << "one more field would not pass";
  std::vector<FieldDescriptor> fields;
  for (const ScalarModel& scalar : component.scalars) {
    const Quantisation& quantisation = scalar.quantisation;
    fields.push_back({.path = scalar.path,
                      .type = quantisation.type,
                      .kind = quantisation.kind,
                      .offset_bytes = static_cast<std::uint16_t>(4 * fields.size()),
                      .min = quantisation.min,
                      .step = quantisation.step,
                      .steps = quantisation.steps});
  }
  const ComponentDescriptor descriptors[] = {{.name = "test.A",
                                              .wire_id = 1,
                                              .hash = 1,
                                              .size_bytes = static_cast<std::uint32_t>(4 * fields.size()),
                                              .alignment_bytes = 4,
                                              .audience = Audience::Everyone,
                                              .interest_position = false,
                                              .fields = fields}};
  const ComponentTable table(descriptors);
  EXPECT_LE(worst_full_state_bits(table) + table.worst_slot_bits(Audience::Everyone) +
                table.value_bits(ComponentIndex{0}),
            kMaxComponentBits);
}
TEST(LargestComponent, LimitsAreThoseOfTheCodec) {
  EXPECT_EQ(kMaxColumns, kMaxColumnsPerComponent);
}

}  // namespace
}  // namespace shoal::schemac
