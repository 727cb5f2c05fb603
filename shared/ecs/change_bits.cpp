#include "shared/ecs/change_bits.hpp"

#include <algorithm>
#include <vector>

namespace shoal {

void ChangeBits::grow() {
  const std::size_t runs = std::max<std::size_t>(8, runs_.size() + runs_.size() / 2 / 8 * 8 + 8);
  runs_.resize(runs);
  dirty_.resize(runs);
}

void ChangeBits::touch_runs(std::size_t begin, std::size_t end) {
  std::fill(runs_.begin() + begin, runs_.begin() + end, Mark::Touched);
}

void ChangeBits::append_range(std::uint32_t first, std::uint32_t count) {
  if (count == 0) return;
  const std::uint32_t end = first + count;
  while ((std::size_t{end} + kRun - 1) / kRun > runs_.size()) grow();
  for (std::uint32_t position = first; position < end;) {
    const std::uint32_t run = position / kRun;
    const std::uint32_t in_run = std::min(end - position, kRun - position % kRun);
    dirty_[run] |= (~std::uint64_t{0} >> (kRun - in_run)) << (position % kRun);
    runs_[run] = runs_[run] | Mark::Dirty;
    position += in_run;
  }
  changed_ = true;
}

void ChangeBits::swap_positions(std::uint32_t a, std::uint32_t b) {
  if (is_dirty(a) != is_dirty(b)) {
    const std::uint32_t now_dirty = is_dirty(a) ? b : a;
    const std::uint32_t now_clean = is_dirty(a) ? a : b;
    dirty_[now_clean >> 6] &= ~(std::uint64_t{1} << (now_clean & 63));
    mark_dirty(now_dirty);
  }
  // A write through a reference may have hit either of them.
  if (has(runs_[a >> 6] | runs_[b >> 6], Mark::Touched)) {
    runs_[a >> 6] = runs_[a >> 6] | Mark::Touched;
    runs_[b >> 6] = runs_[b >> 6] | Mark::Touched;
  }
}

void ChangeBits::move_marks(std::uint32_t position, std::uint32_t last) {
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
  const std::vector<Mark> runs_before(runs_.begin(), runs_.end());
  const std::vector<std::uint64_t> dirty_before(dirty_.begin(), dirty_.end());
  std::fill(runs_.begin(), runs_.end(), Mark::None);
  std::fill(dirty_.begin(), dirty_.end(), 0);
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
