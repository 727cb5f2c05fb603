#include "shared/ecs/sparse_set.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace shoal {

constinit const SparseSet::Page SparseSet::kEmptyPage = make_empty_page();

void SparseSet::add_block(std::size_t pages) {
  blocks_.push_back({std::make_unique_for_overwrite<Page[]>(pages), pages});
  block_used_ = 0;
}

void SparseSet::add_pages(std::uint32_t page) {
  const std::uint32_t count = std::max(page + 1, page_count_ + page_count_ / 2);
  auto grown = std::make_unique<std::uint32_t*[]>(count);
  std::copy_n(pages_.get(), page_count_, grown.get());
  // The table holds mutable pages.
  std::fill(grown.get() + page_count_, grown.get() + count, const_cast<std::uint32_t*>(kEmptyPage.positions));
  pages_ = std::move(grown);
  page_count_ = count;
}

void SparseSet::make_page(std::uint32_t page) {
  if (page >= page_count_) add_pages(page);
  if (blocks_.empty() || block_used_ == blocks_.back().count) {
    // A sixteenth more, so that little is allotted that nobody uses: one page at first, 16 KiB at most.
    std::size_t pages = 0;
    for (const Block& block : blocks_) pages += block.count;
    add_block(std::clamp<std::size_t>(pages / 16, 1, 16));
  }
  pages_[page] = blocks_.back().pages[block_used_++].positions;
  std::fill_n(pages_[page], kPageEntries, kAbsent);
}

void SparseSet::insert(std::span<const std::uint32_t> indices) {
  auto position = static_cast<std::uint32_t>(packed_.size());
  std::copy(indices.begin(), indices.end(), packed_.append(indices.size()));
  for (const std::uint32_t index : indices)
    page_for_writing(index >> kPageShift)[index & (kPageEntries - 1)] = position++;
}

void SparseSet::clear() {
  for (const std::uint32_t index : packed_) entry(index) = kAbsent;
  packed_.clear();
}

void SparseSet::swap_positions(std::uint32_t a, std::uint32_t b) {
  std::swap(packed_[a], packed_[b]);
  entry(packed_[a]) = a;
  entry(packed_[b]) = b;
}

void SparseSet::reorder(std::span<const std::uint32_t> order) {
  SHOAL_DEBUG_ASSERT(order.size() == packed_.size(), "an order of another number of members");
  const std::vector<std::uint32_t> before(packed_.begin(), packed_.end());
  for (std::uint32_t position = 0; position < before.size(); ++position) {
    const std::uint32_t index = before[order[position]];
    packed_[position] = index;
    entry(index) = position;
  }
}

void SparseSet::copy_from(const SparseSet& other) {
  packed_.clear();
  std::copy(other.packed_.begin(), other.packed_.end(), packed_.append(other.packed_.size()));
  for (std::uint32_t page = 0; page < std::max(page_count_, other.page_count_); ++page) {
    if (page < other.page_count_ && !other.is_empty(page)) {
      std::copy_n(other.pages_[page], kPageEntries, page_for_writing(page));
    } else if (page < page_count_ && !is_empty(page)) {
      std::fill_n(pages_[page], kPageEntries, kAbsent);
    }
  }
}

void SparseSet::shrink_to_fit() {
  std::vector<bool> used(page_count_, false);
  for (const std::uint32_t index : packed_) used[index >> kPageShift] = true;
  const auto kept = static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
  std::uint32_t count = page_count_;
  while (count > 0 && !used[count - 1]) --count;
  // Those that are used move to one block of their own. All memory is there before the first of them goes.
  std::vector<Block> blocks;
  std::unique_ptr<std::uint32_t*[]> table;
  std::size_t block_used = 0;
  if (kept > 0) {
    blocks.push_back({std::make_unique_for_overwrite<Page[]>(kept), kept});
    table = std::make_unique<std::uint32_t*[]>(count);
    for (std::uint32_t page = 0; page < count; ++page) {
      table[page] = const_cast<std::uint32_t*>(kEmptyPage.positions);
      if (!used[page]) continue;
      table[page] = blocks.back().pages[block_used++].positions;
      std::copy_n(pages_[page], kPageEntries, table[page]);
    }
  }
  blocks_ = std::move(blocks);
  pages_ = std::move(table);
  page_count_ = count;
  block_used_ = block_used;
  packed_.shrink_to_fit();
}

std::size_t SparseSet::memory_bytes() const {
  std::size_t bytes = page_count_ * sizeof(std::uint32_t*) + packed_.memory_bytes();
  for (const Block& block : blocks_) bytes += block.count * sizeof(Page);
  return bytes;
}

}  // namespace shoal
