#include "server/joining.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "shared/net/key_file.hpp"

namespace shoal {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JoiningTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "shoal_joining_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string write(std::string_view name, std::string_view text) {
    const std::string path = folder / name;
    std::ofstream(path, std::ios::binary) << text;
    std::filesystem::permissions(path,
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path;
  }
  static std::string complaint(const JoiningOptions& options) {
    const auto config = joining_config(options);
    return config ? "it was taken" : config.error();
  }

  std::filesystem::path folder;
  SystemEntropy entropy;
};

TEST_F(JoiningTest, DefaultIdentityLiesWhereTheEnvironmentSays) {
  const auto of = [](std::vector<const char*> environment) {
    environment.push_back(nullptr);
    return default_identity_file(environment.data());
  };
  EXPECT_EQ(of({"HOME=/home/ann", "XDG_STATE_HOME=/var/state"}), "/var/state/shoal/server-identity.key");
  EXPECT_EQ(of({"XDG_STATE_HOMES=/no", "HOME=/home/ann"}),
            "/home/ann/.local/state/shoal/server-identity.key");
  EXPECT_EQ(of({"XDG_STATE_HOME=", "HOME=/home/ann"}), "/home/ann/.local/state/shoal/server-identity.key");
  EXPECT_EQ(of({"XDG_STATE_HOME=relative", "HOME=/home/ann"}),
            "/home/ann/.local/state/shoal/server-identity.key");
  EXPECT_EQ(of({"HOME=", "PATH=/bin"}), "");
  EXPECT_EQ(of({}), "");
  EXPECT_EQ(default_identity_file(nullptr), "");
}

TEST_F(JoiningTest, IdentityIsMadeOnceAndReadFromThenOn) {
  const std::string path = folder / "a" / "key";
  const auto first = server_identity(path, false, entropy);
  const auto second = server_identity(path, true, entropy);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(first->is_new);
  EXPECT_FALSE(second->is_new);
  EXPECT_THAT(first->not_kept, IsEmpty());
  EXPECT_TRUE(first->key == second->key);
}

TEST_F(JoiningTest, IdentityThatCannotBeKeptIsForThisRunUnlessItWasNamed) {
  const std::string below_a_file = std::filesystem::path(write("file", "")) / "key";
  for (const std::string& path : {std::string(), below_a_file, std::string("/proc/nowhere/key")}) {
    const auto unnamed = server_identity(path, false, entropy);
    ASSERT_TRUE(unnamed.ok()) << unnamed.error();
    EXPECT_FALSE(unnamed->not_kept.empty());
    EXPECT_FALSE(unnamed->key == server_identity(path, false, entropy)->key);
    EXPECT_THAT(server_identity(path, true, entropy).error(), HasSubstr("--identity"));
  }
}

TEST_F(JoiningTest, IdentityThatIsThereAndCannotBeUsedIsAlwaysRefused) {
  const std::string path = write("key", "something else");
  EXPECT_THAT(server_identity(path, false, entropy).error(), HasSubstr("holds no shoal server identity"));
  EXPECT_FALSE(server_identity(folder, false, entropy).ok());
}

TEST_F(JoiningTest, OptionsBecomeTheTransportsConfiguration) {
  const auto open = joining_config({});
  ASSERT_TRUE(open.ok());
  EXPECT_EQ(open->admission.mode, JoinMode::Open);
  EXPECT_EQ(open->admission.limits.exempt.size(), private_ranges().size());
  EXPECT_EQ(open->admission.limits.handshake_burst, 40u);
  const auto password = joining_config({.mode = JoinMode::Password,
                                        .password_file = write("password", "sesame\n"),
                                        .sessions_per_address = 3,
                                        .handshakes_per_address = 0,
                                        .exempt_addresses = "203.0.113.0/24, ::1,private,"});
  ASSERT_TRUE(password.ok()) << password.error();
  EXPECT_EQ(password->admission.password, "sesame");
  EXPECT_EQ(password->admission.limits.max_sessions, 3u);
  EXPECT_EQ(password->admission.limits.handshakes_per_second, 0u);
  EXPECT_EQ(password->admission.limits.exempt.size(), 2 + private_ranges().size());
  const std::string issuer(64, 'a');
  const auto tickets = joining_config(
      {.mode = JoinMode::Ticket, .ticket_issuer = issuer, .audience = "arena-1", .exempt_addresses = ""});
  ASSERT_TRUE(tickets.ok()) << tickets.error();
  EXPECT_EQ(to_string(tickets->admission.ticket_issuer), issuer);
  EXPECT_EQ(tickets->admission.audience, "arena-1");
  EXPECT_THAT(tickets->admission.limits.exempt, IsEmpty());
}

TEST_F(JoiningTest, ContradictionsNameTheRemedy) {
  EXPECT_THAT(complaint({.mode = JoinMode::Password}), HasSubstr("needs --password-file"));
  EXPECT_THAT(complaint({.mode = JoinMode::Ticket}), HasSubstr("needs --ticket-issuer"));
  EXPECT_THAT(complaint({.password_file = "p"}), HasSubstr("--join password"));
  EXPECT_THAT(complaint({.mode = JoinMode::Ticket, .password_file = "p", .ticket_issuer = "k"}),
              HasSubstr("--join password"));
  EXPECT_THAT(complaint({.ticket_issuer = std::string(64, 'a')}), HasSubstr("--join ticket"));
  EXPECT_THAT(complaint({.audience = "a"}), HasSubstr("--join ticket"));
  EXPECT_THAT(complaint({.mode = JoinMode::Ticket, .ticket_issuer = "12"}),
              HasSubstr("64 hexadecimal digits"));
  EXPECT_THAT(complaint({.mode = JoinMode::Ticket,
                         .ticket_issuer = std::string(64, 'a'),
                         .audience = std::string(65, 'a')}),
              HasSubstr("at most 64 bytes"));
  EXPECT_THAT(complaint({.exempt_addresses = "10.0.0.0/8,here"}), HasSubstr("'here'"));
}

TEST_F(JoiningTest, BanListNamesFileAndLine) {
  EXPECT_EQ(read_ban_list(write("bans", "203.0.113.7\n"))->size(), 1u);
  EXPECT_THAT(read_ban_list(write("bad", "203.0.113.7\nx\n")).error(), HasSubstr("bad, line 2"));
  EXPECT_THAT(read_ban_list(folder / "nothing").error(), HasSubstr("No such file"));
}

}  // namespace
}  // namespace shoal
