#include "shared/net/key_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "shared/base/assert.hpp"
#include "shared/net/password_file.hpp"
#include "tests/unit/net/hex.hpp"

namespace shoal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kDigits = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// The superuser may read everything. While this lives they are nobody, to whom the file belongs; whoever else runs the
/// test stays who they are.
class [[nodiscard]] Nobody {
 public:
  Nobody(const std::filesystem::path& folder, const std::string& file) : was_superuser_(::geteuid() == 0) {
    if (!was_superuser_) return;
    constexpr uid_t kNobody = 65534;
    is_in_force_ = ::chmod(folder.c_str(), 0755) == 0 && ::chown(file.c_str(), kNobody, kNobody) == 0 &&
                   ::seteuid(kNobody) == 0;
  }
  Nobody(const Nobody&) = delete;
  Nobody& operator=(const Nobody&) = delete;
  ~Nobody() {
    if (was_superuser_) SHOAL_ASSERT(::seteuid(0) == 0, "the superuser does not come back");
  }
  bool is_in_force() const { return is_in_force_; }

 private:
  bool was_superuser_ = false;
  bool is_in_force_ = true;
};

class KeyFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "shoal_key_file_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(std::string_view text, mode_t mode = 0600) {
    const std::string path = folder / "key";
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  std::string good() const { return std::string(kServerIdentity) + "\n" + std::string(kDigits) + "\n"; }
  std::string complaint(const std::string& path) {
    const auto read = read_key_file(path, kServerIdentity);
    return read ? "it was read" : read.error();
  }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(folder);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  std::filesystem::path folder;
  SystemEntropy entropy;
};

TEST_F(KeyFile, IsRead) {
  const auto read = read_key_file(write(good()), kServerIdentity);
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(to_hex(read->reveal()), kDigits);
  EXPECT_TRUE(read_key_file(write(good(), 0400), kServerIdentity).ok());
}

TEST_F(KeyFile, ThatOthersMayUseIsRefused) {
  for (const mode_t mode : {0644u, 0640u, 0604u, 0620u, 0602u, 0610u, 0601u})
    EXPECT_THAT(complaint(write(good(), mode)),
                AllOf(HasSubstr("others than its owner"), HasSubstr("chmod 600")))
        << std::oct << mode;
}

TEST_F(KeyFile, ThatIsNotThereOrNoFileIsRefused) {
  EXPECT_THAT(complaint(folder / "nothing"), HasSubstr("No such file"));
  EXPECT_THAT(complaint(folder), HasSubstr("is no file"));
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(complaint(pipe), HasSubstr("is no file")) << "and nobody waits for a writer";
  EXPECT_THAT(complaint("/dev/null"), HasSubstr("is no file"));
}

TEST_F(KeyFile, ThatCannotBeReadIsRefused) {
  const std::string path = write(good(), 0);
  const Nobody nobody(folder, path);
  if (!nobody.is_in_force()) GTEST_SKIP() << "the superuser may read everything, and cannot be anybody else";
  EXPECT_THAT(complaint(path), HasSubstr("Permission denied"));
  const auto kept = read_or_make_key_file(path, kServerIdentity, entropy);
  ASSERT_FALSE(kept.ok());
  EXPECT_THAT(kept.error(), HasSubstr("Permission denied"));
}

TEST_F(KeyFile, ThatFailsWhileItIsReadIsNotCalledDamaged) {
  // A plain file of this process' own, of which nothing lies at its start.
  EXPECT_THAT(complaint("/proc/self/mem"),
              HasSubstr("cannot read the key in /proc/self/mem: Input/output error"));
}

TEST_F(KeyFile, EveryTruncationIsRefusedAndItsDigitsAreNotTold) {
  for (std::size_t size = 0; size < good().size(); ++size)
    EXPECT_THAT(complaint(write(good().substr(0, size))),
                AllOf(HasSubstr("holds no"), Not(HasSubstr("0001"))))
        << size;
}

TEST_F(KeyFile, ThatHoldsAnythingElseIsRefused) {
  for (const std::string& text :
       {good() + "\n", good() + "#", good().substr(1), "# key\n" + good(),
        std::string(kServerIdentity) + "\n" + std::string(64, 'g') + "\n",
        std::string(kServerIdentity) + "\r\n" + std::string(kDigits) + "\r\n", std::string(1000, 'a')})
    EXPECT_THAT(complaint(write(text)), HasSubstr("holds no shoal server identity"));
}

TEST_F(KeyFile, OfAnotherKindIsRefused) {
  const std::string path = folder / "key";
  ASSERT_TRUE(make_key_file(path, kTicketSigningKey, entropy).ok());
  EXPECT_TRUE(read_key_file(path, kTicketSigningKey).ok());
  EXPECT_FALSE(read_key_file(path, kServerIdentity).ok());
  EXPECT_FALSE(read_key_file(path, kPlayerKey).ok());
}

