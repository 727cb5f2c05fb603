// Writes one JSON object, indented, in the order of the calls: enough for reports, nothing more. Strings may hold any
// bytes; numbers that are not finite become null.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/json_string.hpp"

namespace shoal {

class JsonWriter {
 public:
  JsonWriter() : text_("{") {}

  void begin(std::string_view key) {
    name(key);
    text_ += '{';
    ++depth_;
    is_first_ = true;
  }
  void end() {
    --depth_;
    line();
    text_ += '}';
    is_first_ = false;
  }
  template <std::integral T>
  void add(std::string_view key, T value) {
    name(key);
    text_ += fmt::format("{}", value);
  }
  void add(std::string_view key, double value) {
    name(key);
    text_ += std::isfinite(value) ? fmt::format("{:.3f}", value) : "null";
  }
  void add(std::string_view key, std::string_view value) {
    name(key);
    append_json_string(text_, value);
  }
  void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
  // Arrays, each on one line.
  void add(std::string_view key, std::span<const std::uint64_t> values) {
    array(key, values, [&](std::uint64_t value) { text_ += fmt::format("{}", value); });
  }
  /// Six significant digits.
  void add(std::string_view key, std::span<const double> values) {
    array(key, values,
          [&](double value) { text_ += std::isfinite(value) ? fmt::format("{:.6g}", value) : "null"; });
  }
  void add(std::string_view key, std::span<const std::string> values) {
    array(key, values, [&](const std::string& value) { append_json_string(text_, value); });
  }
  /// The whole object. Call it once, at the end.
  std::string finish() {
    text_ += "\n}\n";
    return std::move(text_);
  }

 private:
  void line() { text_ += '\n' + std::string(static_cast<std::size_t>(depth_) * 2, ' '); }
  void name(std::string_view key) {
    if (!is_first_) text_ += ',';
    is_first_ = false;
    line();
    append_json_string(text_, key);
    text_ += ": ";
  }
  template <class T, class Write>
  void array(std::string_view key, std::span<const T> values, Write write) {
    name(key);
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      write(values[i]);
    }
    text_ += ']';
  }

  std::string text_;
  int depth_ = 1;
  bool is_first_ = true;
};

}  // namespace shoal
