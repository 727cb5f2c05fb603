// One quantised field of the up to 64 entities of a chunk, shared between the versions in which it did not
// change. Columns come from a pool and go back to it, so that a steady tick allocates nothing.
//
// 1. A column with more than one owner never changes; `mutable_column` copies it first.
// 2. Values of slots that do not have the component are zero: equal states have equal bytes, hence equal
// hashes.
// 3. A pool and its columns belong to one thread at a time, and the pool outlives them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "shared/base/limits.hpp"
#include "shared/replication/ids.hpp"

namespace shoal {

class ColumnPool;

/// The values of one column in memory, `bytes` wide each.
class Column {
 public:
  std::uint32_t get(Slot slot) const {
    switch (bytes_) {
      case 1:
        return std::to_integer<std::uint8_t>(values_[slot]);
      case 2:
        return load<std::uint16_t>(slot);
      default:
        return load<std::uint32_t>(slot);
    }
  }
  void set(Slot slot, std::uint32_t value) {
    hash_is_known_ = false;
    switch (bytes_) {
      case 1:
        values_[slot] = static_cast<std::byte>(value);
        return;
      case 2:
        store(slot, static_cast<std::uint16_t>(value));
        return;
      default:
        store(slot, value);
        return;
    }
  }
  bool equals(const Column& other) const {
    return this == &other || std::memcmp(values_, other.values_, value_bytes()) == 0;
  }
  /// One bit per slot whose values differ. REQUIRES: columns of one width.
  std::uint64_t differing(const Column& other) const {
    switch (bytes_) {
      case 1:
        return differing_as<std::uint8_t>(other);
      case 2:
        return differing_as<std::uint16_t>(other);
      default:
        return differing_as<std::uint32_t>(other);
    }
  }
  /// XXH3 of the values; computed once per content.
  std::uint64_t hash() const;

 private:
  friend class ColumnPool;
  friend class ColumnRef;
  template <class T>
  T load(Slot slot) const {
    T value;
    std::memcpy(&value, values_ + slot * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  std::uint64_t differing_as(const Column& other) const {
    std::array<T, kChunkSlots> a;
    std::array<T, kChunkSlots> b;
    std::memcpy(a.data(), values_, sizeof a);
    std::memcpy(b.data(), other.values_, sizeof b);
    // Two loops that vectorise: a byte per slot, then eight bytes to eight bits by one multiplication.
    std::array<std::uint8_t, kChunkSlots> differs;
    for (unsigned i = 0; i < kChunkSlots; ++i) differs[i] = a[i] != b[i] ? 1 : 0;
    std::uint64_t mask = 0;
    for (unsigned i = 0; i < kChunkSlots; i += 8) {
      std::uint64_t eight = 0;
      for (unsigned lane = 0; lane < 8; ++lane) eight |= std::uint64_t{differs[i + lane]} << (8 * lane);
      mask |= (eight * 0x0102040810204080u >> 56) << i;
    }
    return mask;
  }
  template <class T>
  void store(Slot slot, T value) {
    std::memcpy(values_ + slot * sizeof(T), &value, sizeof(T));
  }
  std::size_t value_bytes() const { return std::size_t{bytes_} * kChunkSlots; }

  ColumnPool* pool_ = nullptr;
  mutable std::uint64_t hash_ = 0;
  std::uint32_t owners_ = 0;
  std::uint8_t bytes_ = 0;
  mutable bool hash_is_known_ = false;
  std::byte* values_ = nullptr;  // behind this object, value_bytes() long
};

/// An owner of a column, or of none.
class ColumnRef {
 public:
  ColumnRef() = default;
  ColumnRef(const ColumnRef& other) : column_(other.column_) {
    if (column_) ++column_->owners_;
  }
  ColumnRef(ColumnRef&& other) noexcept : column_(std::exchange(other.column_, nullptr)) {}
  ColumnRef& operator=(ColumnRef other) noexcept {
    std::swap(column_, other.column_);
    return *this;
  }
  ~ColumnRef() { reset(); }

  explicit operator bool() const { return column_ != nullptr; }
  const Column& operator*() const { return *column_; }
  const Column* operator->() const { return column_; }
  /// Same object, hence same content.
  bool is(const ColumnRef& other) const { return column_ == other.column_; }
  void reset();

 private:
  friend class ColumnPool;
  explicit ColumnRef(Column* column) : column_(column) { ++column_->owners_; }
  Column* column_ = nullptr;
};

class ColumnPool {
 public:
  ColumnPool() = default;
  ColumnPool(const ColumnPool&) = delete;
  ColumnPool& operator=(const ColumnPool&) = delete;
  ~ColumnPool();

  /// The column to write to: made of zeros if there is none, copied first if it has other owners.
  /// REQUIRES: bytes is 1, 2 or 4 and that of the column, if there is one.
  Column& mutable_column(ColumnRef& ref, unsigned bytes);

  std::size_t columns_in_use() const { return in_use_; }
  std::size_t memory_bytes() const { return memory_bytes_; }

 private:
  friend class ColumnRef;
  Column* take(unsigned bytes);
  void give_back(Column* column);
  std::vector<Column*>& free_list(unsigned bytes) { return free_[std::bit_width(bytes) - 1u]; }

  std::array<std::vector<Column*>, 3> free_;  // by width: 1, 2, 4 bytes
  std::size_t in_use_ = 0;
  std::size_t memory_bytes_ = 0;
};

inline void ColumnRef::reset() {
  if (column_ && --column_->owners_ == 0) column_->pool_->give_back(column_);
  column_ = nullptr;
}

}  // namespace shoal
