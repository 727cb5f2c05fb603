#include "client/bots/html_report.hpp"

#include "client/bots/report_page.hpp"

namespace shoal {

std::string html_report(std::string_view report) {
  constexpr std::string_view kPlace = "{{report}}";
  const std::string_view page = report_page();
  const std::size_t place = page.find(kPlace);
  std::string html(page.substr(0, place));
  html.reserve(page.size() + report.size() + report.size() / 8);
  // Inside of a script element nothing but "<" can end it or begin a comment; in JSON it stands in strings alone.
  for (const char c : report) {
    if (c == '<') {
      html += "\\u003c";
    } else {
      html += c;
    }
  }
  html += page.substr(place + kPlace.size());
  return html;
}

}  // namespace shoal
