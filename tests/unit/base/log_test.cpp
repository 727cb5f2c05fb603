#include "shared/base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace shoal {
namespace {

using testing::MatchesRegex;

// What a line looks like at standard error.
class Log : public testing::Test {
 protected:
  void SetUp() override { set_log_level(LogLevel::Info); }
  void TearDown() override {
    set_log_format(LogFormat::Text);
    set_log_level(LogLevel::Off);
  }
  template <class Write>
  static std::string written(Write write) {
    testing::internal::CaptureStderr();
    write();
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(Log, TextIsTimeLevelAndWords) {
  const std::string line = written([] { log_info(LogFields{.player = "ab"}, "player {} came", 3); });
  EXPECT_THAT(line, MatchesRegex("[0-9:.]+ info  player 3 came\n"));
}

TEST_F(Log, JsonIsAnObjectWithTheFieldsThatAreThere) {
  set_log_format(LogFormat::Json);
  const std::string bare = written([] { log_warn("{} entities", 7); });
  EXPECT_THAT(bare,
              MatchesRegex("\\{\"ts\":\"20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]"
                           "\\.[0-9][0-9][0-9]Z\",\"level\":\"warn\",\"msg\":\"7 entities\"\\}\n"));
  const std::string full =
      written([] { log_info(LogFields{.session = "3.1", .player = "0af1", .peer = "[::1]:9"}, "came"); });
  EXPECT_THAT(full, testing::EndsWith(
                        R"("level":"info","msg":"came","session":"3.1","player":"0af1","peer":"[::1]:9"})"
                        "\n"));
}

TEST_F(Log, AnyBytesStayOneLine) {
  const std::string hostile("a\nb\r\x1B[2J\"\\\xFF\0z", 13);
  EXPECT_THAT(written([&] { log_info("{}", hostile); }),
              testing::EndsWith(std::string("a\\x0ab\\x0d\\x1b[2J\"\\\\xff\\x00z\n")));
  set_log_format(LogFormat::Json);
  EXPECT_THAT(
      written([&] { log_info(LogFields{.peer = hostile}, "{}", hostile); }),
      testing::EndsWith(
          R"("msg":"a\nb\u000d\u001b[2J\"\\\ufffd\u0000z","peer":"a\nb\u000d\u001b[2J\"\\\ufffd\u0000z"})"
          "\n"));
}

TEST_F(Log, NothingSteersATerminal) {
  const std::string hostile =
      "a\xC2\x9B"
      "2Jb \xE2\x80\xAE";
  EXPECT_THAT(written([&] { log_info("{}", hostile); }),
              testing::EndsWith("a\\xc2\\x9b2Jb \\xe2\\x80\\xae\n"));
  set_log_format(LogFormat::Json);
  EXPECT_THAT(written([&] { log_info("{}", hostile); }), testing::EndsWith(R"("msg":"a\u009b2Jb \u202e"})"
                                                                           "\n"));
}

TEST_F(Log, WordsOfAnyLanguageStandAsTheyAre) {
  const std::string words = "J\xC3\xBCrgen \xE6\x97\xA5\xE6\x9C\xAC";
  for (const LogFormat format : {LogFormat::Text, LogFormat::Json}) {
    set_log_format(format);
    EXPECT_THAT(written([&] { log_info("{}", words); }), testing::HasSubstr(words));
  }
}

TEST_F(Log, LevelHoldsForBothFormats) {
  for (const LogFormat format : {LogFormat::Text, LogFormat::Json}) {
    set_log_format(format);
    EXPECT_EQ(written([] { log_debug(LogFields{.player = "ab"}, "detail"); }), "");
  }
}

}  // namespace
}  // namespace shoal
