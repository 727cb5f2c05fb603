#include "server/change_tracker.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/ecs/local.hpp"

namespace shoal {
namespace {

constexpr std::array kEveryAudience{Audience::Everyone, Audience::Team, Audience::Owner};
/// Entities moved per tick from a nearly empty chunk into a fuller one: each costs its full values once.
constexpr int kMergedPerTick = 4;

}  // namespace

ChangeTracker::ChangeTracker(const ComponentTable& table, Registry& registry, ChunkStore& chunks,
                             const InterestConfig& interest)
    : table_(&table), registry_(&registry), chunks_(&chunks), interest_(interest) {
  SHOAL_ASSERT(interest.square_size > 0, "squares have a size");
  SHOAL_ASSERT(registry.log().enabled(), "switch the registry's log on before the first entity");
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

ChangeTracker::Binding ChangeTracker::binding(Entity entity, Audience audience) const {
  if (entity.index >= records_.size() || records_[entity.index].entity != entity) return {};
  return records_[entity.index].bindings[static_cast<std::size_t>(audience)];
}

void ChangeTracker::end_tick(Tick now) {
  follow_structure(now);
  follow_affiliation();
  follow_values();
  // By now `unsettled_` holds who left its square, its team or its owner.
  for (const std::uint32_t index : unsettled_) {
    is_unsettled_[index] = false;
    reconcile(index, now);
  }
  unsettled_.clear();
  move_some_together(now);
  chunks_->end_tick(now);
  registry_->log().clear();
  registry_->clear_changes();
}

void ChangeTracker::settle(std::uint32_t index) {
  if (index >= is_unsettled_.size()) {
    is_unsettled_.resize(index + 1);
    records_.resize(index + 1);
  }
  if (is_unsettled_[index]) return;
  is_unsettled_[index] = true;
  unsettled_.push_back(index);
}

void ChangeTracker::follow_structure(Tick now) {
  for (const auto& entry : registry_->log().entries()) settle(entry.entity.index);
  // Who is gone first, so that their slots are free for who came.
  for (const std::uint32_t index : unsettled_) {
    Record& record = records_[index];
    if (record.entity.is_null()) continue;
    if (!registry_->alive(record.entity)) {
      release_all(record, now, DepartureReason::Destroyed);
    } else if (registry_->all_of<Local>(record.entity)) {
      release_all(record, now, DepartureReason::NoLongerReplicated);
    }
  }
  for (const std::uint32_t index : unsettled_) {
    is_unsettled_[index] = false;
    reconcile(index, now);
  }
  unsettled_.clear();
}

// --- what an entity is -------------------------------------------------------------------------------------

bool ChangeTracker::has_any(Entity entity, Audience audience) const {
  const auto components = table_->of(audience);
  return std::any_of(components.begin(), components.end(), [&](ComponentIndex component) {
    return storages_[component]->contains_index(entity.index);
  });
}

std::size_t ChangeTracker::slot_bits(Entity entity, Audience audience) const {
  std::size_t bits = table_->worst_slot_bits(audience);
  for (const ComponentIndex component : table_->of(audience)) {
    if (storages_[component]->contains_index(entity.index)) bits += table_->value_bits(component);
  }
  return bits;
}

std::optional<Place> ChangeTracker::place_of(Entity entity) const {
  const auto component = table_->interest_component();
  if (!component || !storages_[*component]->contains(entity)) return std::nullopt;
  table_->quantise(*component, storages_[*component]->find(entity.index), values_.data());
  return table_->place_of(values_.data());
}

std::optional<SquareKey> ChangeTracker::square_of(Entity entity, Audience audience) const {
  if (registry_->all_of<Local>(entity)) return std::nullopt;
  switch (audience) {
    case Audience::Team: {
      const auto* team = registry_->try_get<const OnTeam>(entity);
      if (!team || !has_any(entity, audience)) return std::nullopt;
      return SquareKey::team(team->team);
    }
    case Audience::Owner: {
      const auto* owned = registry_->try_get<const OwnedBy>(entity);
      if (!owned || owned->player.is_null() || !has_any(entity, audience)) return std::nullopt;
      return SquareKey::owner(owned->player);
    }
    case Audience::Everyone:
      break;
  }
  const bool is_secret = !has_any(entity, Audience::Everyone) &&
                         (has_any(entity, Audience::Team) || has_any(entity, Audience::Owner));
  if (is_secret) return std::nullopt;
  const auto place = place_of(entity);
  return place ? cell_at(*place, interest_.square_size) : SquareKey::always();
}

// --- what is bound -----------------------------------------------------------------------------------------

// Makes the bindings of whoever lives at this index now what they should be.
void ChangeTracker::reconcile(std::uint32_t index, Tick now) {
  const Entity entity = registry_->entity_at(index);
  if (entity.is_null() || registry_->all_of<Local>(entity)) return;
  Record& record = records_[index];
  record.entity = entity;
  for (const Audience audience : kEveryAudience) reconcile(record, audience, now);
}

void ChangeTracker::reconcile(Record& record, Audience audience, Tick now) {
  const Binding& binding = record[audience];
  auto square = square_of(record.entity, audience);
  if (!square) {
    if (binding.is_bound()) release(record, audience, now, DepartureReason::NoLongerReplicated);
    return;
  }
  if (!binding.is_bound())
    return bind(record, audience, chunks_->with_room(*square, slot_bits(record.entity, audience)));
  const SquareKey& current = chunks_->square_of(binding.chunk);
  const bool may_stay =
      square->kind == SquareKind::Cell && current.kind == SquareKind::Cell &&
      is_about_in(*place_of(record.entity), current, interest_.square_size, interest_.square_hysteresis());
  if (*square != current && !may_stay)
    return move(record, audience, chunks_->with_room(*square, slot_bits(record.entity, audience)), now);
  follow_components(record, audience, now);
}

void ChangeTracker::follow_components(Record& record, Audience audience, Tick now) {
  const Binding binding = record[audience];
  const std::uint32_t index = record.entity.index;
  Chunk* chunk = &(*chunks_)[binding.chunk];
  std::size_t more_bits = 0;
  bool gained_any = false;  // a tag takes no bits
  for (const ComponentIndex component : table_->of(audience)) {
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
    // It outgrew its chunk: to another one of the square, told as a move so that clients keep it in the meantime.
    const SquareKey square = chunks_->square_of(binding.chunk);
    return move(record, audience, chunks_->with_room(square, slot_bits(record.entity, audience)), now);
  }
  for (const ComponentIndex component : table_->of(audience)) {
    if (!storages_[component]->contains_index(index)) continue;
    if (chunk->pending().present(component) & slot_bit(binding.slot)) continue;
    chunk->add_component(component, binding.slot);
    write_values(binding, component, storages_[component]->find(index));
  }
  chunks_->touched(binding.chunk);
}

void ChangeTracker::bind(Record& record, Audience audience, ChunkIndex index) {
  Chunk& chunk = (*chunks_)[index];
  Binding& binding = record[audience];
  binding = {index, chunk.bind(record.entity)};
  for (const ComponentIndex component : table_->of(audience)) {
    if (!storages_[component]->contains_index(record.entity.index)) continue;
    chunk.add_component(component, binding.slot);
    write_values(binding, component, storages_[component]->find(record.entity.index));
  }
  chunks_->touched(index);
}

void ChangeTracker::move(Record& record, Audience audience, ChunkIndex target, Tick now) {
  release(record, audience, now, DepartureReason::Moved, (*chunks_)[target].id());
  bind(record, audience, target);
}

void ChangeTracker::release(Record& record, Audience audience, Tick now, DepartureReason reason,
                            ChunkId target) {
  Binding& binding = record[audience];
  (*chunks_)[binding.chunk].unbind(binding.slot, now, reason, target);
  chunks_->touched(binding.chunk);
  chunks_->made_room(binding.chunk);
  binding = {};
}

void ChangeTracker::release_all(Record& record, Tick now, DepartureReason reason) {
  for (const Audience audience : kEveryAudience) {
    if (record[audience].is_bound()) release(record, audience, now, reason);
  }
  record = {};
}

// Nearly empty chunks cost each client a directory entry per change: their entities move in with others, slowly.
void ChangeTracker::move_some_together(Tick now) {
  const auto merge = chunks_->next_merge();
  if (!merge) return;
  const Audience audience = chunks_->square_of(merge->from).audience();
  int moved = 0;
  for_each_slot((*chunks_)[merge->from].pending().bound(), [&](Slot slot) {
    const Entity entity = (*chunks_)[merge->from].pending().id(slot);
    if (moved++ < kMergedPerTick) move(records_[entity.index], audience, merge->to, now);
  });
}

// --- values ------------------------------------------------------------------------------------------------

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
    const auto& spec = (*table_)[component];
    if (spec.column_count == 0) continue;
    const bool places = table_->interest_component() == component;
    storages_[component]->for_each_possibly_changed([&](std::uint32_t index, const void* value) {
      // An index without a binding belongs to a Local entity, or to one that shows this component to nobody.
      if (index >= records_.size()) return;
      const Binding& binding = records_[index][spec.audience];
      if (!binding.is_bound()) return;
      write_values(binding, component, value);
      if (places) follow_places(index, values_.data());
    });
  }
}

void ChangeTracker::follow_places(std::uint32_t index, const std::uint32_t* values) {
  const SquareKey& square = chunks_->square_of(records_[index][Audience::Everyone].chunk);
  const bool stays =
      square.kind == SquareKind::Cell &&
      is_about_in(table_->place_of(values), square, interest_.square_size, interest_.square_hysteresis());
  if (!stays && !fault("never-change-square")) settle(index);
}

void ChangeTracker::follow_affiliation() {
  const auto look_again = [&](std::uint32_t index, const void*) { settle(index); };
  registry_->storage<OnTeam>().for_each_possibly_changed(look_again);
  registry_->storage<OwnedBy>().for_each_possibly_changed(look_again);
}

}  // namespace shoal
