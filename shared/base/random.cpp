#include "shared/base/random.hpp"

#include <sys/random.h>

#include <cerrno>

namespace shoal {

void SystemEntropy::fill(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    SHOAL_ASSERT(got > 0, "the operating system gives no random bytes");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

void SeededEntropy::fill(std::span<std::byte> bytes) {
  for (auto& byte : bytes) byte = static_cast<std::byte>(random_.next() >> 56);
}

}  // namespace shoal
