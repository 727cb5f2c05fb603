// Counts what a test program takes from the heap, and lets it fail. Linking it replaces the program's global operators; a test compares
// the count before and after what should allocate nothing.
#pragma once

#include <cstddef>

namespace shoal::test {

/// Since the program began, over all threads.
std::size_t allocations_so_far();
/// That operator new gave out and delete did not take back, as large as the heap makes them. Over all threads.
std::size_t live_bytes();

/// While it lives, this thread's allocation number `after` (from 0) throws std::bad_alloc, once.
class [[nodiscard]] ScopedAllocationFailure {
 public:
  explicit ScopedAllocationFailure(std::size_t after);
  ScopedAllocationFailure(const ScopedAllocationFailure&) = delete;
  ScopedAllocationFailure& operator=(const ScopedAllocationFailure&) = delete;
  ~ScopedAllocationFailure();
};

}  // namespace shoal::test
