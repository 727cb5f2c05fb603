// Text files on the disk: configurations in, reports out. Used by mains; tests of options give a reader of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shared/base/result.hpp"

namespace shoal {

/// The whole file. The error says why not: not there, no permission, a folder, larger than 1 MiB.
Result<std::string, std::string> read_text_file(const std::string& path);

/// Replaces the file. None: done; otherwise why not. With an empty text it tells beforehand whether a report could be
/// written.
std::optional<std::string> write_text_file(const std::string& path, std::string_view text);

}  // namespace shoal
