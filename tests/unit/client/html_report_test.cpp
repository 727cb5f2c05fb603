#include "client/bots/html_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/bots/report.hpp"

namespace shoal {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(HtmlReport, MarkupInTheReportStaysText) {
  const std::string html = html_report(R"({"name": "</script><!--<b>"})");
  EXPECT_THAT(html, HasSubstr(R"({"name": "\u003c/script>\u003c!--\u003cb>"})"));
  EXPECT_THAT(html, Not(HasSubstr("{{report}}")));
  EXPECT_THAT(html, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(html, testing::EndsWith("</html>\n"));
}

TEST(HtmlReport, PlaceholderInAStringIsNoPlaceholder) {
  RunRecord run;
  run.options = {{"report", "{{report}}"}};
  EXPECT_THAT(html_report(bots_report(run)), HasSubstr(R"("report": "{{report}}")"));
}

}  // namespace
}  // namespace shoal
