#include "server/admin/admin_token.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "server/admin/query.hpp"

namespace shoal {
namespace {

using testing::HasSubstr;
using Verdict = AdminGuard::Verdict;

constexpr std::string_view kToken = "0123456789abcdef0123";

class TokenFile : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(folder_.data()), nullptr); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text, mode_t mode) {
    const std::string path = folder_ + "/token";
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::string folder_ = testing::TempDir() + "shoal_token_XXXXXX";
};

TEST_F(TokenFile, FirstLineIsTheToken) {
  const auto token = read_token_file(write(std::string(kToken) + "\r\nwhatever\n", 0600));
  ASSERT_TRUE(token) << token.error();
  EXPECT_EQ(*token, hash_of_token(kToken));
}

TEST_F(TokenFile, ThatOthersMayReadIsRefusedWithTheRemedy) {
  for (const mode_t mode : {0640u, 0604u, 0660u}) {
    const auto token = read_token_file(write(std::string(kToken), mode));
    ASSERT_FALSE(token);
    EXPECT_THAT(token.error(), HasSubstr("chmod 600"));
    EXPECT_THAT(token.error(), testing::Not(HasSubstr(std::string(kToken))));
  }
}

TEST_F(TokenFile, TokenThatCanBeGuessedIsRefused) {
  for (const std::string text : {"", "\n", "short\n"}) {
    const auto token = read_token_file(write(text, 0600));
    ASSERT_FALSE(token);
    EXPECT_THAT(token.error(), HasSubstr("openssl rand"));
  }
}

TEST_F(TokenFile, ThatIsNotThereOrNoFileIsRefused) {
  EXPECT_THAT(read_token_file(folder_ + "/none").error(), HasSubstr("No such file"));
  EXPECT_THAT(read_token_file(folder_).error(), HasSubstr("is no file"));
}

class GuardTest : public ::testing::Test {
 protected:
  Verdict ask(std::string_view authorization, const std::string& remote = "10.0.0.1") {
    return guard.check(authorization, remote, clock.now());
  }
  ManualClock clock;
  AdminGuard guard{hash_of_token(kToken)};
  std::string good = "Bearer " + std::string(kToken);
};

TEST_F(GuardTest, OnlyTheTokenUnderItsSchemeIsGood) {
  EXPECT_EQ(ask(good), Verdict::Good);
  EXPECT_EQ(ask(""), Verdict::Missing);
  EXPECT_EQ(ask(kToken), Verdict::Wrong);
  EXPECT_EQ(ask(good + "4"), Verdict::Wrong);
  EXPECT_EQ(ask(good.substr(0, good.size() - 1)), Verdict::Wrong);
  EXPECT_EQ(ask("Bearer "), Verdict::Wrong);
  EXPECT_EQ(guard.failures(), 4u);
}

TEST_F(GuardTest, AfterManyFailuresAnAddressIsNotListenedToUntilOneIsForgiven) {
  for (std::uint32_t i = 0; i < AdminGuard::kMaxFailures; ++i) EXPECT_EQ(ask("Bearer x"), Verdict::Wrong);
  EXPECT_EQ(ask("Bearer x"), Verdict::TooMany);
  EXPECT_EQ(ask(good), Verdict::TooMany) << "else guessing goes on while one watches for the good one";
  EXPECT_EQ(ask(good, "10.0.0.2"), Verdict::Good) << "others are not its victims";
  EXPECT_EQ(guard.failures(), AdminGuard::kMaxFailures);
  clock.advance(AdminGuard::kForgiveAfter);
  EXPECT_EQ(ask("Bearer x"), Verdict::Wrong);
  EXPECT_EQ(ask(good), Verdict::TooMany);
  clock.advance(AdminGuard::kForgiveAfter * 100);
  EXPECT_EQ(ask(good), Verdict::Good);
}

TEST_F(GuardTest, AddressesWithoutEndAreForgotten) {
  for (std::size_t i = 0; i < 4 * AdminGuard::kMaxAddresses; ++i)
    EXPECT_EQ(ask("Bearer x", std::to_string(i)), Verdict::Wrong);
}

TEST(Query, ValuesAreDecoded) {
  EXPECT_EQ(query_value("a=1&b=x%2Fy+z&c", "b"), "x/y z");
  EXPECT_EQ(query_value("a=&b=2", "a"), "");
  EXPECT_EQ(query_value("%61=1", "a"), std::nullopt) << "names are plain";
}

TEST(Query, WhatIsAbsentTwiceOrBrokenIsNoValue) {
  for (const char* query : {"", "b=1", "a", "a=1&a=2", "a=%", "a=%4", "a=%g1", "a=%-1"})
    EXPECT_EQ(query_value(query, "a"), std::nullopt) << query;
}

TEST(Query, NumbersAreWholeAndFit) {
  EXPECT_EQ(parse_number<std::uint32_t>("4294967295"), 4294967295u);
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "0x1", "4294967296", "1.0"})
    EXPECT_EQ(parse_number<std::uint32_t>(text), std::nullopt) << text;
}

}  // namespace
}  // namespace shoal
