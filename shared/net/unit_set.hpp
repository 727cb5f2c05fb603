// A set of a message's units: one bit each. Small messages need no memory beside it.
// Threads: one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace shoal {

class UnitSet {
 public:
  struct Run {
    std::uint32_t first = 0;
    std::uint32_t count = 0;  // 0: there is none
  };

  /// Of units below `units`; empty. Allocates when there are more than 64.
  explicit UnitSet(std::uint32_t units = 0) : words_(units <= 64 ? 0 : (units + 63) / 64) {
    if (words_ > 0) many_ = std::make_unique<std::uint64_t[]>(words_);
  }

  std::uint32_t size() const { return size_; }
  bool has(std::uint32_t unit) const { return (word(unit / 64) >> (unit % 64) & 1) != 0; }
  /// REQUIRES: `unit` is below the constructor's number, here and in erase().
  void insert(std::uint32_t unit) {
    if (!has(unit)) ++size_;
    word(unit / 64) |= std::uint64_t{1} << (unit % 64);
  }
  void erase(std::uint32_t unit) {
    if (has(unit)) --size_;
    word(unit / 64) &= ~(std::uint64_t{1} << (unit % 64));
  }
  /// The lowest neighbours that are in the set, at most `max` of them. O(units / 64 + max).
  Run first_run(std::uint32_t max) const {
    for (std::uint32_t w = 0; w < std::max(words_, 1u); ++w) {
      if (word(w) == 0) continue;
      const auto first = w * 64 + static_cast<std::uint32_t>(std::countr_zero(word(w)));
      std::uint32_t count = 1;
      while (count < max && first + count < std::max(words_, 1u) * 64 && has(first + count)) ++count;
      return {first, count};
    }
    return {};
  }
  std::size_t memory_bytes() const { return words_ * sizeof(std::uint64_t); }

 private:
  const std::uint64_t& word(std::uint32_t index) const { return words_ == 0 ? few_ : many_[index]; }
  std::uint64_t& word(std::uint32_t index) { return words_ == 0 ? few_ : many_[index]; }

  std::uint32_t words_ = 0;  // of many_; 0: few_ is all
  std::uint32_t size_ = 0;
  std::uint64_t few_ = 0;
  std::unique_ptr<std::uint64_t[]> many_;
};

}  // namespace shoal
