#include "server/admin/admin_token.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "shared/base/file_descriptor.hpp"

namespace shoal {
namespace {

constexpr std::size_t kMaxFileBytes = 4096;
constexpr std::string_view kScheme = "Bearer ";

}  // namespace

AdminTokenHash hash_of_token(std::string_view token) {
  AdminTokenHash hash{};
  crypto_generichash(hash.data(), hash.size(), reinterpret_cast<const unsigned char*>(token.data()),
                     token.size(), nullptr, 0);
  return hash;
}

Result<AdminTokenHash, std::string> read_token_file(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open())
    return Failure{fmt::format("cannot read the token in {}: {}", path, std::strerror(errno))};
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return Failure{fmt::format("{} is no file: a token is the first line of a file of its own", path)};
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Failure{fmt::format("others than its owner may use {} (mode {:04o}): chmod 600 it", path,
                               status.st_mode & 07777)};
  }
  std::array<char, kMaxFileBytes> text;
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  std::string_view line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  const bool is_long_enough = line.size() >= kLeastTokenBytes;
  const AdminTokenHash hash = hash_of_token(line);
  sodium_memzero(text.data(), text.size());
  if (!is_long_enough) {
    return Failure{
        fmt::format("the first line of {} is no token: at least {} characters, for example what "
                    "`openssl rand -hex 32` prints",
                    path, kLeastTokenBytes)};
  }
  return hash;
}

AdminGuard::Verdict AdminGuard::check(std::string_view authorization, const std::string& remote, Time now) {
  if (authorization.empty()) return Verdict::Missing;
  {
    const std::lock_guard lock(mutex_);
    const auto found = records_.find(remote);
    if (found != records_.end()) {
      Record& record = found->second;
      const auto forgiven = static_cast<std::uint32_t>(
          std::min<std::int64_t>((now - record.since) / kForgiveAfter, record.failures));
      record.failures -= forgiven;
      record.since = record.since + forgiven * kForgiveAfter;
      if (record.failures >= kMaxFailures) return Verdict::TooMany;
    }
  }
  const bool is_bearer = authorization.starts_with(kScheme);
  if (is_bearer) authorization.remove_prefix(kScheme.size());
  // Hashes are of one length, whatever was sent.
  const AdminTokenHash given = hash_of_token(authorization);
  if (sodium_memcmp(given.data(), token_.data(), token_.size()) == 0 && is_bearer) return Verdict::Good;
  failures_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  // Who comes from ever new addresses gains nothing but forgetting; a token cannot be guessed anyway.
  if (records_.size() >= kMaxAddresses && !records_.contains(remote)) records_.clear();
  Record& record = records_[remote];
  if (record.failures++ == 0) record.since = now;
  return Verdict::Wrong;
}

}  // namespace shoal
