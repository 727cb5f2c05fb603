// Reads a configuration file from the disk; main gives this to OptionTable::parse, tests give their own.
#pragma once

#include <string>

#include "shared/base/result.hpp"

namespace shoal {

/// The whole file. The error says why not: not there, no permission, a folder, larger than 1 MiB.
Result<std::string, std::string> read_text_file(const std::string& path);

}  // namespace shoal
