#include "shared/ecs/sparse_set.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "shared/base/assert.hpp"

namespace shoal {
namespace {

constexpr auto make_empty_page() {
  std::array<std::uint32_t, SparseSet::kPageEntries> page{};
  for (auto& position : page) position = SparseSet::kAbsent;
  return page;
}
constexpr std::array<std::uint32_t, SparseSet::kPageEntries> kEmptyPage = make_empty_page();

// The table holds mutable pages; this one is in read-only memory and never written: page_for_writing replaces
// it.
std::uint32_t* empty_page() {
  return const_cast<std::uint32_t*>(kEmptyPage.data());
}

}  // namespace

SparseSet::~SparseSet() {
  for (std::uint32_t page = 0; page < page_count_; ++page) {
    if (pages_[page] != empty_page()) delete[] pages_[page];
  }
}

void SparseSet::add_pages(std::uint32_t page) {
  const std::uint32_t count = std::max(page + 1, page_count_ + page_count_ / 2);
  auto grown = std::make_unique<std::uint32_t*[]>(count);
  std::copy_n(pages_.get(), page_count_, grown.get());
  std::fill(grown.get() + page_count_, grown.get() + count, empty_page());
  pages_ = std::move(grown);
  page_count_ = count;
}

std::uint32_t* SparseSet::page_for_writing(std::uint32_t page) {
  if (page >= page_count_) add_pages(page);
  if (pages_[page] == empty_page()) {
    pages_[page] = new std::uint32_t[kPageEntries];
    std::fill_n(pages_[page], kPageEntries, kAbsent);
  }
  return pages_[page];
}

void SparseSet::insert(std::uint32_t index) {
  SHOAL_DEBUG_ASSERT(!contains(index), "insert of a member");
  const auto position = static_cast<std::uint32_t>(packed_.size());
  packed_.push_back(index);
  page_for_writing(index >> kPageShift)[index & (kPageEntries - 1)] = position;
}

void SparseSet::erase_at(std::uint32_t position) {
  SHOAL_DEBUG_ASSERT(position < packed_.size(), "erase of a place beyond the end");
  const std::uint32_t index = packed_[position];
  const std::uint32_t last = packed_.back();
  // In this order, so that erasing the last member ends absent.
  packed_[position] = last;
  pages_[last >> kPageShift][last & (kPageEntries - 1)] = position;
  pages_[index >> kPageShift][index & (kPageEntries - 1)] = kAbsent;
  packed_.pop_back();
}

void SparseSet::clear() {
  for (const std::uint32_t index : packed_) pages_[index >> kPageShift][index & (kPageEntries - 1)] = kAbsent;
  packed_.clear();
}

void SparseSet::reorder(std::span<const std::uint32_t> order) {
  SHOAL_DEBUG_ASSERT(order.size() == packed_.size(), "an order of another number of members");
  const std::vector<std::uint32_t> before = packed_;
  for (std::uint32_t position = 0; position < before.size(); ++position) {
    const std::uint32_t index = before[order[position]];
    packed_[position] = index;
    pages_[index >> kPageShift][index & (kPageEntries - 1)] = position;
  }
}

void SparseSet::copy_from(const SparseSet& other) {
  packed_ = other.packed_;
  for (std::uint32_t page = 0; page < std::max(page_count_, other.page_count_); ++page) {
    if (page < other.page_count_ && other.pages_[page] != empty_page()) {
      std::copy_n(other.pages_[page], kPageEntries, page_for_writing(page));
    } else if (page < page_count_ && pages_[page] != empty_page()) {
      std::fill_n(pages_[page], kPageEntries, kAbsent);
    }
  }
}

void SparseSet::shrink_to_fit() {
  std::vector<bool> used(page_count_, false);
  for (const std::uint32_t index : packed_) used[index >> kPageShift] = true;
  std::uint32_t count = page_count_;
  while (count > 0 && !used[count - 1]) --count;
  std::unique_ptr<std::uint32_t*[]> kept = count > 0 ? std::make_unique<std::uint32_t*[]>(count) : nullptr;
  for (std::uint32_t page = 0; page < page_count_; ++page) {
    if (!used[page] && pages_[page] != empty_page()) delete[] std::exchange(pages_[page], empty_page());
    if (page < count) kept[page] = pages_[page];
  }
  pages_ = std::move(kept);
  page_count_ = count;
  packed_.shrink_to_fit();
}

std::size_t SparseSet::memory_bytes() const {
  std::size_t bytes = page_count_ * sizeof(std::uint32_t*) + packed_.capacity() * sizeof(std::uint32_t);
  for (std::uint32_t page = 0; page < page_count_; ++page) {
    if (pages_[page] != empty_page()) bytes += kPageEntries * sizeof(std::uint32_t);
  }
  return bytes;
}

}  // namespace shoal
