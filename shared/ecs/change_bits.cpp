#include "shared/ecs/change_bits.hpp"

#include <algorithm>

namespace shoal {

void ChangeBits::grow() {
  const std::size_t runs = std::max<std::size_t>(8, runs_.size() + runs_.size() / 2 / 8 * 8 + 8);
  runs_.resize(runs);
  dirty_.resize(runs);
}

void ChangeBits::touch_first(std::size_t values) {
  if (values == 0) return;
  std::fill_n(runs_.begin(), (values + kRun - 1) / kRun, Mark::Touched);
  changed_ = true;
}

void ChangeBits::erase_at(std::uint32_t position, std::uint32_t last) {
  const std::uint64_t last_bit = std::uint64_t{1} << (last & 63);
  const std::uint64_t bit = std::uint64_t{1} << (position & 63);
  const bool last_was_dirty = (dirty_[last >> 6] & last_bit) != 0;
  dirty_[last >> 6] &= ~last_bit;
  if (position != last) {
    if (last_was_dirty) {
      dirty_[position >> 6] |= bit;
      runs_[position >> 6] = runs_[position >> 6] | Mark::Dirty;
    } else {
      dirty_[position >> 6] &= ~bit;
    }
    // A write through a reference may have hit exactly the value that moves.
    if (has(runs_[last >> 6], Mark::Touched)) runs_[position >> 6] = runs_[position >> 6] | Mark::Touched;
  }
}

void ChangeBits::clear() {
  for_each_marked_run([this](std::size_t run, Mark) {
    dirty_[run] = 0;
    runs_[run] = Mark::None;
  });
  changed_ = false;
}

}  // namespace shoal
