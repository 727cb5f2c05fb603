#include "shared/config/version.hpp"

namespace shoal {

const char* const kVersion = SHOAL_VERSION;

}  // namespace shoal
