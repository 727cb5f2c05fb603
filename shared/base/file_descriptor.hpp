// A file descriptor that is closed with its scope.
#pragma once

#include <unistd.h>

namespace shoal {

class FileDescriptor {
 public:
  /// What open() gave; below 0: there is none.
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace shoal
