#include "server/fleet/agones_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::HasSubstr;

TEST(AgonesJson, GameServerIsReadWithItsIntegersAsStrings) {
  const auto read = read_game_server(
      R"({"object_meta":{"name":"world-1","deletion_timestamp":"1531795395","labels":{}},
          "spec":{"health":{"disabled":false,"period_seconds":3}},"status":{"state":"Ready","players":null}})");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->name, "world-1");
  EXPECT_EQ(read->state, "Ready");
  EXPECT_TRUE(read->is_being_deleted);
  EXPECT_TRUE(read->wants_health);
  EXPECT_EQ(read->health_period, seconds(3));
}

TEST(AgonesJson, MissingFieldsKeepWhatIsUsual) {
  for (const char* json :
       {R"({"status":{"state":"Scheduled"}})",
        R"({"object_meta":{"deletion_timestamp":"0"},"spec":null,"status":{"state":"Scheduled"}})",
        R"({"object_meta":7,"spec":{"health":{"period_seconds":-1}},"status":{"state":"Scheduled"}})"}) {
    const auto read = read_game_server(json);
    ASSERT_TRUE(read.ok()) << json;
    EXPECT_FALSE(read->is_being_deleted);
    EXPECT_TRUE(read->wants_health);
    EXPECT_EQ(read->health_period, seconds(5));
  }
}

TEST(AgonesJson, DisabledHealthIsSeen) {
  EXPECT_FALSE(
      read_game_server(R"({"spec":{"health":{"disabled":true}},"status":{"state":"Ready"}})")->wants_health);
}

TEST(AgonesJson, WhatIsNoGameServerIsRefused) {
  for (const char* json : {"", "[]", "{", "{}", R"({"status":{"state":3}})", R"({"status":"Ready"})", "\xff"})
    EXPECT_FALSE(read_game_server(json).ok()) << json;
}

TEST(AgonesJson, ErrorIsItsMessageOrTheText) {
  EXPECT_THAT(read_error(R"({"code":5,"message":"counter not found","details":[]})"),
              HasSubstr("counter not found"));
  EXPECT_THAT(read_error("<html>\nnot here"), HasSubstr("<html>"));
  EXPECT_EQ(read_error(std::string(10000, 'x')).find('\n'), std::string::npos);
  EXPECT_LT(read_error(std::string(10000, 'x')).size(), 500u);
}

TEST(AgonesJson, BodiesAreWrittenAsTheSideCarReadsThem) {
  EXPECT_EQ(counter_body(7, 64), R"({"count":"7","capacity":"64"})");
  EXPECT_EQ(reserve_body(milliseconds(1500)), R"({"seconds":"2"})");
  EXPECT_EQ(key_value_body("map", R"(a"b)"), R"({"key":"map","value":"a\"b"})");
  EXPECT_THAT(key_value_body("map", "\xff"), HasSubstr("\xEF\xBF\xBD"));
}

}  // namespace
}  // namespace shoal
