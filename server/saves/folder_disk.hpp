// A folder of the file system as a SaveDisk. By path, so that it finds a folder again that was away for a while.
#pragma once

#include "server/saves/save_disk.hpp"
#include "shared/base/file_descriptor.hpp"

namespace shoal {

class FolderDisk final : public SaveDisk {
 public:
  explicit FolderDisk(std::string path) : path_(std::move(path)) {}

  /// Makes the folder, and those above it, where there is none.
  std::error_code make();

  /// By a lock (flock) on the file "lock", which goes with the process.
  std::error_code claim() override;
  Result<std::vector<std::string>, std::error_code> list() override;
  Result<std::vector<std::byte>, std::error_code> read(const std::string& name) override;
  std::error_code create(const std::string& name) override;
  std::error_code write(std::span<const std::byte> bytes) override;
  std::error_code sync() override;
  std::error_code close() override;
  std::error_code rename(const std::string& from, const std::string& to) override;
  std::error_code remove(const std::string& name) override;
  std::error_code sync_folder() override;

 private:
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }

  std::string path_;
  FileDescriptor lock_;
  FileDescriptor file_;
};

}  // namespace shoal
