#include "shared/base/file_descriptor.hpp"

#include <cerrno>

namespace shoal {

std::error_code last_system_error() {
  return {errno, std::generic_category()};
}

std::error_code write_all(const FileDescriptor& file, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_system_error();
    if (written == 0) return {ENOSPC, std::generic_category()};
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

}  // namespace shoal
