#include "client/mirror.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/wire/quantise.hpp"

namespace shoal {

Mirror::Mirror(const ComponentTable& table, Registry& registry) : table_(&table), registry_(&registry) {
  registry.log().set_enabled(false);
  std::size_t most_bytes = 1;
  unsigned most_columns = 1;
  for (const auto& component : table.components()) {
    const auto type = registry.find_component(component.wire_id);
    storages_.push_back(type ? &registry.storage(*type) : nullptr);
    SHOAL_ASSERT(!type || storages_.back()->value_bytes() == component.size_bytes,
                 "component and descriptor differ in size");
    has_references_.push_back(std::any_of(component.fields.begin(), component.fields.end(),
                                          [](const auto& field) { return field.type == FieldType::Entity; }));
    most_bytes = std::max<std::size_t>(most_bytes, component.size_bytes);
    most_columns = std::max(most_columns, component.column_count);
  }
  aggregate_.resize(most_bytes);
  values_.resize(most_columns);
}

std::size_t Mirror::version_count() const {
  std::size_t count = 0;
  for (const auto& [id, chunk] : chunks_) count += chunk.versions.size();
  return count;
}

bool Mirror::has_version(ChunkId chunk, Tick tick) const {
  const auto found = chunks_.find(chunk.value);
  return found != chunks_.end() && std::any_of(found->second.versions.begin(), found->second.versions.end(),
                                               [&](const auto& version) { return version.tick() == tick; });
}

const ChunkVersion* Mirror::shown(ChunkId chunk) const {
  const auto found = chunks_.find(chunk.value);
  return found == chunks_.end() || !found->second.shown ? nullptr : &*found->second.shown;
}

BlockOutcome Mirror::fail(MirrorChunk& chunk, const ReceivedBlock& block, BlockOutcome outcome,
                          const ChunkVersion* decoded) {
  // A late block that fails is of no use and no harm; a newer one is on its way or here already.
  if (chunk.shown && block.to <= chunk.shown->tick()) return outcome;
  auto wanted =
      std::find_if(wanted_.begin(), wanted_.end(), [&](const auto& w) { return w.chunk == block.chunk; });
  if (wanted == wanted_.end()) {
    wanted = wanted_.insert(wanted_.end(), WantedChunk{});
    ++counters_.resyncs_asked;
  }
  *wanted = {block.chunk, block.epoch, block.to, {}};
  for (ComponentIndex component = 0; decoded && component < table_->size(); ++component) {
    wanted->component_hashes.push_back(decoded->component_hash(component));
  }
  return outcome;
}

BlockOutcome Mirror::apply(const ReceivedBlock& block) {
  auto found = chunks_.find(block.chunk.value);
  if (found == chunks_.end()) {
    if (chunks_.size() >= kMaxMirrorChunks) {
      ++counters_.refused_blocks;
      return BlockOutcome::Refused;
    }
    found = chunks_.emplace(block.chunk.value, MirrorChunk{}).first;
    found->second.epoch = block.epoch;
  }
  MirrorChunk& chunk = found->second;
  const auto epochs_ahead = static_cast<std::int16_t>(block.epoch.value - chunk.epoch.value);
  if (epochs_ahead < 0 || (epochs_ahead == 0 && chunk.dropped)) {
    ++counters_.outdated_blocks;
    return BlockOutcome::Outdated;
  }
  if (epochs_ahead > 0) {
    chunk.epoch = block.epoch;
    chunk.dropped = false;
    chunk.versions.clear();
    chunk.baseline.reset();
  }

  if (fault("lose-baselines") && block.to.value % 16 == 0) chunk.versions.clear();

  // What is here already and verified needs no baseline to be verified again: it came twice because the news
  // of its arrival was lost.
  const auto same = std::find_if(chunk.versions.rbegin(), chunk.versions.rend(),
                                 [&](const auto& v) { return v.tick() == block.to; });
  if (same != chunk.versions.rend() && same->hash() == block.hash) {
    ++counters_.repeated_blocks;
    return BlockOutcome::Applied;
  }

  const ChunkVersion* baseline = nullptr;
  if (block.from) {
    const auto version = std::find_if(chunk.versions.begin(), chunk.versions.end(),
                                      [&](const auto& v) { return v.tick() == *block.from; });
    if (version == chunk.versions.end()) {
      ++counters_.baseline_misses;
      return fail(chunk, block, BlockOutcome::BaselineMissing);
    }
    baseline = &*version;
  }
  auto decoded = decode_block(*table_, pool_, block.chunk, baseline, block.to, block.body, departures_);
  if (!decoded.ok()) {
    ++counters_.decode_errors;
    return fail(chunk, block, BlockOutcome::Malformed);
  }
  if (decoded->hash() != block.hash && !fault("skip-hash-check")) {
    ++counters_.mismatches;
    return fail(chunk, block, BlockOutcome::Mismatch, &*decoded);
  }
  bool within_limit = true;
  for_each_slot(decoded->bound(), [&](Slot slot) {
    within_limit = within_limit && decoded->id(slot).index < registry_->max_entities() &&
                   decoded->id(slot).generation <= Entity::kMaxGeneration;
  });
  if (!within_limit) {
    ++counters_.refused_blocks;
    return BlockOutcome::Refused;
  }
  ++counters_.blocks_verified;
  if (!block.from) ++counters_.full_states;

  // The server's baseline never goes back, so what lies before it is not asked for again.
  if (block.from) std::erase_if(chunk.versions, [&](const auto& v) { return v.tick() < *block.from; });
  const auto place = std::lower_bound(chunk.versions.begin(), chunk.versions.end(), block.to,
                                      [](const auto& v, Tick tick) { return v.tick() < tick; });
  if (place == chunk.versions.end() || place->tick() != block.to) chunk.versions.insert(place, *decoded);
  if (block.from && (!chunk.baseline || *block.from > *chunk.baseline)) chunk.baseline = block.from;
  if (chunk.versions.size() > kMaxMirrorVersions) {
    // Not the baseline: a server that hears no acknowledgement goes on naming it.
    const bool keeps_first = chunk.baseline == chunk.versions.front().tick();
    chunk.versions.erase(chunk.versions.begin() + (keeps_first ? 1 : 0));
  }

  std::erase_if(wanted_, [&](const auto& w) { return w.chunk == block.chunk && w.failed_at <= block.to; });
  const bool is_late = chunk.shown && block.to <= chunk.shown->tick() && epochs_ahead == 0;
  if (is_late && !fault("show-late-blocks")) {
    ++counters_.late_blocks;
    return BlockOutcome::Applied;
  }
  show(chunk, *decoded);
  return BlockOutcome::Applied;
}

Mirror::Record& Mirror::record_of(Entity entity) {
  if (entity.index >= records_.size()) records_.resize(entity.index + 1);
  return records_[entity.index];
}

// --- one block, applied whole ------------------------------------------------------------------------------

void Mirror::show(MirrorChunk& chunk, const ChunkVersion& next) {
  constructed_.clear();
  updated_.clear();
  removed_.clear();
  destroyed_.clear();
  created_any_ = false;
  const ChunkVersion* shown = chunk.shown ? &*chunk.shown : nullptr;
  end_bindings(shown, next);
  for_each_slot(next.bound(), [&](Slot slot) {
    const Record& record = record_of(next.id(slot));
    const bool shows_here = record.entity == next.id(slot) && record.chunk == next.chunk() &&
                            record.slot == slot && !record.awaits_chunk;
    if (shown && shows_here && shown->is_bound(slot) && shown->id(slot) == next.id(slot)) {
      update_binding(slot, *shown, next);
    } else {
      make_binding(slot, next);
    }
  });
  settle_awaiting(next);
  chunk.shown = next;
  mend_references();
  publish();
}

void Mirror::end_bindings(const ChunkVersion* shown, const ChunkVersion& next) {
  const auto is_bound_in_next = [&](Entity entity) {
    bool bound = false;
    for_each_slot(next.bound(), [&](Slot slot) { bound = bound || next.id(slot) == entity; });
    return bound;
  };
  for (const Departure& departure : departures_) {
    if (is_bound_in_next(departure.entity)) continue;  // it left and came back
    end_binding(departure, next.chunk());
  }
  if (!shown) return;
  for_each_slot(shown->bound(), [&](Slot slot) {
    const Entity entity = shown->id(slot);
    if (next.is_bound(slot) && next.id(slot) == entity) return;
    if (is_bound_in_next(entity)) return;
    const Record& record = record_of(entity);
    const bool still_shown_here =
        record.entity == entity && record.chunk == next.chunk() && !record.awaits_chunk;
    if (!still_shown_here) return;  // a departure told what became of it, or another chunk shows it
    if (std::find(destroyed_.begin(), destroyed_.end(), entity) != destroyed_.end()) return;
    ++counters_.resynced_bindings;
    end_binding({next.tick(), slot, entity, DepartureReason::Resynced, {}}, next.chunk());
  });
}

void Mirror::end_binding(const Departure& departure, ChunkId from) {
  const Entity entity = departure.entity;
  if (entity.index >= registry_->max_entities() || entity.generation > Entity::kMaxGeneration) return;
  Record& record = record_of(entity);
  if (departure.reason == DepartureReason::Destroyed) {
    record.dead_generation = std::max(record.dead_generation, entity.generation);
    if (record.entity == entity) destroyed_.push_back(entity);
    return;
  }
  if (record.entity != entity || record.chunk != from) return;
  if (departure.reason != DepartureReason::Moved) {
    destroyed_.push_back(entity);
    return;
  }
  record.chunk = departure.target;
  record.shown_at = departure.tick;
  if (!std::exchange(record.awaits_chunk, true)) awaiting_.push_back(entity);
}

// Entities that moved and that the chunk they moved to has not bound here: while its version of that move is
// not here, they stay. Once it is, the chunk has told what became of them, or lost them for a reason that is
// not known.
void Mirror::settle_awaiting(const ChunkVersion& next) {
  std::erase_if(awaiting_, [&](Entity entity) {
    Record& record = record_of(entity);
    if (record.entity != entity || !record.awaits_chunk) return true;
    const auto target = chunks_.find(record.chunk.value);
    const ChunkVersion* version = record.chunk == next.chunk()                      ? &next
                                  : target != chunks_.end() && target->second.shown ? &*target->second.shown
                                                                                    : nullptr;
    const bool is_told = version && version->tick() >= record.shown_at;
    const bool is_out_of_interest = target != chunks_.end() && target->second.dropped;
    if (!is_told && !is_out_of_interest) return false;
    ++counters_.resynced_bindings;
    record.awaits_chunk = false;
    destroyed_.push_back(entity);
    return true;
  });
}

void Mirror::make_binding(Slot slot, const ChunkVersion& next) {
  const Entity entity = next.id(slot);
  Record& record = record_of(entity);
  const bool is_dead = entity.generation <= record.dead_generation;
  const bool is_outlived = !record.entity.is_null() && record.entity.generation > entity.generation;
  if ((is_dead || is_outlived) && !fault("revive-dead")) {
    ++counters_.hidden_bindings;
    return;
  }
  if (record.entity == entity && !record.awaits_chunk && record.chunk != next.chunk() &&
      record.shown_at > next.tick()) {
    return;  // another chunk shows it, in a newer state
  }
  if (!record.entity.is_null() && record.entity != entity) destroy_now(record);
  std::erase(destroyed_, entity);
  const bool is_new = record.entity.is_null();
  if (is_new && !registry_->create_exact(entity)) {
    ++counters_.hidden_bindings;
    return;
  }
  created_any_ = created_any_ || is_new;
  record = {entity, next.chunk(), slot, next.tick(), false, record.dead_generation};
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    StorageBase* storage = storages_[component];
    if (!storage) continue;
    const bool has = storage->contains_index(entity.index);
    if (next.present(component) & slot_bit(slot)) {
      write_component(entity, component, next, slot);
      (has ? updated_ : constructed_).push_back({entity, component});
    } else if (has) {
      removed_.push_back({entity, component});
    }
  }
  ++counters_.entity_updates;
}

