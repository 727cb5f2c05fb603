#include "shared/net/ban_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

using ::testing::HasSubstr;

Endpoint at(std::string_view address) {
  return parse_endpoint(address, 5000).value();
}

TEST(BanList, HasAddressesRangesPlayersAndComments) {
  const auto list = parse_ban_list(
      "# spoilers\n"
      "203.0.113.7\n"
      "\t198.51.100.0/24  # a whole house\r\n"
      "\n"
      "2001:db8::/32#v6\n"
      "player 0123456789abcdef0123456789abcdef\n"
      "  player\t 00000000000000000000000000000001");
  ASSERT_TRUE(list.ok()) << list.error();
  EXPECT_EQ(list->size(), 5u);
  EXPECT_TRUE(list->bans(at("203.0.113.7")));
  EXPECT_FALSE(list->bans(at("203.0.113.8")));
  EXPECT_TRUE(list->bans(at("198.51.100.255")));
  EXPECT_FALSE(list->bans(at("198.51.101.0")));
  EXPECT_TRUE(list->bans(at("2001:db8:1::1")));
  EXPECT_TRUE(list->bans(*parse_player_id("0123456789abcdef0123456789abcdef")));
  EXPECT_TRUE(list->bans(*parse_player_id("00000000000000000000000000000001")));
  EXPECT_FALSE(list->bans(PlayerId{}));
}

TEST(BanList, NothingBansNobody) {
  for (const char* text : {"", "\n\n", "# only words", " \t\r\n"}) {
    const auto list = parse_ban_list(text);
    ASSERT_TRUE(list.ok());
    EXPECT_EQ(list->size(), 0u);
    EXPECT_FALSE(list->bans(at("127.0.0.1")));
  }
}

TEST(BanList, FaultNamesItsLine) {
  for (const char* line :
       {"nonsense", "203.0.113.7:5000", "203.0.113", "198.51.100.0/33", "198.51.100.0/", "10.0.0.0/-1",
        "2001:db8::/129", "203.0.113.7 203.0.113.8", "player", "players 12"}) {
    const auto list = parse_ban_list("# first\n203.0.113.7\n" + std::string(line) + "\n10.0.0.1\n");
    ASSERT_FALSE(list.ok()) << line;
    EXPECT_THAT(list.error(), HasSubstr("line 3: '" + std::string(line) + "' is neither")) << line;
  }
  for (const char* line :
       {"player 12", "player 0123456789abcdef0123456789abcdeg", "player 0123456789abcdef0123456789abcdef0"})
    EXPECT_THAT(parse_ban_list(line).error(), HasSubstr("line 1: ")) << line;
  EXPECT_THAT(parse_ban_list("player 12").error(), HasSubstr("32 hexadecimal digits"));
}

}  // namespace
}  // namespace shoal
