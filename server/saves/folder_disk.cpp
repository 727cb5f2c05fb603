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
std::error_code last_error() {
  return error_of(errno);
}
std::error_code outcome(int result) {
  return result == 0 ? std::error_code() : last_error();
}

bool is_same_file(int descriptor, const struct stat& other) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && status.st_dev == other.st_dev && status.st_ino == other.st_ino;
}

std::error_code write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return last_error();
    if (written == 0) return error_of(ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

// For a person who wonders who holds the folder; the lock itself is the kernel's.
std::error_code write_process_id(int descriptor) {
  if (::ftruncate(descriptor, 0) != 0 || ::lseek(descriptor, 0, SEEK_SET) != 0) return last_error();
  const std::string text = fmt::format("{}\n", ::getpid());
  if (const auto error = write_all(descriptor, std::as_bytes(std::span(text)))) return error;
  return outcome(::fsync(descriptor));
}

}  // namespace

FolderDisk::~FolderDisk() {
  if (file_ >= 0) ::close(file_);
  if (lock_ >= 0) ::close(lock_);
}

std::error_code FolderDisk::make() {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (!error && !std::filesystem::is_directory(path_, error)) return error_of(ENOTDIR);
  return error;
}

std::error_code FolderDisk::claim() {
  const int file = ::open(path_of("lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (file < 0) return last_error();
  struct stat at_path {};
  std::error_code error = outcome(::fstat(file, &at_path));
  if (!error && lock_ >= 0 && is_same_file(lock_, at_path)) {
    ::close(file);
    return {};
  }
  if (!error) error = outcome(::flock(file, LOCK_EX | LOCK_NB));
  if (!error) error = write_process_id(file);
  if (error) {
    ::close(file);
    return error;
  }
  if (lock_ >= 0) ::close(lock_);
  lock_ = file;
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
  const int file = ::open(path_of(name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return Failure{last_error()};
  struct stat status {};
  std::error_code error = outcome(::fstat(file, &status));
  if (!error && S_ISDIR(status.st_mode)) error = error_of(EISDIR);
  if (!error && (!S_ISREG(status.st_mode) || status.st_size > kMaxFileBytes)) error = error_of(EINVAL);
  std::vector<std::byte> bytes(error ? 0 : static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (!error && have < bytes.size()) {
    const ssize_t got = ::read(file, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) error = last_error();
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  ::close(file);
  if (error) return Failure{error};
  bytes.resize(have);  // somebody may have cut it meanwhile
  return bytes;
}

std::error_code FolderDisk::create(const std::string& name) {
  file_ = ::open(path_of(name).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  return file_ >= 0 ? std::error_code() : last_error();
}

std::error_code FolderDisk::write(std::span<const std::byte> bytes) {
  if (fault("save-disk-full")) return error_of(ENOSPC);
  return write_all(file_, bytes);
}

std::error_code FolderDisk::sync() {
  if (fault("save-sync-fails")) return error_of(EIO);
  return outcome(::fsync(file_));
}

std::error_code FolderDisk::close() {
  if (file_ < 0) return {};
  const int file = std::exchange(file_, -1);
  return outcome(::close(file));
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
  const int folder = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return last_error();
  std::error_code error = outcome(::fsync(folder));
  ::close(folder);
  // Some network file systems do not sync folders, and need not.
  if (error.value() == EINVAL || error.value() == ENOTSUP) error.clear();
  return error;
}

}  // namespace shoal
