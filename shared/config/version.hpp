// The version that programs show, from CMake.
#pragma once

namespace shoal {

extern const char* const kVersion;

}  // namespace shoal
