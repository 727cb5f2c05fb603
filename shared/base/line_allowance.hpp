// How many lines of the log peers may cause. A flood of refusals must not become a flood of lines: so many in a second
// are written, the others are counted and told when the next second's first line is due. Threads: one.
#pragma once

#include <cstdint>
#include <utility>

#include "shared/base/time.hpp"

namespace shoal {

class LineAllowance {
 public:
  static constexpr std::uint32_t kPerSecond = 200;

  struct Answer {
    bool may_write;
    std::uint64_t left_out_before;  // since the last line that was allowed; tell it with this one
  };
  Answer ask(Time now) {
    if (now - second_began_ >= seconds(1)) {
      second_began_ = now;
      written_ = 0;
    }
    if (written_ == kPerSecond) {
      ++left_out_;
      return {false, 0};
    }
    ++written_;
    return {true, std::exchange(left_out_, 0)};
  }

 private:
  Time second_began_{};
  std::uint32_t written_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace shoal
