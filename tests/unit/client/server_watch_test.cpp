#include "client/bots/server_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using testing::HasSubstr;

TEST(ServerWatch, AddressesWithAndWithoutSchemePortAndSlash) {
  const auto url = [](std::string_view text) {
    const auto result = admin_url(text);
    return result ? *result : "bad: " + result.error();
  };
  EXPECT_EQ(url("127.0.0.1:7780"), "http://127.0.0.1:7780");
  EXPECT_EQ(url("game.example"), "http://game.example:7780");
  EXPECT_EQ(url("http://game.example:80/"), "http://game.example:80");
  EXPECT_EQ(url("https://game.example"), "https://game.example:7780");
  EXPECT_EQ(url("[::1]:9"), "http://[::1]:9");
  EXPECT_EQ(url("[::1]"), "http://[::1]:7780");
  for (const std::string_view wrong :
       {"", ":7780", "host:0", "host:65536", "host:http", "host:", "http://", "a b:1", "host:80/stats.json",
        "user@host:80", "[::1", "ftp://host:21"})
    EXPECT_THAT(url(wrong), HasSubstr("bad: neither HOST:PORT")) << wrong;
}

TEST(ServerWatch, NumbersOfTheReport) {
  const auto reading = read_stats(
      R"({"tick_rate": 30, "tick_ms": {"p50": 1.5, "p99": 2.25, "max": 9}, "overruns": 4, "more": []})");
  ASSERT_TRUE(reading.ok()) << reading.error();
  EXPECT_EQ(reading->tick_rate_hz, 30);
  EXPECT_EQ(reading->tick_p50_ms, 1.5);
  EXPECT_EQ(reading->tick_p99_ms, 2.25);
  EXPECT_EQ(reading->tick_max_ms, 9);
  EXPECT_EQ(reading->overruns, 4u);
  EXPECT_EQ(reading->recent_tick_p99_ms, 2.25) << "all ticks, when nothing is said of the newest";
  const auto recent = read_stats(
      R"({"tick_rate": 30, "tick_ms": {"p50": 1.5, "p99": 2.25, "max": 9}, "overruns": 4, "recent_tick_ms": {"p50": 3, "p99": 4.5}})");
  ASSERT_TRUE(recent.ok()) << recent.error();
  EXPECT_EQ(recent->tick_p99_ms, 2.25);
  EXPECT_EQ(recent->recent_tick_p50_ms, 3);
  EXPECT_EQ(recent->recent_tick_p99_ms, 4.5);
}

TEST(ServerWatch, WhatIsNoReportIsSaid) {
  for (const char* wrong :
       {"", "404", "<html>", "[]", "{}", R"({"tick_ms": 3})", R"({"tick_ms": {"p50": 1}})",
        R"({"tick_rate": 30, "tick_ms": {"p50": "1", "p99": 2, "max": 9}, "overruns": 4})"})
    EXPECT_FALSE(read_stats(wrong).ok()) << wrong;
}

TEST(ServerWatch, NobodyThereIsAnError) {
  SteadyClock clock;
  ServerWatch watch("http://127.0.0.1:1", clock);
  const auto reading = watch.ask();
  ASSERT_FALSE(reading.ok());
  EXPECT_THAT(reading.error(), HasSubstr("no answer"));
  EXPECT_FALSE(watch.latest().has_value());
}

}  // namespace
}  // namespace shoal
