// Which values of one pool may have changed since the last look: a dirty bit per value for changes that
// somebody announced, and a touched mark per run of 64 values for values that were handed out by mutable
// reference and may have been written without a word.
//
// Thread rule: `touch` from several threads at once (pieces of a parallel loop); everything else from one
// thread. Invariants:
// 1. The mark of a run is zero only if no value of it is dirty and none was handed out.
// 2. Marks and bits follow a value to its new place when it is moved; a place without a value is not dirty.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shared/ecs/memory_run.hpp"

namespace shoal {

class ChangeBits {
 public:
  static constexpr std::uint32_t kRun = 64;

  /// A new value at the end, dirty.
  void append(std::uint32_t position) {
    if ((position >> 6) >= runs_.size()) grow();
    mark_dirty(position);
  }
  /// So many new values at the end, dirty. REQUIRES: first is the number of values before.
  void append_range(std::uint32_t first, std::uint32_t count);
  void mark_dirty(std::uint32_t position) {
    dirty_[position >> 6] |= std::uint64_t{1} << (position & 63);
    runs_[position >> 6] = runs_[position >> 6] | Mark::Dirty;
    changed_ = true;
  }
  bool is_dirty(std::uint32_t position) const { return (dirty_[position >> 6] >> (position & 63)) & 1; }

  /// The value was handed out for writing.
  void touch(std::uint32_t position) {
    begin_touching();
    touch_in_loop(position);
  }
  /// Once before a loop of touch_in_loop.
  void begin_touching() { changed_ = true; }
  /// A plain store: no read, so no chain between the elements of a loop. Overwriting Mark::Dirty is fine,
  /// since a touched run is looked at whole.
  void touch_in_loop(std::uint32_t position) { runs_[position >> 6] = Mark::Touched; }
  /// All from `first` on were handed out. REQUIRES: they are there.
  void touch_range(std::size_t first, std::size_t count) {
    if (count == 0) return;
    touch_runs(first / kRun, (first + count + kRun - 1) / kRun);
    changed_ = true;
  }

  /// The value at `last` moves to `position`, and `last` is dropped. REQUIRES: position <= last.
  void erase_at(std::uint32_t position, std::uint32_t last) {
    if (changed_) move_marks(position, last);
  }
  void swap_positions(std::uint32_t a, std::uint32_t b);
  /// The value at order[p] moves to p. A touched run makes every run touched that one of its values comes to
  /// lie in: a write through a reference may have hit any of them. Linear; constant when nothing changed.
  void reorder(std::span<const std::uint32_t> order);

  /// True if `for_each` may call at all. Constant time: a pool at rest costs nothing.
  bool any() const { return changed_; }
  /// f(position) for each value below `size` that is dirty or lies in a touched run, once, in rising order.
  /// Reads one byte per 64 values, eight at a time.
  template <class F>
  void for_each(std::size_t size, F f) const {
    for_each_marked_run([&](std::size_t run, Mark mark) {
      const std::size_t first = run * kRun;
      if (has(mark, Mark::Touched)) {
        const std::size_t end = first + kRun < size ? first + kRun : size;
        for (std::size_t position = first; position < end; ++position)
          f(static_cast<std::uint32_t>(position));
      } else {
        for_each_bit(dirty_[run], first, f);
      }
    });
  }
  /// The same for the dirty ones alone.
  template <class F>
  void for_each_dirty(F f) const {
    for_each_marked_run([&](std::size_t run, Mark) { for_each_bit(dirty_[run], run * kRun, f); });
  }
  void clear();

  /// Gives back what lies beyond `values` places. REQUIRES: no more are in use.
  void shrink_to_fit(std::size_t values);
  std::size_t memory_bytes() const { return dirty_.memory_bytes() + runs_.memory_bytes(); }

 private:
  // An enumeration and not a plain byte: a byte may alias everything, and each touch would make the compiler
  // reload every pointer of the loop around it.
  enum class Mark : std::uint8_t { None = 0, Touched = 1, Dirty = 2 };
  friend constexpr Mark operator|(Mark a, Mark b) {
    return static_cast<Mark>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
  }
  static constexpr bool has(Mark mark, Mark wanted) {
    return (static_cast<unsigned>(mark) & static_cast<unsigned>(wanted)) != 0;
  }

  void grow();
  void move_marks(std::uint32_t position, std::uint32_t last);
  void touch_runs(std::size_t begin, std::size_t end);
  static std::uint64_t eight_marks(const Mark* marks) {
    std::uint64_t word = 0;
    // One load to the compiler, and the same answer on any byte order.
    for (int i = 0; i < 8; ++i) word |= static_cast<std::uint64_t>(marks[i]) << (8 * i);
    return word;
  }
  template <class F>
  static void for_each_bit(std::uint64_t bits, std::size_t first, F& f) {
    for (; bits != 0; bits &= bits - 1)
      f(static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(std::countr_zero(bits)));
  }
  template <class F>
  void for_each_marked_run(F f) const {
    if (!changed_) return;
    // grow() keeps the number of runs a multiple of eight.
    for (std::size_t run = 0; run < runs_.size(); run += 8) {
      for (std::uint64_t marks = eight_marks(runs_.data() + run); marks != 0;) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(marks)) / 8;
        f(run + lane, runs_[run + lane]);
        marks &= ~(std::uint64_t{0xFF} << (8 * lane));
      }
    }
  }

  bool changed_ = false;
  PlainList<Mark> runs_;
  PlainList<std::uint64_t> dirty_;
};

}  // namespace shoal
