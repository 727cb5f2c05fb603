#include "client/mirror.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/wire/quantise.hpp"

namespace shoal {

Mirror::Mirror(const ComponentTable& table, Registry& registry) : table_(&table), registry_(&registry) {
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
                                               [&](const auto& version) { return version->tick() == tick; });
}

const ChunkVersion* Mirror::shown(ChunkId chunk) const {
  const auto found = chunks_.find(chunk.value);
  return found == chunks_.end() || !found->second.shown ? nullptr : found->second.shown.get();
}

bool Mirror::is_as_new_as(Entity entity, Tick version) const {
  if (entity.index >= records_.size()) return false;
  const Record& record = records_[entity.index];
  if (record.entity != entity) return entity.generation <= record.dead_generation;
  // It shows. If another chunk has told already that it is dead, its own will, too: until then the mirror is behind.
  for (const Source& source : record.sources) {
    if (source.state == Source::State::None) continue;
    // Where it moved has not told of it yet.
    if (source.state == Source::State::Awaiting) return false;
    const ChunkVersion* chunk = shown(source.chunk);
    return chunk && chunk->tick() >= version;
  }
  return false;
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

Mirror::MirrorChunk* Mirror::find_or_open(ChunkId id, Epoch epoch) {
  const auto found = chunks_.find(id.value);
  if (found != chunks_.end()) return &found->second;
  if (chunk_count() >= kMaxMirrorChunks) return nullptr;
  MirrorChunk& chunk = chunks_.emplace(id.value, MirrorChunk{}).first->second;
  chunk.epoch = epoch;
  return &chunk;
}

BlockOutcome Mirror::apply(const ReceivedBlock& block) {
  MirrorChunk* const opened = block.chunk.is_valid() ? find_or_open(block.chunk, block.epoch) : nullptr;
  if (!opened) {
    ++counters_.refused_blocks;
    return BlockOutcome::Refused;
  }
  MirrorChunk& chunk = *opened;
  const auto epochs_ahead = static_cast<std::int16_t>(block.epoch.value - chunk.epoch.value);
  const bool is_over = epochs_ahead < 0 || (epochs_ahead == 0 && chunk.dropped);
  if (is_over && !fault("show-old-epochs")) {
    ++counters_.outdated_blocks;
    return BlockOutcome::Outdated;
  }
  if (epochs_ahead > 0) {
    chunk.epoch = block.epoch;
    if (std::exchange(chunk.dropped, false)) --dropped_count_;
    chunk.versions.clear();
    chunk.baseline.reset();
  }
  absent_ = block.absent;

  if (fault("lose-baselines") && block.to.value % 16 == 0) chunk.versions.clear();

  // What is here already and verified needs no baseline to be verified again: it came twice because the news
  // of its arrival was lost.
  const auto same = std::find_if(chunk.versions.rbegin(), chunk.versions.rend(),
                                 [&](const auto& v) { return v->tick() == block.to; });
  if (same != chunk.versions.rend() && (*same)->hash() == block.hash) {
    ++counters_.repeated_blocks;
    return BlockOutcome::Applied;
  }

  const ChunkVersion* baseline = nullptr;
  if (block.from) {
    const auto version = std::find_if(chunk.versions.begin(), chunk.versions.end(),
                                      [&](const auto& v) { return v->tick() == *block.from; });
    if (version == chunk.versions.end()) {
      ++counters_.baseline_misses;
      return fail(chunk, block, BlockOutcome::BaselineMissing);
    }
    baseline = version->get();
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
  if (block.from) std::erase_if(chunk.versions, [&](const auto& v) { return v->tick() < *block.from; });
  const auto place = std::lower_bound(chunk.versions.begin(), chunk.versions.end(), block.to,
                                      [](const auto& v, Tick tick) { return v->tick() < tick; });
  auto version = std::make_shared<const ChunkVersion>(std::move(*decoded));
  if (place == chunk.versions.end() || (*place)->tick() != block.to) chunk.versions.insert(place, version);
  if (block.from && (!chunk.baseline || *block.from > *chunk.baseline)) chunk.baseline = block.from;
  if (chunk.versions.size() > kMaxMirrorVersions) {
    // Not the baseline: a server that hears no acknowledgement goes on naming it.
    const bool keeps_first = chunk.baseline == chunk.versions.front()->tick();
    chunk.versions.erase(chunk.versions.begin() + (keeps_first ? 1 : 0));
  }

  std::erase_if(wanted_, [&](const auto& w) { return w.chunk == block.chunk && w.failed_at <= block.to; });
  const bool is_late = chunk.shown && block.to <= chunk.shown->tick() && epochs_ahead == 0;
  if (is_late && !fault("show-late-blocks")) {
    ++counters_.late_blocks;
    return BlockOutcome::Applied;
  }
  show(chunk, std::move(version));
  return BlockOutcome::Applied;
}

Mirror::Record& Mirror::record_of(Entity entity) {
  if (entity.index >= records_.size()) records_.resize(entity.index + 1);
  return records_[entity.index];
}

// --- one block, applied whole ------------------------------------------------------------------------------

void Mirror::show(MirrorChunk& chunk, VersionPointer next_version) {
  constructed_.clear();
  updated_.clear();
  removed_.clear();
  destroyed_.clear();
  created_.clear();
  const ChunkVersion& next = *next_version;
  const VersionPointer shown = chunk.shown;
  const std::uint64_t surviving = shown ? shown->same_ids(next) : 0;
  end_bindings(chunk, shown ? shown->bound() & ~surviving : 0, next);
  const std::uint64_t shown_on = surviving & chunk.shows;
  for_each_slot(next.bound() & ~shown_on, [&](Slot slot) { make_binding(chunk, slot, next); });
  if (shown_on != 0) update_bindings(shown_on, *shown, next);
  settle_awaiting(next);
  if (!shown) ++shown_count_;
  chunk.shown = std::move(next_version);
  mend_references();
  publish();
}

void Mirror::end_bindings(MirrorChunk& chunk, std::uint64_t ended, const ChunkVersion& next) {
  const auto is_bound_in_next = [&](Entity entity) {
    bool bound = false;
    for_each_slot(next.bound(), [&](Slot slot) { bound = bound || next.id(slot) == entity; });
    return bound;
  };
  for (const Departure& departure : departures_) {
    if (is_bound_in_next(departure.entity)) continue;  // it left and came back
    end_binding(chunk, departure, next.chunk());
  }
  // Of the others a departure told what became of them, or another chunk shows them.
  for_each_slot(ended & chunk.shows, [&](Slot slot) {
    const Entity entity = chunk.shown->id(slot);
    if (is_bound_in_next(entity)) {
      // It has another slot from now on; who has this one must not lose it when the old binding goes.
      chunk.shows &= ~slot_bit(slot);
      record_of(entity)[next.chunk().audience()] = {next.chunk(), 0, next.tick(), Source::State::Awaiting};
      return;
    }
    ++counters_.resynced_bindings;
    end_binding(chunk, {next.tick(), slot, entity, DepartureReason::Resynced, {}}, next.chunk());
  });
}

void Mirror::end_binding(MirrorChunk& chunk, const Departure& departure, ChunkId from) {
  const Entity entity = departure.entity;
  if (entity.index >= registry_->max_entities() || entity.generation > Entity::kMaxGeneration) return;
  Record& record = record_of(entity);
  if (departure.reason == DepartureReason::Destroyed) {
    record.dead_generation = std::max(record.dead_generation, entity.generation);
    if (record.entity != entity) return;
    for (unsigned audience = 0; audience < kAudiences; ++audience)
      leave_source(record, static_cast<Audience>(audience));
    destroyed_.push_back(entity);
    return;
  }
  if (record.entity != entity) return;
  Source& source = record[from.audience()];
  const bool shows_here = source.state == Source::State::Shown && source.chunk == from &&
                          (chunk.shows & slot_bit(source.slot)) != 0;
  // It may have moved on from where it is awaited. What the chunk tells of an earlier stay there is no news.
  const bool awaited_here =
      source.state == Source::State::Awaiting && source.chunk == from && departure.tick >= source.moved_at;
  if (!shows_here && !awaited_here) return;
  const bool moved_out_of_sight =
      departure.reason == DepartureReason::Moved &&
      std::find(absent_.begin(), absent_.end(), departure.target) != absent_.end();
  if (departure.reason != DepartureReason::Moved || moved_out_of_sight)
    return end_source(record, from.audience());
  leave_source(record, from.audience());
  source = {departure.target, 0, departure.tick, Source::State::Awaiting};
  if (shows_here) awaiting_.push_back({entity, from.audience()});
}

void Mirror::leave_source(Record& record, Audience audience) {
  const Source source = std::exchange(record[audience], Source{});
  if (source.state != Source::State::Shown) return;
  const auto chunk = chunks_.find(source.chunk.value);
  if (chunk != chunks_.end()) chunk->second.shows &= ~slot_bit(source.slot);
}

// The components of one audience end; the entity ends with its last one.
void Mirror::end_source(Record& record, Audience audience) {
  leave_source(record, audience);
  const bool shows_on = std::any_of(record.sources.begin(), record.sources.end(),
                                    [](const Source& source) { return source.state != Source::State::None; });
  if (!shows_on) {
    destroyed_.push_back(record.entity);
    return;
  }
  for (const ComponentIndex component : table_->of(audience)) {
    const StorageBase* storage = storages_[component];
    if (storage && storage->contains_index(record.entity.index))
      removed_.push_back({record.entity, component});
  }
}

// Entities that moved and that the chunk they moved to has not bound here: while its version of that move is
// not here, they stay. Once it is, the chunk has told what became of them, or lost them for a reason that is
// not known.
void Mirror::settle_awaiting(const ChunkVersion& next) {
  std::erase_if(awaiting_, [&](const Awaiting& awaiting) {
    Record& record = record_of(awaiting.entity);
    const Source& source = record[awaiting.audience];
    if (record.entity != awaiting.entity || source.state != Source::State::Awaiting) return true;
    const auto target = chunks_.find(source.chunk.value);
    const ChunkVersion* version = source.chunk == next.chunk() ? &next
                                  : target != chunks_.end()    ? target->second.shown.get()
                                                               : nullptr;
    const bool is_told = version && version->tick() >= source.moved_at;
    const bool is_out_of_interest = target != chunks_.end() && target->second.dropped;
    if (!is_told && !is_out_of_interest) return false;
    if (is_told && !is_out_of_interest) ++counters_.resynced_bindings;
    end_source(record, awaiting.audience);
    return true;
  });
}

void Mirror::make_binding(MirrorChunk& chunk, Slot slot, const ChunkVersion& next) {
  const Entity entity = next.id(slot);
  const Audience audience = next.chunk().audience();
  Record& record = record_of(entity);
  if (entity.generation <= record.dead_generation && !fault("revive-dead")) {
    ++counters_.hidden_bindings;
    return;
  }
  const Source& source = record[audience];
  if (record.entity == entity && source.state == Source::State::Shown && source.chunk != next.chunk()) {
    const auto other = chunks_.find(source.chunk.value);
    const bool is_newer_there = other != chunks_.end() && other->second.shown &&
                                (other->second.shows & slot_bit(source.slot)) != 0 &&
                                other->second.shown->tick() > next.tick();
    if (is_newer_there) return;
  }
  if (!record.entity.is_null() && record.entity != entity) destroy_now(record);
  std::erase(destroyed_, entity);
  const bool is_new = record.entity.is_null();
  if (is_new && !registry_->create_exact(entity)) {
    ++counters_.hidden_bindings;
    return;
  }
  if (is_new) created_.push_back(entity);
  record.entity = entity;
  // A later life proves that those before it are over, also when it is out of sight again.
  record.dead_generation = std::max(record.dead_generation, entity.generation - 1);
  leave_source(record, audience);
  record[audience] = {next.chunk(), slot, {}, Source::State::Shown};
  chunk.shows |= slot_bit(slot);
  for (const ComponentIndex component : table_->of(audience)) {
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

// Column by column: what did not change is the same column, and is not looked at.
void Mirror::update_bindings(std::uint64_t slots, const ChunkVersion& shown, const ChunkVersion& next) {
  std::uint64_t updated = 0;
  for (const ComponentIndex component : table_->of(next.chunk().audience())) {
    const std::uint64_t had = shown.present(component) & slots;
    const std::uint64_t has = next.present(component) & slots;
    std::uint64_t changed = had ^ has;
    const auto& spec = (*table_)[component];
    for (unsigned i = 0; i < spec.column_count && (had & has) != 0; ++i) {
      const auto& before = shown.column(spec.first_column + i);
      const auto& after = next.column(spec.first_column + i);
      if (!before.is(after)) changed |= before->differing(*after) & had & has;
    }
    updated |= changed;
    if (!storages_[component]) continue;
    for_each_slot(changed, [&](Slot slot) {
      const Entity entity = next.id(slot);
      if ((has & slot_bit(slot)) == 0) {
        removed_.push_back({entity, component});
        return;
      }
      write_component(entity, component, next, slot);
      ((had & slot_bit(slot)) != 0 ? updated_ : constructed_).push_back({entity, component});
    });
  }
  counters_.entity_updates += static_cast<std::uint64_t>(std::popcount(updated));
}

// Makes the registry's component from the columns.
void Mirror::write_component(Entity entity, ComponentIndex component, const ChunkVersion& version,
                             Slot slot) {
  const auto& spec = (*table_)[component];
  StorageBase& storage = *storages_[component];
  std::uint32_t* value = values_.data();
  for (unsigned i = 0; i < spec.column_count; ++i) value[i] = version.value(spec.first_column + i, slot);
  if (has_references_[component]) {
    targets_.clear();
    for (const auto& field : spec.fields) {
      const unsigned count = column_count(field.type);
      if (field.type == FieldType::Entity && !registry_->alive(Entity{value[0], value[1]})) {
        if (!Entity{value[0], value[1]}.is_null()) targets_.push_back(value[0]);
        value[0] = kNullEntity.index;
        value[1] = kNullEntity.generation;
      }
      value += count;
    }
    set_unresolved(entity, component, targets_);
  }
  table_->dequantise(component, values_.data(), aggregate_.data());
  if (storage.contains_index(entity.index)) {
    storage.replace_silently(entity, aggregate_.data());
  } else {
    storage.emplace_silently(entity, aggregate_.data());
  }
}

void Mirror::set_unresolved(Entity entity, ComponentIndex component, std::span<const std::uint32_t> targets) {
  const std::uint64_t key = (std::uint64_t{component} << 32) | entity.index;
  const auto found = unresolved_.find(key);
  if (found == unresolved_.end() && targets.empty()) return;
  if (found != unresolved_.end()) {
    Unresolved& known = found->second;
    if (known.entity == entity &&
        std::equal(targets.begin(), targets.end(), known.targets.begin(), known.targets.end()))
      return;
    for (const std::uint32_t target : known.targets) {
      const auto waiting = waiting_for_.find(target);
      if (waiting == waiting_for_.end()) continue;
      waiting->second.erase(key);
      if (waiting->second.empty()) waiting_for_.erase(waiting);
    }
    if (targets.empty()) {
      unresolved_.erase(found);
      return;
    }
  }
  unresolved_[key] = {entity, component, {targets.begin(), targets.end()}};
  for (const std::uint32_t target : targets) waiting_for_[target].insert(key);
}

void Mirror::mend_references() {
  if (created_.empty() || unresolved_.empty() || fault("skip-mending")) return;
  std::vector<Change> candidates;
  for (const Entity created : created_) {
    const auto waiting = waiting_for_.find(created.index);
    if (waiting == waiting_for_.end()) continue;
    for (const std::uint64_t key : waiting->second) {
      const Unresolved& unresolved = unresolved_.at(key);
      candidates.push_back({unresolved.entity, unresolved.component});
    }
  }
  const auto before = [](const Change& a, const Change& b) {
    return a.entity != b.entity ? a.entity < b.entity : a.component < b.component;
  };
  std::sort(candidates.begin(), candidates.end(), before);
  const auto same = [](const Change& a, const Change& b) {
    return a.entity == b.entity && a.component == b.component;
  };
  candidates.erase(std::unique(candidates.begin(), candidates.end(), same), candidates.end());
  const std::size_t told = updated_.size();
  for (const Change& change : candidates) mend(change, told);
}

// Some entity to which the component refers is there now, or another life of its index. The first `told` of
// `updated_` are the block's own; of those mended each comes once.
void Mirror::mend(const Change& change, std::size_t told) {
  const auto [entity, component] = change;
  Record& record = record_of(entity);
  const Source& source = record[(*table_)[component].audience];
  const auto chunk = chunks_.find(source.chunk.value);
  const bool is_current = record.entity == entity && storages_[component]->contains_index(entity.index);
  if (!is_current || source.state != Source::State::Shown || chunk == chunks_.end() || !chunk->second.shown)
    return;
  const ChunkVersion& version = *chunk->second.shown;
  bool can_be_mended = false;
  ColumnIndex column = (*table_)[component].first_column;
  for (const auto& field : (*table_)[component].fields) {
    if (field.type == FieldType::Entity) {
      const Entity target{version.value(column, source.slot), version.value(column + 1, source.slot)};
      Entity now_shown;
      std::memcpy(
          &now_shown.index,
          static_cast<const std::byte*>(storages_[component]->find(entity.index)) + field.offset_bytes, 8);
      can_be_mended = can_be_mended || (registry_->alive(target) && now_shown != target);
    }
    column += column_count(field.type);
  }
  if (!can_be_mended) return;
  write_component(entity, component, version, source.slot);
  const auto is_same = [&](const Change& other) {
    return other.entity == change.entity && other.component == change.component;
  };
  const auto own_end = updated_.begin() + static_cast<std::ptrdiff_t>(told);
  const bool told_anyway = std::any_of(constructed_.begin(), constructed_.end(), is_same) ||
                           std::any_of(updated_.begin(), own_end, is_same);
  if (!told_anyway) updated_.push_back(change);
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
  for (unsigned audience = 0; audience < kAudiences; ++audience)
    leave_source(record, static_cast<Audience>(audience));
  for (ComponentIndex component = 0; component < table_->size(); ++component) {
    if (has_references_[component]) set_unresolved(entity, component, {});
  }
  if (registry_->alive(entity)) registry_->destroy(entity);
}

void Mirror::drop(ChunkId id, Epoch epoch) {
  MirrorChunk* const chunk = id.is_valid() ? find_or_open(id, epoch) : nullptr;
  if (!chunk) return;
  const auto epochs_ahead = static_cast<std::int16_t>(epoch.value - chunk->epoch.value);
  if (epochs_ahead < 0 || (epochs_ahead == 0 && chunk->dropped)) return;
  chunk->epoch = epoch;
  drops_.push_back(id);
  if (chunk->dropped) {
    // It came back and left again without our hearing of it: nothing shows, but blocks of that time may be late.
    forget_oldest_drops();
    return;
  }
  chunk->dropped = true;
  ++dropped_count_;
  std::erase_if(wanted_, [&](const auto& wanted) { return wanted.chunk == id; });
  departures_.clear();
  absent_ = {};
  ChunkVersion nothing(*table_, pool_, id);
  if (chunk->shown) nothing.set_tick(chunk->shown->tick());
  const std::uint64_t without_reason = counters_.resynced_bindings;
  show(*chunk, std::make_shared<const ChunkVersion>(std::move(nothing)));
  counters_.resynced_bindings = without_reason;  // leaving interest is the reason
  chunk->shown.reset();
  --shown_count_;
  chunk->versions.clear();
  chunk->baseline.reset();
  forget_oldest_drops();
}

void Mirror::forget_oldest_drops() {
  while (drops_.size() > kMaxDroppedChunks) {
    const auto oldest = chunks_.find(drops_.front().value);
    drops_.pop_front();
    // It may have come back, or left again later.
    const bool is_listed_again = oldest != chunks_.end() && std::find(drops_.begin(), drops_.end(),
                                                                      ChunkId{oldest->first}) != drops_.end();
    if (oldest == chunks_.end() || !oldest->second.dropped || is_listed_again) continue;
    chunks_.erase(oldest);
    --dropped_count_;
  }
}

}  // namespace shoal
