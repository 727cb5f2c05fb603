#include "shared/base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <memory>

#include "shared/base/character.hpp"
#include "shared/base/json_string.hpp"

namespace shoal {
namespace {

std::atomic<LogLevel> current_level{LogLevel::Off};
std::atomic<LogFormat> current_format{LogFormat::Text};

// The level's word is ours: the same that --log-level takes.
std::string_view word_of(LogLevel level) {
  switch (level) {
    case LogLevel::Trace:
      return "trace";
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warn:
      return "warn";
    case LogLevel::Error:
      return "error";
    case LogLevel::Off:
      return "off";
  }
  return "off";
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::Trace:
      return spdlog::level::trace;
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warn:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
    case LogLevel::Off:
      return spdlog::level::off;
  }
  return spdlog::level::off;
}

constexpr const char* kTextPattern = "%H:%M:%S.%e %^%-5l%$ %v";
constexpr const char* kJsonPattern = R"({"ts":"%Y-%m-%dT%H:%M:%S.%eZ",%v})";

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = spdlog::stderr_color_mt("shoal");
    made->set_pattern(kTextPattern);
    made->set_level(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

// On one line, and with nothing in it that steers a terminal.
std::string text_of(std::string_view line) {
  std::string text;
  text.reserve(line.size());
  while (!line.empty()) {
    const Character character = first_character(line);
    const std::string_view bytes = line.substr(0, character.bytes);
    if (character.kind == Character::Kind::Plain) {
      text += bytes;
    } else {
      for (const char c : bytes) text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    line.remove_prefix(character.bytes);
  }
  return text;
}

// What stands in the braces after "ts".
std::string json_of(LogLevel level, std::string_view line, const LogFields& fields) {
  std::string json = fmt::format("\"level\":\"{}\",\"msg\":", word_of(level));
  append_json_string(json, line);
  for (const auto& [key, value] : {std::pair("session", &fields.session), std::pair("player", &fields.player),
                                   std::pair("peer", &fields.peer)}) {
    if (value->empty()) continue;
    json += fmt::format(",\"{}\":", key);
    append_json_string(json, *value);
  }
  return json;
}

}  // namespace

void set_log_level(LogLevel level) {
  current_level.store(level, std::memory_order_relaxed);
}
LogLevel log_level() {
  return current_level.load(std::memory_order_relaxed);
}
void set_log_format(LogFormat format) {
  current_format.store(format, std::memory_order_relaxed);
  if (format == LogFormat::Json) {
    logger().set_pattern(kJsonPattern, spdlog::pattern_time_type::utc);
  } else {
    logger().set_pattern(kTextPattern);
  }
}
LogFormat log_format() {
  return current_format.load(std::memory_order_relaxed);
}
void log_line(LogLevel level, std::string_view line, const LogFields& fields) {
  logger().log(to_spdlog(level),
               log_format() == LogFormat::Json ? json_of(level, line, fields) : text_of(line));
}

}  // namespace shoal
