#include "shared/ecs/value_slab.hpp"

#include <algorithm>

namespace shoal {

ValueSlab::ValueSlab(std::size_t bytes, std::size_t alignment)
    : alignment_(std::max(alignment, alignof(Free))) {
  const std::size_t least = std::max(bytes, sizeof(Free));
  stride_ = (least + alignment_ - 1) / alignment_ * alignment_;
}

void ValueSlab::add_block() {
  MemoryRun& block = blocks_.emplace_back(alignment_);
  block.resize(kBlockValues * stride_, 0);
  // Last place first, so that they are taken in rising order.
  for (std::size_t i = kBlockValues; i-- > 0;) give_back(block.data() + i * stride_);
}

}  // namespace shoal
