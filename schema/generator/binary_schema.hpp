// Reads the binary schema that `flatc -b --schema` writes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "schema/generator/declarations.hpp"
#include "shared/base/result.hpp"

namespace shoal::schemac {

/// Copies the declarations out of a .bfbs buffer. The error is one sentence for a person: the buffer is not a
/// binary schema, or not a sound one.
Result<Declarations, std::string> read_binary_schema(std::span<const std::byte> bytes);

}  // namespace shoal::schemac