TEST_F(KeyFile, IsMadeWholeWithItsFoldersForItsOwnerAlone) {
  const std::string path = folder / "a" / "b" / "key";
  const auto made = make_key_file(path, kPlayerKey, entropy);
  ASSERT_TRUE(made.ok()) << made.error();
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_EQ(text_of(path), std::string(kPlayerKey) + "\n" + to_hex(made->reveal()) + "\n");
  EXPECT_TRUE(*read_key_file(path, kPlayerKey) == *made);
  const std::filesystem::directory_iterator beside(folder / "a" / "b");
  EXPECT_EQ(std::distance(begin(beside), end(beside)), 1) << "no draft stays behind";
}

TEST_F(KeyFile, IsNeverReplaced) {
  const std::string path = write("something else", 0644);
  const auto made = make_key_file(path, kServerIdentity, entropy);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error(), HasSubstr("File exists"));
  EXPECT_FALSE(read_or_make_key_file(path, kServerIdentity, entropy).ok());
  EXPECT_EQ(text_of(path), "something else");
  EXPECT_EQ(files(), 1u);
}

TEST_F(KeyFile, IsMadeOnceAndReadFromThenOn) {
  const std::string path = folder / "key";
  const auto first = read_or_make_key_file(path, kServerIdentity, entropy);
  const auto second = read_or_make_key_file(path, kServerIdentity, entropy);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_TRUE(first->is_new);
  EXPECT_FALSE(second->is_new);
  EXPECT_TRUE(first->key == second->key);
}

// A container's process has the same id after each crash.
TEST_F(KeyFile, WhatACrashLeftBehindIsInNobodysWay) {
  const std::string path = folder / "key";
  std::ofstream(path + "." + std::to_string(::getpid())) << "half a k";
  const auto kept = read_or_make_key_file(path, kServerIdentity, entropy);
  EXPECT_TRUE(kept.ok()) << kept.error();
}

TEST_F(KeyFile, ThatCannotBeMadeIsSaid) {
  write("");
  for (const std::string& path : {std::string("/proc/nowhere/key"), std::string(folder / "key" / "below")}) {
    const auto kept = read_or_make_key_file(path, kServerIdentity, entropy);
    ASSERT_FALSE(kept.ok());
    EXPECT_THAT(kept.error(), HasSubstr(path));
  }
}

// Threads of one process share its id, as processes of two containers may.
TEST_F(KeyFile, StartersAtOnceComeToOneKey) {
  for (int round = 0; round < 50; ++round) {
    const std::string path = folder / std::to_string(round);
    constexpr int kStarters = 4;
    std::vector<Result<KeptKey, std::string>> kept(kStarters, Failure{std::string()});
    std::vector<std::thread> starters;
    for (int i = 0; i < kStarters; ++i) {
      starters.emplace_back([&path, &result = kept[static_cast<std::size_t>(i)]] {
        SystemEntropy own;
        result = read_or_make_key_file(path, kServerIdentity, own);
      });
    }
    for (std::thread& starter : starters) starter.join();
    int made = 0;
    for (const auto& result : kept) {
      ASSERT_TRUE(result.ok()) << result.error();
      EXPECT_TRUE(result->key == kept[0]->key);
      made += result->is_new;
    }
    EXPECT_EQ(made, 1);
  }
}

TEST_F(KeyFile, PasswordIsTheFirstLine) {
  for (const char* text : {"open sesame", "open sesame\n", "open sesame\r\nrest", "open sesame\nrest\n"}) {
    const auto read = read_password_file(write(text));
    ASSERT_TRUE(read.ok()) << read.error();
    EXPECT_EQ(read->password, "open sesame");
    EXPECT_FALSE(read->others_may_read);
  }
  EXPECT_TRUE(read_password_file(write("open sesame", 0644))->others_may_read);
  EXPECT_EQ(read_password_file(write(std::string(256, 'p') + "\n"))->password.size(), 256u);
}

TEST_F(KeyFile, PasswordThatIsNoneIsRefused) {
  EXPECT_THAT(read_password_file(write("")).error(), HasSubstr("empty"));
  EXPECT_THAT(read_password_file(write("\nopen sesame")).error(), HasSubstr("empty"));
  EXPECT_THAT(read_password_file(write(std::string(257, 'p'))).error(), HasSubstr("longer than 256"));
  EXPECT_THAT(read_password_file("/dev/zero").error(), HasSubstr("longer than 256"));
  EXPECT_THAT(read_password_file(folder).error(), HasSubstr("directory"));
  EXPECT_THAT(read_password_file(folder / "nothing").error(), HasSubstr("No such file"));
}

}  // namespace
}  // namespace shoal
