// Writes one JSON object, indented, in the order of the calls: enough for reports, nothing more.
#pragma once

#include <fmt/core.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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
    text_ += fmt::format("{:.3f}", value);
  }
  /// REQUIRES: printable ASCII without quotes and backslashes.
  void add(std::string_view key, std::string_view value) {
    name(key);
    text_ += fmt::format("\"{}\"", value);
  }
  /// An array of whole numbers, on one line.
  void add(std::string_view key, std::span<const std::uint64_t> values) {
    name(key);
    text_ += '[';
    for (std::size_t i = 0; i < values.size(); ++i)
      text_ += fmt::format("{}{}", i == 0 ? "" : ", ", values[i]);
    text_ += ']';
  }
  void add(std::string_view key, const char* value) { add(key, std::string_view(value)); }
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
    text_ += fmt::format("\"{}\": ", key);
  }

  std::string text_;
  int depth_ = 1;
  bool is_first_ = true;
};

}  // namespace shoal
