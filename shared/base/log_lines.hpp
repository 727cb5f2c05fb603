// What has several lines, in the log: a line of the log is one line, and all else in it is escaped.
#pragma once

#include <algorithm>
#include <string_view>

#include "shared/base/log.hpp"

namespace shoal {

/// Each of the lines of `text` as a line of its own.
inline void log_lines(LogLevel level, std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    log(level, "{}", line);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
}

}  // namespace shoal
