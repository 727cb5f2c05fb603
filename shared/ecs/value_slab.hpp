// Places for values that never move: blocks of 64, a list of free places through the places themselves. What a pool
// with stable addresses keeps its values in.
//
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "shared/ecs/memory_run.hpp"

namespace shoal {

class ValueSlab {
 public:
  static constexpr std::size_t kBlockValues = 64;

  ValueSlab(std::size_t bytes, std::size_t alignment);

  /// The place that `take` takes; the same until then. Allocates once per 64 values.
  std::byte* next() {
    if (free_ == nullptr) [[unlikely]]
      add_block();
    // Remembered: the value that is made there ends the list's own link.
    after_next_ = free_->next;
    return free_->bytes();
  }
  /// REQUIRES: next() was called, and a value made there.
  std::byte* take() { return std::exchange(free_, after_next_)->bytes(); }
  /// The value in it has ended.
  void give_back(std::byte* place) { free_ = ::new (place) Free{free_}; }

  std::size_t memory_bytes() const { return blocks_.size() * kBlockValues * stride_; }

 private:
  struct Free {
    Free* next;
    std::byte* bytes() { return reinterpret_cast<std::byte*>(this); }
  };
  void add_block();

  std::size_t stride_;
  std::size_t alignment_;
  std::vector<MemoryRun> blocks_;
  Free* free_ = nullptr;
  Free* after_next_ = nullptr;
};

}  // namespace shoal
