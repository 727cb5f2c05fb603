#include "shared/base/assert.hpp"

#include <cstdio>
#include <cstdlib>

namespace shoal {

void assertion_failed(const char* condition, const char* message, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: shoal assertion failed: %s\n  %s\n", file, line, condition, message);
  std::fflush(stderr);
  std::abort();
}

}  // namespace shoal
