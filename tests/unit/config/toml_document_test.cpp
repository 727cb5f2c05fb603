#include "shared/config/toml_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shoal {
namespace {

TEST(TomlDocument, GivesValuesAndPlacesInTheOrderOfTheFile) {
  const auto document = parse_toml(
      "zero = 0\n[beta]\ntext = \"five\"\n  half = 0.5\n[alpha]\nlist = [true, {x = 1}]\n", "a.toml");
  ASSERT_TRUE(document.ok()) << document.error();
  ASSERT_EQ(document->size(), 3u);
  const TomlEntry& zero = (*document)[0];
  EXPECT_EQ(zero.key, "zero");
  EXPECT_EQ(zero.place, (TomlPlace{1, 1}));
  EXPECT_EQ(zero.value.place, (TomlPlace{1, 8}));
  EXPECT_EQ(*zero.value.get_if<std::int64_t>(), 0);
  EXPECT_EQ(zero.value.get_if<double>(), nullptr);

  const auto* beta = (*document)[1].value.get_if<TomlTable>();
  ASSERT_NE(beta, nullptr);
  EXPECT_EQ((*beta)[0].key, "text");
  EXPECT_EQ(*(*beta)[0].value.get_if<std::string>(), "five");
  EXPECT_EQ((*beta)[1].place, (TomlPlace{4, 3}));
  EXPECT_EQ(*(*beta)[1].value.get_if<double>(), 0.5);

  const auto* list = (*(*document)[2].value.get_if<TomlTable>())[0].value.get_if<TomlArray>();
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(*(*list)[0].get_if<bool>(), true);
  EXPECT_EQ((*list)[1].get_if<TomlTable>()->front().key, "x");
  EXPECT_EQ((*list)[1].place, (TomlPlace{6, 15}));
}

TEST(TomlDocument, ValuesDescribeThemselves) {
  const auto document =
      parse_toml("a = 5\nb = 1.5\nc = \"x\"\nd = false\ne = []\nf = {}\ng = 1979-05-27\n", "a.toml");
  ASSERT_TRUE(document.ok()) << document.error();
  std::vector<std::string> described;
  for (const auto& entry : *document) described.push_back(entry.value.describe());
  EXPECT_THAT(described, testing::ElementsAre("the whole number 5", "the number 1.5", "a string \"x\"",
                                              "false", "an array", "a table", "a date or time"));
}

TEST(TomlDocument, WhatIsNoTomlIsToldWithItsPlace) {
  const auto document = parse_toml("a = 1\nb = = 2\n", "a.toml");
  ASSERT_FALSE(document.ok());
  EXPECT_THAT(document.error(), testing::StartsWith("a.toml:2:"));
  EXPECT_THAT(document.error(), testing::HasSubstr("not TOML"));
}

TEST(TomlDocument, DepthIsBounded) {
  const auto document = parse_toml("a = " + std::string(100'000, '['), "a.toml");
  EXPECT_FALSE(document.ok());
}

}  // namespace
}  // namespace shoal
