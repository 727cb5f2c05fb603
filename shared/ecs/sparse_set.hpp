// The sparse set: which indices are in, in a packed list, and where in that list each one stands. The sparse
// side is cut into small pages that exist only where somebody is, so one member with a high index costs a
// kilobyte and not an array.
//
// Thread rule: const functions from several threads; changes from one thread while nobody reads.
// Invariants:
// 1. packed()[position(index)] == index for each member; position(index) == kAbsent for everyone else.
// 2. Erasing moves the last member into the hole; nobody else moves. Only `reorder` moves several, and
// `swap_positions` two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shared/base/assert.hpp"
#include "shared/ecs/memory_run.hpp"

namespace shoal {

class SparseSet {
 public:
  static constexpr std::uint32_t kAbsent = 0xFFFFFFFF;
  static constexpr std::uint32_t kPageShift = 8;  // 256 indices, 1 KiB
  static constexpr std::uint32_t kPageEntries = 1u << kPageShift;

  SparseSet() = default;
  SparseSet(const SparseSet&) = delete;
  SparseSet& operator=(const SparseSet&) = delete;

  std::size_t size() const { return packed_.size(); }
  std::span<const std::uint32_t> packed() const { return packed_; }
  /// Any number may be asked for. Two loads: pages without members are one shared page of kAbsent, so there
  /// is no test for them.
  std::uint32_t position(std::uint32_t index) const {
    const std::uint32_t page = index >> kPageShift;
    return page < page_count_ ? pages_.get()[page][index & (kPageEntries - 1)] : kAbsent;
  }
  bool contains(std::uint32_t index) const { return position(index) != kAbsent; }

  /// Appends. Constant time, amortised. REQUIRES: not a member.
  void insert(std::uint32_t index) {
    SHOAL_DEBUG_ASSERT(!contains(index), "insert of a member");
    const auto position = static_cast<std::uint32_t>(packed_.size());
    packed_.push_back(index);
    page_for_writing(index >> kPageShift)[index & (kPageEntries - 1)] = position;
  }
  /// insert for each, in this order. REQUIRES: none is a member, none stands there twice.
  void insert(std::span<const std::uint32_t> indices);
  /// Swaps the last member into the place of `index`, drops the last place, and says which place that was. REQUIRES: a
  /// member.
  std::uint32_t erase(std::uint32_t index) {
    SHOAL_DEBUG_ASSERT(contains(index), "erase of who is no member");
    std::uint32_t& own = entry(index);
    const std::uint32_t position = own;
    const std::uint32_t last = packed_.back();
    // In this order, so that erasing the last member ends absent.
    packed_[position] = last;
    entry(last) = position;
    own = kAbsent;
    packed_.pop_back();
    return position;
  }
  void clear();
  /// REQUIRES: both below size().
  void swap_positions(std::uint32_t a, std::uint32_t b);
  /// The member at order[p] comes to stand at p. Linear. REQUIRES: `order` holds each position once.
  void reorder(std::span<const std::uint32_t> order);

  /// Becomes `other`; its own memory is used again. O(size and pages of both).
  void copy_from(const SparseSet& other);

  void reserve(std::size_t members) { packed_.reserve(members); }
  /// Members that fit into the packed list without growth.
  std::size_t capacity() const { return packed_.capacity(); }
  /// Gives back the pages without members and what the packed list has too much. O(pages + size). Throws std::bad_alloc
  /// with all members where they were.
  void shrink_to_fit();
  std::size_t memory_bytes() const;

 private:
  struct Page {
    std::uint32_t positions[kPageEntries];
  };
  static constexpr Page make_empty_page() {
    Page page{};
    for (std::uint32_t& position : page.positions) position = kAbsent;
    return page;
  }
  static const Page kEmptyPage;  // in read-only memory and never written: page_for_writing replaces it

  bool is_empty(std::uint32_t page) const { return pages_.get()[page] == kEmptyPage.positions; }
  std::uint32_t& entry(std::uint32_t index) {
    return pages_.get()[index >> kPageShift][index & (kPageEntries - 1)];
  }
  std::uint32_t* page_for_writing(std::uint32_t page) {
    if (page >= page_count_ || is_empty(page)) [[unlikely]]
      make_page(page);
    return pages_.get()[page];
  }
  void make_page(std::uint32_t page);
  void add_pages(std::uint32_t page);
  void add_block(std::size_t pages);

  // The number stands beside the pointer, not a vector's difference of pointers: this is read once per
  // element and pool in each loop over several types.
  std::unique_ptr<std::uint32_t*[]> pages_;
  std::uint32_t page_count_ = 0;
  // Pages come from blocks, so that those of neighbouring indices mostly lie side by side and a loop that looks indices
  // up goes straight through memory. They go back all at once, in shrink_to_fit.
  struct Block {
    std::unique_ptr<Page[]> pages;
    std::size_t count;
  };
  std::vector<Block> blocks_;
  std::size_t block_used_ = 0;  // pages of the last block
  PlainList<std::uint32_t> packed_;
};

}  // namespace shoal
