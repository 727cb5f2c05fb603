// The log, spdlog behind it in one file. One line per event, with the words a person searches for. The level
// is set once by main; tests and the simulation leave it at `Off`.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace shoal {

enum class LogLevel { Trace, Debug, Info, Warn, Error, Off };

/// REQUIRES: called before other threads log. Lines go to standard error.
void set_log_level(LogLevel level);
LogLevel log_level();
/// Writes one line; safe from several threads.
void log_line(LogLevel level, std::string_view line);

template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (level >= log_level()) log_line(level, fmt::format(format, std::forward<Args>(args)...));
}
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Debug, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Info, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Warn, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Error, format, std::forward<Args>(args)...);
}

}  // namespace shoal
