#include "shared/replication/column.hpp"

#include <xxhash.h>

#include <new>

#include "shared/base/assert.hpp"

namespace shoal {

std::uint64_t Column::hash() const {
  if (!hash_is_known_) {
    hash_ = XXH3_64bits(values_, value_bytes());
    hash_is_known_ = true;
  }
  return hash_;
}

ColumnPool::~ColumnPool() {
  SHOAL_ASSERT(in_use_ == 0, "a column pool must outlive its columns");
  for (auto& list : free_) {
    for (Column* column : list) {
      column->~Column();
      ::operator delete(column);
    }
  }
}

Column& ColumnPool::mutable_column(ColumnRef& ref, unsigned bytes) {
  if (!ref) {
    ref = ColumnRef(take(bytes));
    std::memset(ref.column_->values_, 0, ref.column_->value_bytes());
  } else if (ref.column_->owners_ > 1) {
    ColumnRef copy(take(bytes));
    std::memcpy(copy.column_->values_, ref.column_->values_, ref.column_->value_bytes());
    ref = std::move(copy);
  }
  ref.column_->hash_is_known_ = false;
  return *ref.column_;
}

Column* ColumnPool::take(unsigned bytes) {
  auto& list = free_list(bytes);
  Column* column = nullptr;
  if (list.empty()) {
    const std::size_t size = sizeof(Column) + std::size_t{bytes} * kChunkSlots;
    column = new (::operator new(size)) Column;
    column->pool_ = this;
    column->bytes_ = static_cast<std::uint8_t>(bytes);
    column->values_ = reinterpret_cast<std::byte*>(column + 1);
    memory_bytes_ += size;
  } else {
    column = list.back();
    list.pop_back();
  }
  ++in_use_;
  return column;
}

void ColumnPool::give_back(Column* column) {
  --in_use_;
  free_list(column->bytes_).push_back(column);
}

}  // namespace shoal
