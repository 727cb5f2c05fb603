#include "client/bots/display.hpp"

#include <algorithm>
#include <cstdio>

#include "shared/base/log.hpp"

namespace shoal {
namespace {

constexpr Duration kBetweenLines = seconds(5);

}  // namespace

void Display::refresh(Time now, const SwarmSummary& summary) {
  const Duration between = now - last_;
  if (!is_terminal_ && between < kBetweenLines) return;
  const Progress progress{now - started_, length_};
  if (is_terminal_) {
    const std::string table = status_table(summary, before_, between, progress);
    if (lines_ > 0) std::fprintf(stderr, "\033[%dA\033[J", lines_);
    std::fputs(table.c_str(), stderr);
    lines_ = static_cast<int>(std::count(table.begin(), table.end(), '\n'));
  } else {
    log_info("{}", status_line(summary, before_, between, progress));
  }
  before_ = summary;
  last_ = now;
}

}  // namespace shoal
