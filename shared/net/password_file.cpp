#include "shared/net/password_file.hpp"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "shared/net/handshake.hpp"

namespace shoal {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

Result<FilePassword, std::string> read_password_file(const std::string& path) {
  const auto fail = [&path](std::string_view why) {
    return Failure{fmt::format("no password in {}: {}", path, why)};
  };
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return fail(std::strerror(errno));
  // Nothing of it stays behind in a buffer of the library's.
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  struct stat status {};
  if (::fstat(fileno(file.get()), &status) != 0) return fail(std::strerror(errno));
  std::array<char, kMaxCredentialBytes + 2> text;
  const std::size_t size = std::fread(text.data(), 1, text.size(), file.get());
  if (std::ferror(file.get()) != 0) return fail(std::strerror(errno));  // a folder opens, but does not read
  std::string_view line(text.data(), size);
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  FilePassword result{std::string(line),
                      S_ISREG(status.st_mode) && (status.st_mode & (S_IRGRP | S_IROTH)) != 0};
  sodium_memzero(text.data(), text.size());
  if (result.password.empty()) return fail("its first line is empty");
  if (result.password.size() > kMaxCredentialBytes)
    return fail(fmt::format("its first line is longer than {} bytes", kMaxCredentialBytes));
  return result;
}

}  // namespace shoal
