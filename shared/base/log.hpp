// The log, spdlog behind it in one file. One line per event, with the words a person searches for; whom the line is
// about can stand beside it for machines. Level and format are set once by main; tests and the simulation leave the
// level at `Off`.
//
// 1. A line stays one line whatever its words hold: what steers a terminal is escaped, and what is no UTF-8.
// 2. As JSON each line is one object, valid UTF-8: "ts" (RFC 3339, UTC, milliseconds), "level", "msg", then the fields.
// 3. No secret is ever logged: no password, no ticket, no secret key.
// Who writes lines that peers can cause asks a LineAllowance first (shared/base/line_allowance.hpp).
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace shoal {

enum class LogLevel { Trace, Debug, Info, Warn, Error, Off };
enum class LogFormat { Text, Json };

/// Whom a line is about. The words of the line say so, too, in the form that people read: text shows them alone.
struct LogFields {
  std::string session{};  // "3.1": slot and generation; empty: none, as in all three
  std::string player{};   // the player's id, 32 hexadecimal digits
  std::string peer{};     // "192.0.2.7:4000"
};

/// REQUIRES: called before other threads log. Lines go to standard error.
void set_log_level(LogLevel level);
LogLevel log_level();
/// REQUIRES: as set_log_level.
void set_log_format(LogFormat format);
LogFormat log_format();
/// Writes one line; safe from several threads.
void log_line(LogLevel level, std::string_view line, const LogFields& fields = {});

template <class... Args>
void log(LogLevel level, const LogFields& fields, fmt::format_string<Args...> format, Args&&... args) {
  if (level >= log_level()) log_line(level, fmt::format(format, std::forward<Args>(args)...), fields);
}
template <class... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  log(level, {}, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_debug(const LogFields& fields, fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Debug, fields, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_debug(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Debug, {}, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(const LogFields& fields, fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Info, fields, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_info(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Info, {}, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warn(const LogFields& fields, fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Warn, fields, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warn(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Warn, {}, format, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(fmt::format_string<Args...> format, Args&&... args) {
  log(LogLevel::Error, {}, format, std::forward<Args>(args)...);
}

}  // namespace shoal
