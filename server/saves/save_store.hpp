// The saves of one server in one folder: what they are called, how one is written so that it is there whole or not at
// all, and which are kept.
//
//   world-00000042.image           a save; the number rises, so the highest is the newest
//   world-00000043.image.part      one that is being written
//   world-00000041.image.damaged   one that was set aside
//
// 1. A save is written beside, synced, renamed, and its name synced; only then an older one is removed. So whatever ends
//    the process or the machine, the newest save that was told is there.
// 2. A number is never given twice, not even to what is damaged or unfinished.
// 3. Every failure is a sentence that says what to do, and leaves the saves that are there alone.
//
// Thread rule: one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/saves/save_disk.hpp"

namespace shoal {

/// What happened in that folder, with the remedy where there is one.
std::string describe_disk_error(const std::error_code& error, const std::string& folder);

class SaveStore {
 public:
  /// `folder` is what messages call it; `keep` at least 1. The disk outlives the store.
  SaveStore(SaveDisk& disk, std::string folder, std::uint32_t keep);

  /// Claims the folder and removes what a crash left unfinished. The error says why not.
  std::optional<std::string> open();

  struct Listing {
    std::vector<std::string> saves;    // newest first
    std::vector<std::string> damaged;  // that were set aside, in any order
  };
  Result<Listing, std::string> list();
  /// The error is the disk's own: whether it means that the file is lost is the caller's to judge.
  Result<std::vector<std::byte>, std::error_code> read(const std::string& name) { return disk_.read(name); }
  /// The error says why not; the save is where it was.
  std::optional<std::string> set_aside(const std::string& name);

  struct Saved {
    std::string name;
    /// Of what is not needed any more and could not be removed; else empty.
    std::string complaint;
  };
  /// Once it returns the save outlives a loss of power.
  Result<Saved, std::string> save(std::span<const std::byte> image);

  const std::string& folder() const { return folder_; }

 private:
  std::error_code write(const std::string& unfinished, const std::string& name,
                        std::span<const std::byte> image);
  std::string failure(std::string_view what, const std::error_code& error) const;

  SaveDisk& disk_;
  std::string folder_;
  std::size_t keep_;
  std::uint64_t newest_ = 0;  // number that was seen or given
};

}  // namespace shoal
