#include "server/saves/save_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr std::string_view kPrefix = "world-";
constexpr std::string_view kSuffix = ".image";
constexpr std::string_view kUnfinished = ".part";
constexpr std::string_view kDamaged = ".damaged";
// Larger ones fit no 64 bits: a file with such a name is nobody's save.
constexpr std::size_t kMaxDigits = 18;  // so that the next number has no more than can be read again

struct Name {
  std::uint64_t number = 0;
  std::string_view state;  // empty, kUnfinished or kDamaged
};

std::optional<Name> parse(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMaxDigits) return std::nullopt;
  Name name;
  std::from_chars(text.data(), text.data() + digits, name.number);
  text.remove_prefix(digits);
  if (!text.starts_with(kSuffix)) return std::nullopt;
  name.state = text.substr(kSuffix.size());
  if (!name.state.empty() && name.state != kUnfinished && name.state != kDamaged) return std::nullopt;
  return name;
}

// As nothing and nobody could have foreseen it; only where a fault says so.
void crash() {
  std::raise(SIGKILL);
}

}  // namespace

std::string describe_disk_error(const std::error_code& error, const std::string& folder) {
  const auto with = [&](std::string_view remedy) { return fmt::format("{}: {}", error.message(), remedy); };
  switch (static_cast<std::errc>(error.value())) {
    case std::errc::resource_unavailable_try_again:
      return fmt::format(
          "another server saves there: give each server a folder of its own, or end that one (its process "
          "id stands in {}/lock)",
          folder);
    case std::errc::no_space_on_device:
      return with("make room, or keep fewer saves with --save-keep");
    case std::errc::file_too_large:
      return with("raise the limit of file sizes (ulimit -f)");
    case std::errc::read_only_file_system:
      return with("mount it so that it can be written");
    case std::errc::permission_denied:
    case std::errc::operation_not_permitted:
      return with("give the server's user the right to write there");
    case std::errc::no_such_file_or_directory:
      return with("the folder is gone: make it, or mount it again");
    case std::errc::io_error:
      return with("the disk fails: look at the kernel's log, and copy the saves to another one");
    default:
      return error.message();
  }
}

SaveStore::SaveStore(SaveDisk& disk, std::string folder, std::uint32_t keep)
    : disk_(disk), folder_(std::move(folder)), keep_(keep) {
  SHOAL_ASSERT(keep > 0, "the newest save is always kept");
}

std::string SaveStore::failure(std::string_view what, const std::error_code& error) const {
  return fmt::format("{} {}: {}", what, folder_, describe_disk_error(error, folder_));
}

std::optional<std::string> SaveStore::open() {
  if (const auto error = disk_.claim()) return failure("cannot save into", error);
  const auto names = disk_.list();
  if (!names) return failure("cannot look into", names.error());
  for (const std::string& text : *names) {
    const auto name = parse(text);
    if (!name) continue;
    newest_ = std::max(newest_, name->number);
    if (name->state != kUnfinished) continue;
    if (const auto error = disk_.remove(text))
      return failure(fmt::format("cannot remove {} from", text), error);
  }
  return std::nullopt;
}

Result<SaveStore::Listing, std::string> SaveStore::list() {
  const auto names = disk_.list();
  if (!names) return Failure{failure("cannot look into", names.error())};
  std::vector<std::pair<std::uint64_t, std::string>> saves;
  Listing listing;
  for (const std::string& text : *names) {
    const auto name = parse(text);
    if (!name) continue;
    if (name->state.empty()) saves.emplace_back(name->number, text);
    if (name->state == kDamaged) listing.damaged.push_back(text);
  }
  // "world-7.image" was put there by hand, and is as good as "world-00000007.image".
  std::sort(saves.rbegin(), saves.rend());
  for (auto& [number, text] : saves) listing.saves.push_back(std::move(text));
  return listing;
}

std::optional<std::string> SaveStore::set_aside(const std::string& name) {
  const auto error = disk_.rename(name, name + std::string(kDamaged));
  if (error) return failure(fmt::format("cannot set {} aside in", name), error);
  return std::nullopt;
}

Result<SaveStore::Saved, std::string> SaveStore::save(std::span<const std::byte> image) {
  if (const auto error = disk_.claim()) return Failure{failure("cannot save into", error)};
  const auto names = disk_.list();
  if (!names) return Failure{failure("cannot look into", names.error())};
  std::vector<std::pair<std::uint64_t, std::string>> saves;
  for (const std::string& text : *names) {
    const auto name = parse(text);
    if (!name) continue;
    newest_ = std::max(newest_, name->number);
    if (name->state.empty()) saves.emplace_back(name->number, text);
    if (name->state == kUnfinished) disk_.remove(text);  // of a save that failed, and could not even do this
  }
  Saved saved{fmt::format("{}{:08}{}", kPrefix, ++newest_, kSuffix), {}};
  const std::string unfinished = saved.name + std::string(kUnfinished);
  if (const auto error = write(unfinished, saved.name, image)) {
    disk_.close();
    disk_.remove(unfinished);
    // It may have its name already: else a folder that cannot be synced would fill up.
    disk_.remove(saved.name);
    return Failure{failure("cannot write a save into", error)};
  }
  // Only now: until here one of these may be all there is.
  std::sort(saves.rbegin(), saves.rend());
  for (std::size_t i = keep_ - 1; i < saves.size(); ++i) {
    if (const auto error = disk_.remove(saves[i].second))
      saved.complaint = failure(fmt::format("cannot remove {} from", saves[i].second), error);
  }
  return saved;
}

std::error_code SaveStore::write(const std::string& unfinished, const std::string& name,
                                 std::span<const std::byte> image) {
  if (const auto error = disk_.create(unfinished)) return error;
  if (fault("save-crash-after-create")) crash();
  if (const auto error = disk_.write(image.first(image.size() / 2))) return error;
  if (fault("save-crash-mid-write")) crash();
  if (const auto error = disk_.write(image.subspan(image.size() / 2))) return error;
  if (fault("save-crash-before-sync")) crash();
  if (!fault("save-skip-sync")) {
    if (const auto error = disk_.sync()) return error;
  }
  if (const auto error = disk_.close()) return error;
  if (fault("save-crash-before-rename")) crash();
  if (const auto error = disk_.rename(unfinished, name)) return error;
  if (fault("save-crash-after-rename")) crash();
  return fault("save-skip-folder-sync") ? std::error_code() : disk_.sync_folder();
}

}  // namespace shoal
