// A TOML file as plain values, each with its place in the file: for files that are no options, such as the bots' stages.
// The reader is in toml_file.cpp, the one file that knows the library.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "shared/base/result.hpp"

namespace shoal {

/// Counted from 1.
struct TomlPlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend auto operator<=>(const TomlPlace&, const TomlPlace&) = default;
};

struct TomlValue;
struct TomlEntry;
using TomlArray = std::vector<TomlValue>;
/// In the order of the file; no key comes twice.
using TomlTable = std::vector<TomlEntry>;
/// A date or a time: a value that nobody here has a use for.
struct TomlOther {};

struct TomlValue {
  std::variant<bool, std::int64_t, double, std::string, TomlArray, TomlTable, TomlOther> value;
  TomlPlace place;

  template <class T>
  const T* get_if() const {
    return std::get_if<T>(&value);
  }
  /// What stands there, for a complaint: "the whole number 5", "a string \"five\"", "a table".
  std::string describe() const;
};

struct TomlEntry {
  std::string key;
  TomlPlace place;  // of the key
  TomlValue value;
};

/// "stages.toml:3:8", for the beginning of a complaint.
std::string place_text(std::string_view path, TomlPlace place);

/// The table at the top. The error names path, line and column of what is not TOML.
Result<TomlTable, std::string> parse_toml(std::string_view text, const std::string& path);

}  // namespace shoal
