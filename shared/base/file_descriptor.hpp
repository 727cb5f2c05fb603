// A file descriptor that is closed with its scope.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

namespace shoal {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// What open() gave; below 0: there is none.
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() {
    if (is_open()) ::close(descriptor_);
  }
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  /// Closes what was open here.
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    FileDescriptor old(std::exchange(descriptor_, other.release()));
    return *this;
  }

  bool is_open() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }
  /// For who closes it and wants to know what close() says.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

/// What errno says.
std::error_code last_system_error();

/// Goes on until all is written; the error that stopped it otherwise.
std::error_code write_all(const FileDescriptor& file, std::span<const std::byte> bytes);

}  // namespace shoal
