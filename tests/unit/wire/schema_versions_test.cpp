#include "shared/wire/schema_versions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

const SchemaVersions kServer{{0x10, 0x1, "Health"}, {0x20, 0x2, "Mana"}, {0x30, 0x3, "Position"}};

TEST(SchemaVersions, HashFollowsIdsAndHashesOnly) {
  SchemaVersions same = kServer;
  same[0].name = "Vitality";
  EXPECT_EQ(schema_hash(kServer), schema_hash(same));
  SchemaVersions other = kServer;
  other[1].hash = 9;
  EXPECT_NE(schema_hash(kServer), schema_hash(other));
  other = kServer;
  other.pop_back();
  EXPECT_NE(schema_hash(kServer), schema_hash(other));
  EXPECT_NE(schema_hash({}), 0u);
}

// P16
TEST(SchemaVersions, DifferenceNamesEachComponentAndBothSides) {
  const SchemaVersions client{{0x10, 0x99, "Health"}, {0x25, 0x5, "Stamina"}, {0x30, 0x3, "Position"}};
  EXPECT_EQ(describe_schema_difference(kServer, client, false, 800),
            "Health: server 0x0000000000000001 client 0x0000000000000099; only on the server: Mana; "
            "only on the client: Stamina");
}

TEST(SchemaVersions, ComponentWithoutNameShowsItsId) {
  const SchemaVersions client{{0x10, 0x1, ""}, {0x20, 0x2, ""}, {0x30, 0x3, ""}, {0x40, 0x4, ""}};
  EXPECT_EQ(describe_schema_difference(kServer, client, false, 800),
            "only on the client: component 0x00000040");
}

TEST(SchemaVersions, CutListSaysNothingAboutItsMissingEnd) {
  const SchemaVersions client{{0x10, 0x1, "Health"}};
  EXPECT_EQ(describe_schema_difference(kServer, client, true, 800), "the client's list was cut");
}

TEST(SchemaVersions, LongDifferenceEndsWithACount) {
  SchemaVersions server;
  for (std::uint32_t i = 0; i < 200; ++i)
    server.push_back({i, i, "shoal.demo.Component" + std::to_string(i)});
  const std::string text = describe_schema_difference(server, {}, false, 800);
  EXPECT_LE(text.size(), 800u);
  EXPECT_THAT(text, HasSubstr("only on the server: shoal.demo.Component0"));
  EXPECT_THAT(text, EndsWith("more"));
}

}  // namespace
}  // namespace shoal
