#include "shared/config/text_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace shoal {
namespace {

constexpr std::size_t kMaxBytes = 1u << 20;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

std::string reason() {
  return std::strerror(errno);
}

}  // namespace

Result<std::string, std::string> read_text_file(const std::string& path) {
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return Failure{reason()};
  std::string text(kMaxBytes + 1, '\0');
  errno = 0;
  const std::size_t bytes = std::fread(text.data(), 1, text.size(), file.get());
  if (std::ferror(file.get()) != 0) return Failure{reason()};  // a folder opens, but does not read
  if (bytes > kMaxBytes) return Failure{std::string("it is larger than 1 MiB")};
  text.resize(bytes);
  return text;
}

std::optional<std::string> write_text_file(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return reason();
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const std::string why_not = is_written ? std::string() : reason();
  // A full disk may only be told when the file is closed.
  if (std::fclose(file) != 0 && is_written) return reason();
  return is_written ? std::nullopt : std::optional(why_not);
}

}  // namespace shoal
