// What the tick's thread is doing, for a thread that watches it: when a tick hangs, nobody else can tell where.
//
// Thread rule: the tick's thread says it, any thread reads it.
#pragma once

#include <atomic>

#include "shared/base/time.hpp"

namespace shoal {

/// A tick that does not go on for so long hangs.
inline constexpr Duration kDefaultWatchdogLimit = seconds(2);

class TickProgress {
 public:
  /// In words, of a text that lives for ever; null: nothing. Costs a store.
  void set(const char* doing) { doing_.store(doing, std::memory_order_relaxed); }
  const char* doing() const { return doing_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const char*> doing_{nullptr};
};

}  // namespace shoal
