#include "server/change_tracker.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/ecs/local.hpp"

namespace shoal {

ChangeTracker::ChangeTracker(const ComponentTable& table, Registry& registry, ChunkStore& chunks)
    : table_(&table), registry_(&registry), chunks_(&chunks) {
  unsigned most_columns = 0;
  for (const auto& component : table.components()) {
    const auto type = registry.find_component(component.wire_id);
    SHOAL_ASSERT(type, "the registry lacks a component of the table: call the schema's register_components");
    StorageBase& storage = registry.storage(*type);
    SHOAL_ASSERT(storage.value_bytes() == component.size_bytes, "component and descriptor differ in size");
    storages_.push_back(&storage);
    most_columns = std::max(most_columns, component.column_count);
  }
  values_.resize(most_columns);
}

ChangeTracker::Binding ChangeTracker::binding(Entity entity) const {
  if (entity.index >= bindings_.size() || bindings_[entity.index].entity != entity) return {};
  return bindings_[entity.index];
}

void ChangeTracker::end_tick(Tick now) {
  follow_structure(now);
  follow_values();
  chunks_->end_tick(now);
  registry_->log().clear();
  registry_->clear_changes();
}

void ChangeTracker::follow_structure(Tick now) {
  structural_.clear();
  for (const auto& entry : registry_->log().entries()) {
    const std::uint32_t index = entry.entity.index;
    if (index >= is_structural_.size()) {
      is_structural_.resize(index + 1);
      bindings_.resize(index + 1);
    }
    if (is_structural_[index]) continue;
    is_structural_[index] = true;
    structural_.push_back(index);
  }
  // Who is gone first, so that their slots are free for who came.
  for (const std::uint32_t index : structural_) {
    Binding& binding = bindings_[index];
    if (!binding.is_bound()) continue;
    if (!registry_->alive(binding.entity)) {
      release(binding, now, DepartureReason::Destroyed, {});
    } else if (registry_->all_of<Local>(binding.entity)) {
      release(binding, now, DepartureReason::NoLongerReplicated, {});
    }
  }
  for (const std::uint32_t index : structural_) {
    is_structural_[index] = false;
    reconcile(index, now);
  }
}

std::size_t ChangeTracker::slot_bits(Entity entity) const {
  std::size_t bits = table_->worst_slot_bits();
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    if (storages_[component]->contains_index(entity.index)) bits += table_->value_bits(component);
  }
  return bits;
}

// Makes the slot of whoever lives at this index now carry exactly the components that it has.
void ChangeTracker::reconcile(std::uint32_t index, Tick now) {
  const Entity entity = registry_->entity_at(index);
  if (entity.is_null() || registry_->all_of<Local>(entity)) return;
  Binding& binding = bindings_[index];
  if (!binding.is_bound()) return bind(entity);

  Chunk* chunk = &(*chunks_)[binding.chunk];
  std::size_t more_bits = 0;
  bool gained_any = false;  // a tag takes no bits
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    const bool has = storages_[component]->contains_index(index);
    const bool had = (chunk->pending().present(component) & slot_bit(binding.slot)) != 0;
    if (had && !has) {
      chunk->remove_component(component, binding.slot);
      chunks_->touched(binding.chunk);
      chunks_->made_room(binding.chunk);
    }
    if (!has || had) continue;
    gained_any = true;
    more_bits += table_->value_bits(component);
  }
  if (!gained_any) return;
  if (!chunk->fits(more_bits)) {
    // It outgrew its chunk: to another one, told as a move so that clients keep it in the meantime.
    Chunk& target = chunks_->with_room(slot_bits(entity));
    release(binding, now, DepartureReason::Moved, target.id());
    bind(entity);
    return;
  }
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    if (!storages_[component]->contains_index(index)) continue;
    if (chunk->pending().present(component) & slot_bit(binding.slot)) continue;
    chunk->add_component(component, binding.slot);
    write_values(binding, component, storages_[component]->find(index));
  }
  chunks_->touched(binding.chunk);
}

void ChangeTracker::bind(Entity entity) {
  Chunk& chunk = chunks_->with_room(slot_bits(entity));
  Binding& binding = bindings_[entity.index];
  binding = {entity, chunk.id(), chunk.bind(entity)};
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    if (!storages_[component]->contains_index(entity.index)) continue;
    chunk.add_component(component, binding.slot);
    write_values(binding, component, storages_[component]->find(entity.index));
  }
  chunks_->touched(chunk.id());
}

void ChangeTracker::release(Binding& binding, Tick now, DepartureReason reason, ChunkId target) {
  (*chunks_)[binding.chunk].unbind(binding.slot, now, reason, target);
  chunks_->touched(binding.chunk);
  chunks_->made_room(binding.chunk);
  binding = {};
}

void ChangeTracker::write_values(const Binding& binding, ComponentIndex component, const void* value) {
  const unsigned count = (*table_)[component].column_count;
  if (count == 0) return;
  table_->quantise(component, value, values_.data());
  Chunk& chunk = (*chunks_)[binding.chunk];
  if (chunk.set_values(component, binding.slot, std::span(values_).first(count)))
    chunks_->touched(binding.chunk);
}

void ChangeTracker::follow_values() {
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    if ((*table_)[component].column_count == 0) continue;
    storages_[component]->for_each_possibly_changed([&](std::uint32_t index, const void* value) {
      // An index without a binding belongs to a Local entity.
      if (index >= bindings_.size() || !bindings_[index].is_bound()) return;
      write_values(bindings_[index], component, value);
    });
  }
}

}  // namespace shoal