void Mirror::update_binding(Slot slot, const ChunkVersion& shown, const ChunkVersion& next) {
  const Entity entity = next.id(slot);
  Record& record = record_of(entity);
  record.shown_at = next.tick();
  const std::uint64_t bit = slot_bit(slot);
  bool any = false;
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    const bool had = (shown.present(component) & bit) != 0;
    const bool has = (next.present(component) & bit) != 0;
    if (!had && !has) continue;
    const auto& spec = (*table_)[component];
    bool differs = had != has;
    for (unsigned i = 0; !differs && i < spec.column_count; ++i) {
      const auto& before = shown.column(spec.first_column + i);
      const auto& after = next.column(spec.first_column + i);
      differs = !before.is(after) && before->get(slot) != after->get(slot);
    }
    if (!differs) continue;
    any = true;
    if (!storages_[component]) continue;
    if (!has) {
      removed_.push_back({entity, component});
    } else {
      write_component(entity, component, next, slot);
      (had ? updated_ : constructed_).push_back({entity, component});
    }
  }
  if (any) ++counters_.entity_updates;
}

// Makes the registry's component from the columns.
void Mirror::write_component(Entity entity, ComponentIndex component, const ChunkVersion& version,
                             Slot slot) {
  const auto& spec = (*table_)[component];
  StorageBase& storage = *storages_[component];
  std::uint32_t* value = values_.data();
  for (unsigned i = 0; i < spec.column_count; ++i) value[i] = version.value(spec.first_column + i, slot);
  if (has_references_[component]) {
    bool all_resolved = true;
    for (const auto& field : spec.fields) {
      const unsigned count = column_count(field.type);
      if (field.type == FieldType::Entity && !registry_->alive(Entity{value[0], value[1]})) {
        all_resolved = all_resolved && Entity{value[0], value[1]}.is_null();
        value[0] = kNullEntity.index;
        value[1] = kNullEntity.generation;
      }
      value += count;
    }
    const std::uint64_t key = (std::uint64_t{component} << 32) | entity.index;
    if (all_resolved) {
      unresolved_.erase(key);
    } else {
      unresolved_[key] = {entity, component};
    }
  }
  table_->dequantise(component, values_.data(), aggregate_.data());
  if (storage.contains_index(entity.index)) {
    storage.replace_silently(entity, aggregate_.data());
  } else {
    storage.emplace_silently(entity, aggregate_.data());
  }
}

