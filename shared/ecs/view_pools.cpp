#include "shared/ecs/view_pools.hpp"

#include <algorithm>
#include <cstring>

namespace shoal::detail {

std::uint32_t equal_length(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t limit) {
  const auto equal = [&](std::uint32_t from, std::uint32_t count) {
    return std::memcmp(a + from, b + from, std::size_t{count} * sizeof *a) == 0;
  };
  if (limit >= kLeastRun && a[kLeastRun - 1] != b[kLeastRun - 1]) limit = kLeastRun - 1;
  // The library's comparison is the fastest there is, and says yes or no.
  if (equal(0, limit)) return limit;
  std::uint32_t length = 0;
  for (constexpr std::uint32_t kStep = 64; length + kStep <= limit && equal(length, kStep);) length += kStep;
  while (length < limit && a[length] == b[length]) ++length;
  return length;
}

std::uint32_t aligned_run(std::span<StorageBase* const> included, std::size_t leading, std::uint32_t at,
                          std::uint32_t length, std::span<std::uint32_t> positions) {
  const std::uint32_t* indices = included[leading]->indices().data() + at;
  for (std::size_t i = 0; i < included.size(); ++i) {
    positions[i] = i == leading ? at : included[i]->position(indices[0]);
    if (positions[i] == StorageBase::kAbsent) return 0;
    const auto rest = static_cast<std::uint32_t>(included[i]->size()) - positions[i];
    length = i == leading ? length
                          : equal_length(indices, included[i]->indices().data() + positions[i],
                                         std::min(length, rest));
  }
  return length;
}

void LoopPlaces::advance_changed(std::span<const std::uint32_t> indices, std::uint32_t visited_index) {
  const auto size = static_cast<std::uint32_t>(indices.size());
  if (at_ < size && indices[at_] != visited_index && indices[at_] == last_) {
    --end_;
  } else {
    ++at_;
  }
  end_ = std::min(end_, size);
  note_last(indices);
}

}  // namespace shoal::detail
