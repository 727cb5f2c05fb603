// report.html, which the build puts into the program.
#pragma once

#include <string_view>

namespace shoal {

std::string_view report_page();

}  // namespace shoal
