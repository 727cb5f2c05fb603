#include "shared/net/key_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "shared/base/fault.hpp"
#include "shared/base/file_descriptor.hpp"

namespace shoal {
namespace {

constexpr std::size_t kDigits = 2 * kKeyBytes;
constexpr std::size_t kMaxFileBytes = 256;

std::optional<Secret> parse(std::string_view text, std::string_view kind) {
  if (!text.starts_with(kind) || text.size() < kind.size() + 1 || text[kind.size()] != '\n')
    return std::nullopt;
  text.remove_prefix(kind.size() + 1);
  Secret key;
  std::size_t bytes = 0;
  if (text.size() != kDigits + 1 || text.back() != '\n' ||
      sodium_hex2bin(key.data(), kKeyBytes, text.data(), kDigits, nullptr, &bytes, nullptr) != 0 ||
      bytes != kKeyBytes)
    return std::nullopt;
  return key;
}

}  // namespace

Result<Secret, std::string> read_key_file(const std::string& path, std::string_view kind) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open())
    return Failure{fmt::format("cannot read the key in {}: {}", path, std::strerror(errno))};
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Failure{fmt::format("{} is no file: a key lies in a file of its own", path)};
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0 && !fault("net-open-key-files")) {
    return Failure{
        fmt::format("others than its owner may use {} (mode {:04o}): chmod 600 it, or remove it and a "
                    "new key will be made",
                    path, status.st_mode & 07777)};
  }
  std::array<char, kMaxFileBytes> text;
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) return Failure{fmt::format("cannot read the key in {}: {}", path, std::strerror(errno))};
  const auto key = parse({text.data(), static_cast<std::size_t>(size)}, kind);
  sodium_memzero(text.data(), text.size());
  if (!key) {
    return Failure{
        fmt::format("{} holds no {}: restore the file, or remove it and a new key will be made", path, kind)};
  }
  return *key;
}

Result<Secret, std::string> make_key_file(const std::string& path, std::string_view kind, Entropy& entropy) {
  const Secret key = Secret::random(entropy);
  std::array<char, kDigits + 1> digits;
  sodium_bin2hex(digits.data(), digits.size(), key.data(), kKeyBytes);
  std::string text = fmt::format("{}\n{}\n", kind, digits.data());
  const auto why_not = [&]() -> std::optional<std::string> {
    std::error_code ignored;
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
    // Written beside and linked in: whoever reads finds all of it, and two programs that start at once one key. Their
    // process ids may be the same, in two containers.
    const std::string draft = fmt::format("{}.{:016x}", path, entropy.next());
    const FileDescriptor file(
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file.is_open()) return std::strerror(errno);
    std::error_code error = write_all(file, std::as_bytes(std::span(text)));
    if (!error && (::fsync(file.get()) != 0 || ::link(draft.c_str(), path.c_str()) != 0))
      error = last_system_error();
    ::unlink(draft.c_str());
    return error ? std::optional(error.message()) : std::nullopt;
  }();
  sodium_memzero(text.data(), text.size());
  sodium_memzero(digits.data(), digits.size());
  if (why_not) return Failure{fmt::format("cannot keep a new key in {}: {}", path, *why_not)};
  return key;
}

Result<KeptKey, std::string> read_or_make_key_file(const std::string& path, std::string_view kind,
                                                   Entropy& entropy) {
  if (::access(path.c_str(), F_OK) != 0 && errno == ENOENT) {
    auto made = make_key_file(path, kind, entropy);
    if (made) return KeptKey{*made, true};
    if (::access(path.c_str(), F_OK) != 0) return Failure{made.error()};
    // Somebody else made it at the same moment.
  }
  auto read = read_key_file(path, kind);
  if (!read) return Failure{read.error()};
  return KeptKey{*read, false};
}

}  // namespace shoal
