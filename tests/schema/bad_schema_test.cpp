// Each fault in a schema stops the build with file, name and reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "shared/base/hash.hpp"
#include "tests/schema/schema_text.hpp"

namespace shoal::schemac {
namespace {

using ::testing::HasSubstr;

TEST(BadSchema, UnknownAttributeOfFieldIsRefused) {
  EXPECT_EQ(
      complaints_about({"attribute \"maximum\"; struct Health { current: ushort (maximum: \"3\"); }"}),
      "bad.fbs: test.Health.current: attribute \"maximum\" is unknown on a field; known are min, max, step, "
      "kind, entity\n");
}
TEST(BadSchema, UnknownAttributeOfStructIsRefused) {
  EXPECT_THAT(
      complaints_about({"struct Health (min: \"3\") { current: ushort; }"}),
      HasSubstr("bad.fbs: test.Health: attribute \"min\" is unknown on a struct; known are audience"));
}
TEST(BadSchema, AttributesOfFlatcThatWouldBeIgnoredAreRefused) {
  EXPECT_THAT(complaints_about({"struct Health (force_align: 8) { current: ushort; }"}),
              HasSubstr("attribute \"force_align\" is unknown on a struct"));
  EXPECT_THAT(complaints_about({"struct Health { current: ushort (key); }"}),
              HasSubstr("test.Health.current: attribute \"key\" is unknown on a field"));
}
TEST(BadSchema, LimitBeyondIntegerTypeIsRefused) {
  EXPECT_EQ(complaints_about({"struct Health { current: ushort (max: \"100000\"); }"}),
            "bad.fbs: test.Health.current: attribute \"max\": 100000 does not fit ushort (0 … 65535)\n");
  EXPECT_THAT(complaints_about({"struct Health { current: ubyte (min: \"-1\"); }"}),
              HasSubstr("attribute \"min\": -1 does not fit ubyte (0 … 255)"));
  EXPECT_THAT(complaints_about({"struct Health { current: int (max: \"99999999999999999999\"); }"}),
              HasSubstr("99999999999999999999 does not fit int (-2147483648 … 2147483647)"));
}
TEST(BadSchema, LimitThatIsNoNumberIsRefused) {
  EXPECT_THAT(complaints_about({"struct Health { current: ushort (max: \"many\"); }"}),
              HasSubstr("attribute \"max\": \"many\" is not a whole number"));
  EXPECT_THAT(complaints_about({"struct Health { current: ushort (max: \"1.5\"); }"}),
              HasSubstr("attribute \"max\": \"1.5\" is not a whole number"));
  EXPECT_THAT(complaints_about({"struct Health { current: ushort (max: \"\"); }"}),
              HasSubstr("attribute \"max\": \"\" is not a whole number"));
  EXPECT_THAT(complaints_about({"struct Place { x: float (min: \"0\", max: \"1m\", step: \"0.1\"); }"}),
              HasSubstr("attribute \"max\": \"1m\" is not a number"));
  EXPECT_THAT(complaints_about({"struct Place { x: float (min: \"nan\", max: \"1\", step: \"0.1\"); }"}),
              HasSubstr("attribute \"min\": \"nan\" is not a number"));
}
TEST(BadSchema, EmptyRangeIsRefused) {
  EXPECT_THAT(complaints_about({"struct Health { current: ushort (min: \"9\", max: \"9\"); }"}),
              HasSubstr("test.Health.current: the range 9 … 9 is empty"));
  EXPECT_THAT(complaints_about({"struct Place { x: float (min: \"2\", max: \"-2\", step: \"0.1\"); }"}),
              HasSubstr("test.Place.x: the range 2 … -2 is empty"));
}
TEST(BadSchema, StepThatCannotWorkIsRefused) {
  EXPECT_THAT(complaints_about({"struct Place { x: float (min: \"0\", max: \"2\", step: \"0\"); }"}),
              HasSubstr("attribute \"step\": 0 must be greater than 0"));
  EXPECT_THAT(complaints_about({"struct Place { x: float (min: \"0\", max: \"2\", step: \"3\"); }"}),
              HasSubstr("attribute \"step\": 3 is wider than the range 0 … 2"));
  EXPECT_THAT(complaints_about({"struct Place { x: float (min: \"0\", max: \"2000\", step: \"0.0001\"); }"}),
              HasSubstr("into more than 16777216 steps"));
  EXPECT_THAT(
      complaints_about({"struct Place { x: float (min: \"100000\", max: \"100010\", step: \"0.01\"); }"}),
      HasSubstr("attribute \"step\": 0.01 is finer than a float holds near 100010: take at least 0.015625"));
  EXPECT_THAT(complaints_about({"struct Health { current: ushort (step: \"2\"); }"}),
              HasSubstr("attribute \"step\": whole numbers always step by 1"));
}
TEST(BadSchema, HalfStatedQuantisationOfFloatIsRefused) {
  EXPECT_THAT(complaints_about({"struct Place { x: float (min: \"0\", max: \"2\"); }"}),
              HasSubstr("test.Place.x: a quantised float needs min, max and step"));
  EXPECT_THAT(complaints_about({"struct Place { x: float (kind: \"angle\"); }"}),
              HasSubstr("an angle wraps at the ends of its range"));
}
TEST(BadSchema, UnknownWordsAreRefused) {
  EXPECT_THAT(complaints_about({"struct Place { x: float (kind: \"speed\"); }"}),
              HasSubstr("attribute \"kind\": \"speed\" is none of plain, position, velocity, angle, enum"));
  EXPECT_THAT(complaints_about({"struct Place (audience: \"friends\") { x: float; }"}),
              HasSubstr("test.Place: attribute \"audience\": \"friends\" is none of everyone, team, owner"));
  EXPECT_THAT(complaints_about({"struct Place { x: float (kind: \"enum\"); }"}),
              HasSubstr("\"enum\" is for whole numbers"));
}
TEST(BadSchema, UnsupportedTypesAreRefusedWithWhatToTake) {
  EXPECT_THAT(complaints_about({"struct Place { x: double; }"}),
              HasSubstr("test.Place.x: the type double is not supported; take float"));
  EXPECT_THAT(complaints_about({"struct Place { x: long; }"}),
              HasSubstr("type long is not supported; take int"));
  EXPECT_THAT(complaints_about({"struct Place { x: ulong; }"}),
              HasSubstr("mark it (entity) if it names an entity"));
  EXPECT_THAT(complaints_about({"enum Wide : uint { A } struct Place { x: Wide; }"}),
              HasSubstr("the enum test.Wide is of type uint; supported are byte, ubyte, short and ushort"));
}
TEST(BadSchema, UnsupportedTypeInUnusedFieldTypeIsRefused) {
  EXPECT_EQ(complaints_about({"struct Wide (type) { x: double; } struct Place { x: float; }"}),
            "bad.fbs: test.Wide.x: the type double is not supported; take float\n");
}
TEST(BadSchema, AttributesThatTheTypeRulesOutAreRefused) {
  EXPECT_THAT(complaints_about({"struct Place { x: bool (max: \"1\"); }"}),
              HasSubstr("a bool has no use for it"));
  EXPECT_THAT(complaints_about({"struct Place { x: uint (entity); }"}),
              HasSubstr("an entity is a ulong, this is uint"));
  EXPECT_THAT(complaints_about({"struct Place { x: ulong (entity, max: \"1\"); }"}),
              HasSubstr("attribute \"max\": an entity has no use for it"));
  EXPECT_THAT(complaints_about({"enum State : ubyte { A, B } struct Place { x: State (max: \"1\"); }"}),
              HasSubstr("attribute \"max\": the enum test.State says it already"));
  EXPECT_THAT(
      complaints_about({"struct Pair (type) { a: ulong (entity); } struct Place { x: Pair (entity); }"}),
      HasSubstr("test.Place.x: attribute \"entity\": an entity is a ulong, this is a struct"));
}
TEST(BadSchema, FaultInsideNestedStructNamesThePath) {
  EXPECT_THAT(
      complaints_about(
          {"struct Pair (type) { a: ubyte; b: ubyte; } struct Place { x: [Pair:2] (max: \"300\"); }"}),
      HasSubstr("bad.fbs: test.Place.x[0].b: attribute \"max\": 300 does not fit ubyte"));
}
TEST(BadSchema, ComponentTooLargeForDatagramIsRefused) {  // P11
  EXPECT_EQ(
      complaints_about({"struct Inventory { items: [uint:255]; }"}),
      "bad.fbs: test.Inventory: needs up to 8577 bits in a datagram, where 7288 have room: narrow its fields "
      "or split it\n");
  EXPECT_EQ(complaints_about({"struct Inventory { items: [uint:215]; }"}), "");
}
TEST(BadSchema, ComponentWithTooManyScalarsIsRefused) {
  EXPECT_THAT(complaints_about({"struct Board { squares: [bool:513]; }"}),
              HasSubstr("test.Board: has 513 scalars or more (an entity counts two), at most 512 fit"));
  // Billions of them are counted no further.
  EXPECT_THAT(
      complaints_about({"struct Row (type) { squares: [bool:65535]; } struct Board { rows: [Row:65535]; }"}),
      HasSubstr("test.Board: has 513 scalars or more"));
  EXPECT_EQ(complaints_about({"struct Board { squares: [bool:512]; }"}), "");
}
TEST(BadSchema, TableThatIsNoEmptyTagIsRefused) {
  EXPECT_THAT(complaints_about({"table Player { score: int; }"}),
              HasSubstr("test.Player: a component is a struct; a table is only good as an empty tag"));
  EXPECT_THAT(complaints_about({"table Player (tag) { score: int; }"}),
              HasSubstr("test.Player: a tag has no fields"));
  EXPECT_THAT(complaints_about({"struct Player (tag) { score: int; }"}),
              HasSubstr("test.Player: attribute \"tag\" is unknown on a struct"));
}
TEST(BadSchema, UnionIsRefused) {
  EXPECT_THAT(complaints_about({"table A (tag) {} union Any { A } struct Place { x: int; }"}),
              HasSubstr("bad.fbs: test.Any: a component cannot hold a union"));
}
TEST(BadSchema, ComponentsOfTwoNamespacesAreRefused) {
  EXPECT_THAT(complaints_about({"struct A { x: int; } namespace other; struct B { x: int; }"}),
              HasSubstr("all components of one schema share theirs"));
  EXPECT_THAT(complaints_about({.body = "struct A { x: int; }", .head = ""}),
              HasSubstr("bad.fbs: A: components lie in a namespace"));
}
TEST(BadSchema, SchemaWithoutComponentIsRefused) {
  EXPECT_THAT(complaints_about({"struct Pair (type) { x: int; }"}), HasSubstr("it declares no component"));
}
TEST(BadSchema, NamesThatCppWouldNotTakeAreRefused) {
  EXPECT_THAT(complaints_about({"struct Place { class: int; }"}),
              HasSubstr("test.Place.class: \"class\" is a word of C++"));
  EXPECT_THAT(complaints_about({"enum State : ubyte { new } struct Place { x: State; }"}),
              HasSubstr("test.State.new: \"new\" is a word of C++"));
  EXPECT_THAT(complaints_about({"struct union_ { x__y: int; }"}), HasSubstr("\"x__y\" is reserved in C++"));
  EXPECT_THAT(complaints_about({"struct register_components { x: int; }"}),
              HasSubstr("the generated code has a function of that name"));
  EXPECT_THAT(complaints_about({"struct Place { " + std::string(256, 'x') + ": int; }"}),
              HasSubstr("the path is longer than 255 characters"));
}
TEST(BadSchema, InterestNeedsPlaceAndOneComponentOnly) {
  EXPECT_THAT(
      complaints_about({"struct Place (interest) { x: float; }"}),
      HasSubstr("test.Place: attribute \"interest\": needs two or three fields of kind \"position\", has 0"));
  EXPECT_THAT(complaints_about(
                  {"struct Place (interest) { x: int (kind: \"position\"); y: int (kind: \"position\"); }"
                   "struct Spot (interest) { x: int (kind: \"position\"); y: int (kind: \"position\"); }"}),
              HasSubstr("test.Spot: attribute \"interest\": test.Place has it already"));
  EXPECT_THAT(complaints_about({"struct Pair (type, interest) { x: int; } struct Place { x: int; }"}),
              HasSubstr("attribute \"interest\" is for components, and (type) says this is none"));
}
TEST(BadSchema, CollidingWireIdsAreRefusedNamingBoth) {
  // Found by search: two full names with one FNV-1a hash.
  static_assert(fnv1a32("test.RedWindDeepBear") == fnv1a32("test.BlueDarkFireBird"));
  EXPECT_THAT(complaints_about({"struct RedWindDeepBear { x: int; } struct BlueDarkFireBird { x: int; }"}),
              HasSubstr("its wire id is also that of test."));
}
TEST(BadSchema, AllFaultsAreReportedAtOnce) {
  const std::string complaints =
      complaints_about({"struct A { x: double; y: long; } struct B { z: ushort (max: \"70000\"); }"});
  EXPECT_THAT(complaints, HasSubstr("test.A.x"));
  EXPECT_THAT(complaints, HasSubstr("test.A.y"));
  EXPECT_THAT(complaints, HasSubstr("test.B.z"));
}
TEST(BadSchema, FaultInIncludedFileNamesThatFile) {
  EXPECT_EQ(complaints_about({.body = "include \"more.fbs\"; namespace test; struct A { x: int; }",
                              .head = "",
                              .included = "namespace test; struct Wide { x: double; }"}),
            "more.fbs: test.Wide.x: the type double is not supported; take float\n");
}

}  // namespace
}  // namespace shoal::schemac
