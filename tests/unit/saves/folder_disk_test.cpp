// A real folder.
#include "server/saves/folder_disk.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace shoal {
namespace {

using ::testing::UnorderedElementsAre;

class FolderDiskTest : public ::testing::Test {
 protected:
  FolderDiskTest() {
    std::string pattern = ::testing::TempDir() + "folder_disk_XXXXXX";
    base_ = ::mkdtemp(pattern.data());
    path_ = base_ + "/saves";
  }
  ~FolderDiskTest() override { std::filesystem::remove_all(base_); }

  static std::span<const std::byte> bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
  void put(const std::string& name, std::string_view text) const {
    std::ofstream(path_ + "/" + name) << text;
  }

  std::string base_;
  std::string path_;
};

TEST_F(FolderDiskTest, FileIsWrittenInPiecesAndReadWhole) {
  FolderDisk disk(path_ + "/below/it");
  ASSERT_FALSE(disk.make());
  ASSERT_FALSE(disk.make()) << "it may be there";
  ASSERT_FALSE(disk.create("one"));
  ASSERT_FALSE(disk.write(bytes("hello ")));
  ASSERT_FALSE(disk.write(bytes("world")));
  ASSERT_FALSE(disk.sync());
  ASSERT_FALSE(disk.close());
  ASSERT_FALSE(disk.close()) << "nothing is open";
  EXPECT_EQ(disk.create("one"), std::errc::file_exists);
  ASSERT_FALSE(disk.rename("one", "two"));
  ASSERT_FALSE(disk.sync_folder());
  EXPECT_THAT(*disk.list(), UnorderedElementsAre("two"));
  const auto read = disk.read("two");
  EXPECT_TRUE(std::ranges::equal(*read, bytes("hello world")));
  ASSERT_FALSE(disk.remove("two"));
  EXPECT_EQ(disk.remove("two"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(disk.read("two").error(), std::errc::no_such_file_or_directory);
}

TEST_F(FolderDiskTest, WhatIsNoFileIsNotRead) {
  FolderDisk disk(path_);
  ASSERT_FALSE(disk.make());
  std::filesystem::create_directory(path_ + "/folder");
  EXPECT_EQ(disk.read("folder").error(), std::errc::is_a_directory);
  ASSERT_EQ(::mkfifo((path_ + "/pipe").c_str(), 0600), 0);
  EXPECT_EQ(disk.read("pipe").error(), std::errc::invalid_argument) << "and nobody waits for a writer";
  put("empty", "");
  EXPECT_TRUE(disk.read("empty")->empty());
  std::filesystem::resize_file(path_ + "/empty", 3'000'000'000);
  EXPECT_EQ(disk.read("empty").error(), std::errc::invalid_argument) << "no image is so large";
}

TEST_F(FolderDiskTest, PathThatIsAFileIsNoFolder) {
  std::ofstream(path_) << "a file";
  EXPECT_TRUE(FolderDisk(path_).make());
  EXPECT_TRUE(FolderDisk(path_ + "/below").make());
}

TEST_F(FolderDiskTest, OneHoldsTheFolderUntilItEnds) {
  std::optional<FolderDisk> one(path_);
  ASSERT_FALSE(one->make());
  ASSERT_FALSE(one->claim());
  ASSERT_FALSE(one->claim()) << "again and again";
  FolderDisk other(path_);
  EXPECT_EQ(other.claim(), std::errc::resource_unavailable_try_again);
  one.reset();
  EXPECT_FALSE(other.claim());
}

TEST_F(FolderDiskTest, FolderThatWasAwayIsClaimedAgain) {
  FolderDisk one(path_);
  ASSERT_FALSE(one.make());
  ASSERT_FALSE(one.claim());
  std::filesystem::rename(path_, path_ + ".away");
  EXPECT_EQ(one.claim(), std::errc::no_such_file_or_directory);
  EXPECT_FALSE(one.list());
  EXPECT_EQ(one.create("file"), std::errc::no_such_file_or_directory);
  EXPECT_EQ(one.sync_folder(), std::errc::no_such_file_or_directory);
  std::filesystem::create_directory(path_);
  ASSERT_FALSE(one.claim());
  FolderDisk other(path_);
  EXPECT_EQ(other.claim(), std::errc::resource_unavailable_try_again) << "the new folder is held";
}

TEST_F(FolderDiskTest, FolderThatAnotherTookMeanwhileIsNotSavedInto) {
  FolderDisk one(path_);
  ASSERT_FALSE(one.make());
  ASSERT_FALSE(one.claim());
  std::filesystem::remove_all(path_);
  std::filesystem::create_directory(path_);
  FolderDisk other(path_);
  ASSERT_FALSE(other.claim());
  EXPECT_EQ(one.claim(), std::errc::resource_unavailable_try_again);
}

}  // namespace
}  // namespace shoal
