#include "shared/replication/chunk_version.hpp"

#include <xxhash.h>

#include <algorithm>

#include "shared/base/assert.hpp"

namespace shoal {

ChunkVersion::ChunkVersion(const ComponentTable& table, ColumnPool& pool, ChunkId chunk)
    : table_(&table), pool_(&pool), chunk_(chunk), present_(table.size()), columns_(table.columns().size()) {}

void ChunkVersion::bind(Slot slot, Entity entity) {
  SHOAL_ASSERT(!is_bound(slot) && !entity.is_null(), "a slot is bound once, to an entity");
  bound_ |= slot_bit(slot);
  pool_->mutable_column(indices_, 4).set(slot, entity.index);
  pool_->mutable_column(generations_, 4).set(slot, entity.generation);
}

void ChunkVersion::unbind(Slot slot) {
  SHOAL_ASSERT(is_bound(slot), "only a bound slot is unbound");
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    if (present_[component] & slot_bit(slot)) remove_component(component, slot);
  }
  bound_ &= ~slot_bit(slot);
  if (bound_ == 0) {
    indices_.reset();
    generations_.reset();
  } else {
    pool_->mutable_column(indices_, 4).set(slot, 0);
    pool_->mutable_column(generations_, 4).set(slot, 0);
  }
}

void ChunkVersion::add_component(ComponentIndex component, Slot slot) {
  SHOAL_ASSERT(is_bound(slot) && !(present_[component] & slot_bit(slot)),
               "a component is added once, to a bound slot");
  const auto& spec = (*table_)[component];
  if (present_[component] == 0) {
    for (unsigned i = 0; i < spec.column_count; ++i) write(spec.first_column + i);
  }
  present_[component] |= slot_bit(slot);
}

void ChunkVersion::remove_component(ComponentIndex component, Slot slot) {
  SHOAL_ASSERT(present_[component] & slot_bit(slot), "only what is there is removed");
  present_[component] &= ~slot_bit(slot);
  const auto& spec = (*table_)[component];
  for (unsigned i = 0; i < spec.column_count; ++i) {
    const ColumnIndex column = spec.first_column + i;
    if (present_[component] == 0) {
      columns_[column].reset();
    } else if (columns_[column]->get(slot) != 0) {
      write(column).set(slot, 0);
    }
  }
}

void ChunkVersion::set_value(ColumnIndex column, Slot slot, std::uint32_t value) {
  const auto& spec = table_->columns()[column];
  SHOAL_DEBUG_ASSERT(present_[spec.component] & slot_bit(slot), "the slot does not have the component");
  SHOAL_DEBUG_ASSERT(spec.bits == 32 || value >> spec.bits == 0, "the value does not fit its column");
  if (columns_[column]->get(slot) != value) write(column).set(slot, value);
}

void ChunkVersion::clear() {
  bound_ = 0;
  indices_.reset();
  generations_.reset();
  std::fill(present_.begin(), present_.end(), 0);
  for (auto& column : columns_) column.reset();
}

std::uint64_t ChunkVersion::component_hash64(ComponentIndex component) const {
  const auto& spec = (*table_)[component];
  std::uint64_t hash = XXH3_64bits_withSeed(&present_[component], sizeof present_[component], spec.wire_id);
  for (unsigned i = 0; i < spec.column_count; ++i) {
    const std::uint64_t column_hash = columns_[spec.first_column + i]->hash();
    hash = XXH3_64bits_withSeed(&column_hash, sizeof column_hash, hash);
  }
  return hash;
}

std::uint32_t ChunkVersion::component_hash(ComponentIndex component) const {
  return present_[component] == 0 ? 0 : static_cast<std::uint32_t>(component_hash64(component));
}

std::uint32_t ChunkVersion::hash() const {
  const std::uint64_t head[] = {chunk_.value, tick_.value, bound_, indices_ ? indices_->hash() : 0,
                                generations_ ? generations_->hash() : 0};
  std::uint64_t hash = XXH3_64bits(head, sizeof head);
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    if (present_[component] == 0) continue;
    const std::uint64_t component_hash = component_hash64(component);
    hash = XXH3_64bits_withSeed(&component_hash, sizeof component_hash, hash);
  }
  return static_cast<std::uint32_t>(hash);
}

bool same_state(const ChunkVersion& a, const ChunkVersion& b) {
  if (a.chunk() != b.chunk() || a.bound() != b.bound()) return false;
  bool same = true;
  for_each_slot(a.bound(), [&](Slot slot) { same = same && a.id(slot) == b.id(slot); });
  for (ComponentIndex component = 0; same && component < a.table().size(); ++component) {
    if (a.present(component) != b.present(component)) return false;
    const auto& spec = a.table()[component];
    for (unsigned i = 0; same && a.present(component) != 0 && i < spec.column_count; ++i) {
      same = a.column(spec.first_column + i)->equals(*b.column(spec.first_column + i));
    }
  }
  return same;
}

}  // namespace shoal