void Mirror::mend_references() {
  if (!created_any_ || unresolved_.empty() || fault("skip-mending")) return;
  std::vector<Change> candidates;
  for (const auto& [key, change] : unresolved_) candidates.push_back(change);
  std::sort(candidates.begin(), candidates.end(), [](const Change& a, const Change& b) {
    return a.entity != b.entity ? a.entity < b.entity : a.component < b.component;
  });
  for (const Change& change : candidates) {
    const Record& record = record_of(change.entity);
    const std::uint64_t key = (std::uint64_t{change.component} << 32) | change.entity.index;
    const auto chunk = chunks_.find(record.chunk.value);
    const bool is_current =
        record.entity == change.entity && storages_[change.component]->contains_index(change.entity.index);
    if (!is_current) {
      unresolved_.erase(key);
      continue;
    }
    if (record.awaits_chunk || chunk == chunks_.end() || !chunk->second.shown) continue;
    const ChunkVersion& version = *chunk->second.shown;
    const auto& spec = (*table_)[change.component];
    ColumnIndex column = spec.first_column;
    bool can_be_mended = false;
    for (const auto& field : spec.fields) {
      if (field.type == FieldType::Entity) {
        const Entity target{version.value(column, record.slot), version.value(column + 1, record.slot)};
        Entity now_shown;
        std::memcpy(&now_shown.index,
                    static_cast<const std::byte*>(storages_[change.component]->find(change.entity.index)) +
                        field.offset_bytes,
                    8);
        can_be_mended = can_be_mended || (registry_->alive(target) && now_shown != target);
      }
      column += column_count(field.type);
    }
    if (!can_be_mended) continue;
    write_component(change.entity, change.component, version, record.slot);
    const auto is_same = [&](const Change& other) {
      return other.entity == change.entity && other.component == change.component;
    };
    const bool told_anyway = std::any_of(constructed_.begin(), constructed_.end(), is_same) ||
                             std::any_of(updated_.begin(), updated_.end(), is_same);
    if (!told_anyway) updated_.push_back(change);
  }
}

