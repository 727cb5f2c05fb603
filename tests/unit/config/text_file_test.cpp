#include "shared/config/text_file.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace shoal {
namespace {

class TextFile : public testing::Test {
 protected:
  std::string write(std::string_view name, std::string_view text) {
    const std::string path = testing::TempDir() + "shoal_text_file_" + std::string(name);
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
};

TEST_F(TextFile, GivesTheWholeText) {
  const auto text = read_text_file(write("whole", "a = 1\r\nb = 2"));
  ASSERT_TRUE(text.ok()) << text.error();
  EXPECT_EQ(*text, "a = 1\r\nb = 2");
  EXPECT_EQ(*read_text_file(write("empty", "")), "");
}

TEST_F(TextFile, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(read_text_file("/nowhere/at/all.toml").error(), "No such file or directory");
  EXPECT_EQ(read_text_file(testing::TempDir()).error(), "Is a directory");
  EXPECT_EQ(read_text_file("").error(), "No such file or directory");
}

TEST_F(TextFile, RefusesAnEndlessFile) {
  EXPECT_EQ(read_text_file("/dev/zero").error(), "it is larger than 1 MiB");
  EXPECT_EQ(read_text_file(write("large", std::string((1u << 20) + 1, '#'))).error(),
            "it is larger than 1 MiB");
  EXPECT_TRUE(read_text_file(write("largest", std::string(1u << 20, '#'))).ok());
}

TEST_F(TextFile, IsReadAsItWasWritten) {
  const std::string path = ::testing::TempDir() + "/text_file_test.txt";
  EXPECT_FALSE(write_text_file(path, "one"));
  EXPECT_FALSE(write_text_file(path, "two\n"));
  EXPECT_EQ(*read_text_file(path), "two\n");
  std::remove(path.c_str());
}

TEST_F(TextFile, WhyItCannotBeWrittenIsSaid) {
  EXPECT_EQ(write_text_file("/nonexistent/folder/file", ""), "No such file or directory");
  EXPECT_EQ(write_text_file("/dev/full", "text"), "No space left on device");
}

}  // namespace
}  // namespace shoal
