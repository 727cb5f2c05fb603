// The folder of the saves as SaveStore needs it. FolderDisk is the real one; tests have one in memory that loses power.
//
// Thread rule: one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "shared/base/result.hpp"

namespace shoal {

class SaveDisk {
 public:
  virtual ~SaveDisk() = default;

  /// Nobody else saves into this folder from now on until this ends: else std::errc::resource_unavailable_try_again.
  /// Again before each save, since a folder may have been put in the place of another.
  virtual std::error_code claim() = 0;
  /// The names of the folder's files, in any order.
  virtual Result<std::vector<std::string>, std::error_code> list() = 0;
  virtual Result<std::vector<std::byte>, std::error_code> read(const std::string& name) = 0;

  // One file at a time is written: create, write any number of times, sync, close. Its bytes outlive a loss of power from
  // sync on, its name from sync_folder on.

  /// Refuses a name that is there.
  virtual std::error_code create(const std::string& name) = 0;
  /// All of them or an error.
  virtual std::error_code write(std::span<const std::byte> bytes) = 0;
  virtual std::error_code sync() = 0;
  /// Without effect when no file is open.
  virtual std::error_code close() = 0;

  /// In the place of what had the new name, in one instant.
  virtual std::error_code rename(const std::string& from, const std::string& to) = 0;
  virtual std::error_code remove(const std::string& name) = 0;
  virtual std::error_code sync_folder() = 0;
};

}  // namespace shoal
