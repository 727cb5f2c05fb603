// A folder in memory that can fail at any call, and lose power at any call: what was not synced is then there, half there
// or not there, as the test chooses.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "server/saves/save_disk.hpp"

namespace shoal::test {

enum class Unsynced : std::uint8_t { Gone, Half, There };

class MemoryDisk final : public SaveDisk {
 public:
  /// Asked before each call, by the call's name; an error ends it before anything happens.
  std::function<std::error_code(const std::string& call)> before;

  std::error_code claim() override { return ask("claim"); }
  Result<std::vector<std::string>, std::error_code> list() override {
    if (const auto error = ask("list")) return Failure{error};
    std::vector<std::string> found;
    for (const auto& [name, file] : names) found.push_back(name);
    return found;
  }
  Result<std::vector<std::byte>, std::error_code> read(const std::string& name) override {
    if (const auto error = ask("read")) return Failure{error};
    const auto found = names.find(name);
    if (found == names.end()) return Failure{std::make_error_code(std::errc::no_such_file_or_directory)};
    return found->second->bytes;
  }
  std::error_code create(const std::string& name) override {
    if (const auto error = ask("create")) return error;
    if (names.contains(name)) return std::make_error_code(std::errc::file_exists);
    open_ = std::make_shared<File>();
    change([name, file = open_](Names& all) { all[name] = file; });
    return {};
  }
  std::error_code write(std::span<const std::byte> bytes) override {
    if (const auto error = ask("write")) return error;
    open_->bytes.insert(open_->bytes.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::error_code sync() override {
    if (const auto error = ask("sync")) return error;
    open_->synced = open_->bytes.size();
    return {};
  }
  std::error_code close() override {
    if (!open_) return {};
    const auto error = ask("close");
    open_.reset();
    return error;
  }
  std::error_code rename(const std::string& from, const std::string& to) override {
    if (const auto error = ask("rename")) return error;
    if (!names.contains(from)) return std::make_error_code(std::errc::no_such_file_or_directory);
    change([from, to](Names& all) {
      all[to] = all[from];
      all.erase(from);
    });
    return {};
  }
  std::error_code remove(const std::string& name) override {
    if (const auto error = ask("remove")) return error;
    if (!names.contains(name)) return std::make_error_code(std::errc::no_such_file_or_directory);
    change([name](Names& all) { all.erase(name); });
    return {};
  }
  std::error_code sync_folder() override {
    if (const auto error = ask("sync_folder")) return error;
    synced_names_ = names;
    pending_.clear();
    return {};
  }

  void put(const std::string& name, std::vector<std::byte> bytes) {
    auto file = std::make_shared<File>();
    file->synced = bytes.size();
    file->bytes = std::move(bytes);
    names[name] = synced_names_[name] = file;
  }
  std::vector<std::string> sorted_names() const {
    std::vector<std::string> found;
    for (const auto& [name, file] : names) found.push_back(name);
    return found;
  }
  std::vector<std::byte>& bytes_of(const std::string& name) { return names.at(name)->bytes; }

  /// Changes of names that no sync_folder made sure of.
  std::size_t pending() const { return pending_.size(); }
  /// What is there after a loss of power: of the pending changes of names the first `kept`, of what was not synced in each
  /// file what `unsynced` says.
  std::unique_ptr<MemoryDisk> after_power_loss(std::size_t kept, Unsynced unsynced) const {
    Names left = synced_names_;
    for (std::size_t i = 0; i < std::min(kept, pending_.size()); ++i) pending_[i](left);
    auto disk = std::make_unique<MemoryDisk>();
    for (const auto& [name, file] : left) {
      std::vector<std::byte> bytes = file->bytes;
      const std::size_t lost = bytes.size() - file->synced;
      bytes.resize(unsynced == Unsynced::There  ? bytes.size()
                   : unsynced == Unsynced::Half ? file->synced + lost / 2
                                                : file->synced);
      disk->put(name, std::move(bytes));
    }
    return disk;
  }

 private:
  struct File {
    std::vector<std::byte> bytes;
    std::size_t synced = 0;
  };
  using Names = std::map<std::string, std::shared_ptr<File>>;

  std::error_code ask(const std::string& call) { return before ? before(call) : std::error_code(); }
  void change(std::function<void(Names&)> apply) {
    apply(names);
    pending_.push_back(std::move(apply));
  }

  Names names;
  Names synced_names_;
  std::vector<std::function<void(Names&)>> pending_;
  std::shared_ptr<File> open_;
};

/// Holds whoever passes until it is opened.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void wait_until_somebody_waits() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
  int waiting_ = 0;
};

}  // namespace shoal::test
