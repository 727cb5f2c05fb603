// Places for values that never move: blocks of 64, a list of free places through the places themselves. What a pool
// with stable addresses keeps its values in.
//
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "shared/ecs/memory_run.hpp"

namespace shoal {

class ValueSlab {
 public:
  static constexpr std::size_t kBlockValues = 64;

  ValueSlab(std::size_t bytes, std::size_t alignment);

  /// A place without a value. Allocates once per 64 values.
  std::byte* take() {
    if (free_ == nullptr) [[unlikely]]
      add_block();
    return reinterpret_cast<std::byte*>(std::exchange(free_, free_->next));
  }
  /// REQUIRES: the value in it has ended.
  void give_back(std::byte* place) { free_ = ::new (place) Free{free_}; }

  std::size_t memory_bytes() const { return blocks_.size() * kBlockValues * stride_; }

 private:
  struct Free {
    Free* next;
  };
  void add_block();

  std::size_t stride_;
  std::size_t alignment_;
  std::vector<MemoryRun> blocks_;
  Free* free_ = nullptr;
};

}  // namespace shoal
