#include "shared/base/json_string.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

std::string quoted(std::string_view value) {
  std::string text;
  append_json_string(text, value);
  return text;
}

TEST(JsonString, PlainTextAndUtf8StandAsTheyAre) {
  EXPECT_EQ(quoted(""), "\"\"");
  EXPECT_EQ(quoted("sea 7/8"), "\"sea 7/8\"");
  EXPECT_EQ(quoted("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\x9F"), "\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\x9F\"");
}

TEST(JsonString, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quoted("a\nb\tc\rd"), R"("a\nb\tc\u000dd")");
  EXPECT_EQ(quoted(std::string_view("\0\x1B\x7F", 3)), R"("\u0000\u001b\u007f")");
}

TEST(JsonString, EachByteThatIsNotUtf8BecomesTheReplacementCharacter) {
  EXPECT_EQ(quoted("a\xFFz"), R"("a\ufffdz")");
  EXPECT_EQ(quoted("\x80"), R"("\ufffd")") << "a continuation alone";
  EXPECT_EQ(quoted("\xC0\xAF"), R"("\ufffd\ufffd")") << "longer than needed";
  EXPECT_EQ(quoted("\xE0\x9F\xBF"), R"("\ufffd\ufffd\ufffd")") << "longer than needed";
  EXPECT_EQ(quoted("\xED\xA0\x80"), R"("\ufffd\ufffd\ufffd")") << "half a surrogate pair";
  EXPECT_EQ(quoted("\xF4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")") << "beyond U+10FFFF";
  EXPECT_EQ(quoted("\xE2\x82"), R"("\ufffd\ufffd")") << "cut off";
  EXPECT_EQ(quoted("\xE2\"x"), R"("\ufffd\"x")") << "what follows a broken character is looked at";
}

}  // namespace
}  // namespace shoal