void Mirror::publish() {
  for (const Change& change : constructed_) {
    if (registry_->alive(change.entity)) storages_[change.component]->publish_construct(change.entity);
  }
  for (const Change& change : updated_) {
    if (registry_->alive(change.entity)) storages_[change.component]->publish_update(change.entity);
  }
  for (const Change& change : removed_) {
    if (registry_->alive(change.entity))
      registry_->remove(change.entity, storages_[change.component]->type());
  }
  for (const Entity entity : destroyed_) {
    Record& record = record_of(entity);
    if (record.entity == entity) destroy_now(record);
  }
}

void Mirror::destroy_now(Record& record) {
  const Entity entity = std::exchange(record.entity, kNullEntity);
  record.awaits_chunk = false;
  if (registry_->alive(entity)) registry_->destroy(entity);
}

void Mirror::drop(ChunkId id, Epoch epoch) {
  const auto found = chunks_.find(id.value);
  if (found == chunks_.end()) return;
  MirrorChunk& chunk = found->second;
  if (chunk.dropped || static_cast<std::int16_t>(epoch.value - chunk.epoch.value) < 0) return;
  chunk.epoch = epoch;
  chunk.dropped = true;
  std::erase_if(wanted_, [&](const auto& wanted) { return wanted.chunk == id; });
  departures_.clear();
  ChunkVersion nothing(*table_, pool_, id);
  nothing.set_tick(chunk.shown ? chunk.shown->tick() : Tick{});
  const std::uint64_t without_reason = counters_.resynced_bindings;
  show(chunk, nothing);
  counters_.resynced_bindings = without_reason;  // leaving interest is the reason
  chunk.shown.reset();
  chunk.versions.clear();
}

}  // namespace shoal
