#include "server/saves/folder_disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr mode_t kMode = S_IRUSR | S_IWUSR | S_IRGRP;
// No image is larger (shared/image/image_file.cpp).
constexpr off_t kMaxFileBytes = off_t{1} << 31;

std::error_code error_of(int number) {
  return {number, std::generic_category()};
}
std::error_code outcome(int result) {
  return result == 0 ? std::error_code() : last_system_error();
}

bool is_same_file(const FileDescriptor& file, const struct stat& other) {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 && status.st_dev == other.st_dev && status.st_ino == other.st_ino;
}

// For a person who wonders who holds the folder; the lock itself is the kernel's.
std::error_code write_process_id(const FileDescriptor& file) {
  if (::ftruncate(file.get(), 0) != 0 || ::lseek(file.get(), 0, SEEK_SET) != 0) return last_system_error();
  const std::string text = fmt::format("{}\n", ::getpid());
  if (const auto error = write_all(file, std::as_bytes(std::span(text)))) return error;
  return outcome(::fsync(file.get()));
}

}  // namespace

std::error_code FolderDisk::make() {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (!error && !std::filesystem::is_directory(path_, error)) return error_of(ENOTDIR);
  return error;
}

std::error_code FolderDisk::claim() {
  FileDescriptor file(::open(path_of("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (!file.is_open()) return last_system_error();
  struct stat at_path {};
  if (::fstat(file.get(), &at_path) != 0) return last_system_error();
  if (lock_.is_open() && is_same_file(lock_, at_path)) return {};
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return last_system_error();
  if (const auto error = write_process_id(file)) return error;
  lock_ = std::move(file);
  return {};
}

Result<std::vector<std::string>, std::error_code> FolderDisk::list() {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entries(path_, error);
  for (const std::filesystem::directory_iterator end; !error && entries != end; entries.increment(error))
    names.push_back(entries->path().filename().string());
  if (error) return Failure{error};
  return names;
}

Result<std::vector<std::byte>, std::error_code> FolderDisk::read(const std::string& name) {
  const FileDescriptor file(::open(path_of(name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0) return Failure{last_system_error()};
  if (S_ISDIR(status.st_mode)) return Failure{error_of(EISDIR)};
  if (!S_ISREG(status.st_mode) || status.st_size > kMaxFileBytes) return Failure{error_of(EINVAL)};
  std::vector<std::byte> bytes(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failure{last_system_error()};
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);  // somebody may have cut it meanwhile
  return bytes;
}

std::error_code FolderDisk::create(const std::string& name) {
  FileDescriptor file(::open(path_of(name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!file.is_open()) return last_system_error();
  file_ = std::move(file);
  return {};
}

std::error_code FolderDisk::write(std::span<const std::byte> bytes) {
  if (fault("save-disk-full")) return error_of(ENOSPC);
  return write_all(file_, bytes);
}

std::error_code FolderDisk::sync() {
  if (fault("save-sync-fails")) return error_of(EIO);
  return outcome(::fsync(file_.get()));
}

std::error_code FolderDisk::close() {
  return file_.is_open() ? outcome(::close(file_.release())) : std::error_code();
}

std::error_code FolderDisk::rename(const std::string& from, const std::string& to) {
  if (fault("save-rename-fails")) return error_of(EIO);
  return outcome(::rename(path_of(from).c_str(), path_of(to).c_str()));
}

std::error_code FolderDisk::remove(const std::string& name) {
  return outcome(::unlink(path_of(name).c_str()));
}

std::error_code FolderDisk::sync_folder() {
  if (fault("save-folder-sync-fails")) return error_of(EIO);
  const FileDescriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return last_system_error();
  std::error_code error = outcome(::fsync(folder.get()));
  // Some network file systems do not sync folders, and need not.
  if (error.value() == EINVAL || error.value() == ENOTSUP) error.clear();
  return error;
}

}  // namespace shoal
