// The quantised state of one chunk at one tick: which entity each slot is bound to, which components each
// has, and the columns of their fields. The server makes versions by tracking changes, the client by
// decoding blocks; both are this one type, so equality of mirrors is equality of versions.
//
// 1. A slot that is not bound has no components. A slot without a component has zeros in its columns, and a
//    component that no slot has has no columns. So equal states are equal bytes.
// 2. Copies share the ids and the columns; what is written to is copied first. Copying costs the size of
//    the table, not of the state.
// 3. `hash` covers the chunk's id, the tick, the bound ids, the component sets and the columns: all that a
//    block promises.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "shared/base/tick.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/replication/column.hpp"
#include "shared/replication/component_table.hpp"

namespace shoal {

/// Calls f(slot) for each bit that is set, from the lowest up.
template <class F>
void for_each_slot(std::uint64_t slots, F&& f) {
  for (; slots != 0; slots &= slots - 1) f(static_cast<Slot>(std::countr_zero(slots)));
}
constexpr std::uint64_t slot_bit(Slot slot) {
  return std::uint64_t{1} << slot;
}

class ChunkVersion {
 public:
  /// An empty chunk. `table` and `pool` outlive the version.
  ChunkVersion(const ComponentTable& table, ColumnPool& pool, ChunkId chunk);

  ChunkId chunk() const { return chunk_; }
  Tick tick() const { return tick_; }
  void set_tick(Tick tick) { tick_ = tick; }

  std::uint64_t bound() const { return bound_; }
  /// Null where nothing is bound.
  Entity id(Slot slot) const {
    return Entity{indices_ ? indices_->get(slot) : 0, generations_ ? generations_->get(slot) : 0};
  }
  bool is_bound(Slot slot) const { return (bound_ & slot_bit(slot)) != 0; }
  /// The slots that are bound to the same entity in both.
  std::uint64_t same_ids(const ChunkVersion& other) const {
    const std::uint64_t both = bound_ & other.bound_;
    return both == 0
               ? 0
               : both & ~(differing(indices_, other.indices_) | differing(generations_, other.generations_));
  }
  std::uint64_t present(ComponentIndex component) const { return present_[component]; }
  /// 0 where the slot does not have the component.
  std::uint32_t value(ColumnIndex column, Slot slot) const {
    return columns_[column] ? columns_[column]->get(slot) : 0;
  }
  const ColumnRef& column(ColumnIndex column) const { return columns_[column]; }

  /// REQUIRES: the slot is free, the id is not null.
  void bind(Slot slot, Entity entity);
  /// REQUIRES: the slot is bound. Takes its components away.
  void unbind(Slot slot);
  /// REQUIRES: the slot is bound. Values start as zeros.
  void add_component(ComponentIndex component, Slot slot);
  /// REQUIRES: the slot has it.
  void remove_component(ComponentIndex component, Slot slot);
  /// REQUIRES: the slot has the column's component and the value fits the column's bits.
  void set_value(ColumnIndex column, Slot slot, std::uint32_t value);

  /// Becomes the empty chunk, keeping its memory.
  void clear();

  std::uint32_t hash() const;
  /// Hash of one component's share, to tell which component differs where `hash` does.
  std::uint32_t component_hash(ComponentIndex component) const;

  const ComponentTable& table() const { return *table_; }

 private:
  static std::uint64_t differing(const ColumnRef& a, const ColumnRef& b) {
    return a.is(b) ? 0 : a->differing(*b);
  }
  Column& write(ColumnIndex column) {
    return pool_->mutable_column(columns_[column], table_->columns()[column].bytes);
  }
  std::uint64_t component_hash64(ComponentIndex component) const;

  const ComponentTable* table_;
  ColumnPool* pool_;
  ChunkId chunk_;
  Tick tick_{};
  std::uint64_t bound_ = 0;
  ColumnRef indices_;
  ColumnRef generations_;
  std::vector<std::uint64_t> present_;  // by component
  std::vector<ColumnRef> columns_;      // by column of the table; null where no slot has the component
};

/// True when ids, component sets and values are the same; ticks may differ.
bool same_state(const ChunkVersion& a, const ChunkVersion& b);

}  // namespace shoal
