// The token that the admin port's commands need, and who may try how often. The token itself is kept as a hash, appears
// in no message, and is compared in constant time.
//
// Thread rule: AdminGuard from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "shared/base/result.hpp"
#include "shared/base/time.hpp"

namespace shoal {

using AdminTokenHash = std::array<std::uint8_t, 32>;

inline constexpr std::size_t kLeastTokenBytes = 16;

AdminTokenHash hash_of_token(std::string_view token);

/// The first line of the file. The error says what is wrong with the file and what to do: others may read it, the line is
/// too short.
Result<AdminTokenHash, std::string> read_token_file(const std::string& path);

class AdminGuard {
 public:
  enum class Verdict { Good, Missing, Wrong, TooMany };
  /// After so many failures an address is not listened to, until one is forgiven.
  static constexpr std::uint32_t kMaxFailures = 10;
  /// One failure is forgiven each time.
  static constexpr Duration kForgiveAfter = seconds(2);
  static constexpr std::size_t kMaxAddresses = 256;

  explicit AdminGuard(const AdminTokenHash& token) : token_(token) {}

  /// `authorization`: the header's value, "Bearer TOKEN".
  Verdict check(std::string_view authorization, const std::string& remote, Time now);
  std::uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

 private:
  struct Record {
    std::uint32_t failures = 0;
    Time since{};  // from when on they are forgiven
  };

  AdminTokenHash token_;
  std::atomic<std::uint64_t> failures_{0};
  std::mutex mutex_;
  std::map<std::string, Record> records_;
};

}  // namespace shoal
