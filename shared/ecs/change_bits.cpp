#include "shared/ecs/change_bits.hpp"

#include <algorithm>

namespace shoal {

void ChangeBits::grow() {
  const std::size_t runs = std::max<std::size_t>(8, runs_.size() + runs_.size() / 2 / 8 * 8 + 8);
  runs_.resize(runs);
  dirty_.resize(runs);
}

void ChangeBits::assign_dirty(std::size_t values) {
  clear();
  if (values == 0) return;
  while (runs_.size() * kRun < values) grow();
  const std::size_t whole = values / kRun;
  std::fill_n(dirty_.begin(), whole, ~std::uint64_t{0});
  if (values % kRun != 0) dirty_[whole] = (std::uint64_t{1} << (values % kRun)) - 1;
  std::fill_n(runs_.begin(), (values + kRun - 1) / kRun, Mark::Dirty);
  changed_ = true;
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

void ChangeBits::reorder(std::span<const std::uint32_t> order) {
  if (!changed_) return;
  std::vector<Mark> runs_before(runs_.size());
  std::vector<std::uint64_t> dirty_before(dirty_.size());
  runs_.swap(runs_before);
  dirty_.swap(dirty_before);
  for (std::uint32_t position = 0; position < order.size(); ++position) {
    const std::uint32_t source = order[position];
    if ((dirty_before[source >> 6] >> (source & 63)) & 1) mark_dirty(position);
    if (has(runs_before[source >> 6], Mark::Touched))
      runs_[position >> 6] = runs_[position >> 6] | Mark::Touched;
  }
}

void ChangeBits::shrink_to_fit(std::size_t values) {
  // Whole groups of eight, as grow() has them.
  const std::size_t runs = (values + 8 * kRun - 1) / (8 * kRun) * 8;
  if (runs >= runs_.size()) return;
  runs_.resize(runs);
  dirty_.resize(runs);
  runs_.shrink_to_fit();
  dirty_.shrink_to_fit();
}

void ChangeBits::clear() {
  for_each_marked_run([this](std::size_t run, Mark) {
    dirty_[run] = 0;
    runs_[run] = Mark::None;
  });
  changed_ = false;
}

}  // namespace shoal
