// How often one peer may have something done: so often in a second, and a few times at once after a rest. A token bucket
// that keeps one moment alone (the generic cell rate algorithm, ITU-T I.371). Threads: one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "shared/base/assert.hpp"
#include "shared/base/time.hpp"

namespace shoal {

class Allowance {
 public:
  /// REQUIRES: neither is 0.
  Allowance(std::uint32_t per_second, std::uint32_t at_once) : per_second_(per_second), at_once_(at_once) {
    SHOAL_ASSERT(per_second > 0 && at_once > 0, "an allowance of nothing");
  }

  /// True: once more, and it is taken. Time must not go back.
  bool take(Time now) {
    const Duration each = Duration(seconds(1)) / per_second_;
    const Time spent_until = std::max(spent_until_, now - each * at_once_);
    if (spent_until + each > now) return false;
    spent_until_ = spent_until + each;
    return true;
  }

 private:
  std::uint32_t per_second_;
  std::uint32_t at_once_;
  Time spent_until_{Duration::min()};  // what was earned before is used up, or too old
};

}  // namespace shoal
