// Counts what a test program takes from the heap. Linking it replaces the program's global operators; a test compares
// the count before and after what should allocate nothing.
#pragma once

#include <cstddef>

namespace shoal::test {

/// Since the program began, over all threads.
std::size_t allocations_so_far();

}  // namespace shoal::test
