// A run as a page to look at: one file that needs nothing else, no network and no library.
#pragma once

#include <string>
#include <string_view>

namespace shoal {

/// `report` is what bots_report returns. Whatever its strings hold, the page shows it as text.
std::string html_report(std::string_view report);

}  // namespace shoal
