#include "server/chunk_store.hpp"

#include <algorithm>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr std::uint32_t kMaxVersionAgeTicks = 1u << 30;
constexpr std::size_t kMergeableSlots = kChunkSlots / 4;

}  // namespace

ChunkIndex ChunkStore::open(const SquareKey& key, Square& square) {
  SHOAL_ASSERT(opened_ <= ChunkId::kNumberMask, "chunk ids are used up: restart the server");
  ChunkIndex index{static_cast<std::uint32_t>(entries_.size())};
  if (free_.empty()) {
    entries_.emplace_back();
    current_ticks_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  const ChunkId id = ChunkId::of(key.audience(), opened_++);
  entries_[index.value] = Entry{.chunk = std::make_unique<Chunk>(*table_, pool_, id), .square = key};
  index_of_.emplace(id.value, index);
  square.chunks.push_back(index);
  if (square.chunks.size() > 1 && !std::exchange(square.is_in_merge_order, true)) merge_order_.push_back(key);
  ++layout_;
  touched(index);
  return index;
}

ChunkIndex ChunkStore::with_room(const SquareKey& key, std::size_t bits) {
  Square& square = squares_[key];
  while (!square.may_have_room.empty()) {
    const ChunkIndex index = square.may_have_room.back();
    if ((*this)[index].has_room(bits)) return index;
    square.may_have_room.pop_back();
    entries_[index.value].may_have_room = false;
  }
  const ChunkIndex index = open(key, square);
  made_room(index);
  SHOAL_ASSERT((*this)[index].has_room(bits),
               "an entity with every component must fit a datagram: use fewer components");
  return index;
}

void ChunkStore::made_room(ChunkIndex index) {
  Entry& entry = entries_[index.value];
  if (entry.is_retired || std::exchange(entry.may_have_room, true)) return;
  squares_[entry.square].may_have_room.push_back(index);
}

void ChunkStore::touched(ChunkIndex index) {
  if (std::exchange(entries_[index.value].touched, true)) return;
  touched_.push_back(index);
}

ChunkIndex ChunkStore::index_of(ChunkId id) const {
  const auto found = index_of_.find(id.value);
  return found == index_of_.end() ? ChunkIndex{} : found->second;
}

const Chunk* ChunkStore::find(ChunkId id) const {
  const ChunkIndex index = index_of(id);
  return index == ChunkIndex{} ? nullptr : entries_[index.value].chunk.get();
}

std::span<const ChunkIndex> ChunkStore::chunks_of(const SquareKey& key) const {
  const auto found = squares_.find(key);
  return found == squares_.end() ? std::span<const ChunkIndex>() : found->second.chunks;
}

// A version that is 2^31 ticks old would seem to be of the future. A chunk that rests for long gets a new one before
// that; one chunk is looked at per tick, so each is in time.
void ChunkStore::renew_one(Tick now) {
  if (entries_.empty()) return;
  const ChunkIndex index{static_cast<std::uint32_t>(now.value % entries_.size())};
  Chunk* chunk = entries_[index.value].chunk.get();
  if (!chunk || !chunk->has_version() || now - kMaxVersionAgeTicks < chunk->current().tick()) return;
  chunk->renew();
  touched(index);
}

void ChunkStore::end_tick(Tick now) {
  renew_one(now);
  for (const ChunkIndex index : touched_) {
    Entry& entry = entries_[index.value];
    entry.touched = false;
    Chunk& chunk = *entry.chunk;
    if (!chunk.is_dirty()) continue;
    chunk.commit(now);
    ++commits_;
    current_ticks_[index.value] = now;
    if (!std::exchange(entry.has_old_versions, true)) has_old_versions_.push_back(index);
    const bool may_retire = chunk.bound_count() == 0 && !entry.is_retired && !fault("never-retire");
    if (may_retire && !std::exchange(entry.is_emptying, true)) empty_.push_back({index, now});
  }
  touched_.clear();
  std::erase_if(has_old_versions_, [&](ChunkIndex index) {
    Entry& entry = entries_[index.value];
    entry.has_old_versions = entry.chunk->trim(now);
    return !entry.has_old_versions;
  });
  retire_empty(now);
}

void ChunkStore::retire_empty(Tick now) {
  while (!empty_.empty() && now - kRetireTicks >= empty_.front().since) {
    const Empty empty = empty_.front();
    empty_.pop_front();
    Entry& entry = entries_[empty.index.value];
    entry.is_emptying = false;
    if (entry.chunk->bound_count() != 0) continue;
    // It may have been filled and emptied again in the meantime.
    if (const Tick emptied = entry.chunk->current().tick(); now - kRetireTicks < emptied) {
      entry.is_emptying = true;
      const auto later = std::upper_bound(empty_.begin(), empty_.end(), emptied,
                                          [](Tick tick, const Empty& other) { return tick < other.since; });
      empty_.insert(later, {empty.index, emptied});
      continue;
    }
    retire(empty.index);
  }
}

void ChunkStore::retire(ChunkIndex index) {
  Entry& entry = entries_[index.value];
  entry.is_retired = true;
  const auto found = squares_.find(entry.square);
  std::erase(found->second.chunks, index);
  std::erase(found->second.may_have_room, index);
  if (found->second.chunks.empty()) squares_.erase(found);
  ++layout_;
  free_if_forgotten(index);
}

void ChunkStore::unfollow(ChunkIndex index) {
  Entry& entry = entries_[index.value];
  SHOAL_ASSERT(entry.followers > 0, "whoever lets go of a chunk followed it");
  --entry.followers;
  free_if_forgotten(index);
}

void ChunkStore::free_if_forgotten(ChunkIndex index) {
  Entry& entry = entries_[index.value];
  if (!entry.is_retired || entry.followers > 0) return;
  index_of_.erase(entry.chunk->id().value);
  if (entry.has_old_versions) std::erase(has_old_versions_, index);
  if (entry.touched) std::erase(touched_, index);
  entry = {};
  free_.push_back(index);
}

std::optional<ChunkStore::Merge> ChunkStore::next_merge() {
  if (merge_order_.empty()) return std::nullopt;
  next_merge_ = (next_merge_ + 1) % merge_order_.size();
  const auto found = squares_.find(merge_order_[next_merge_]);
  if (found == squares_.end() || found->second.chunks.size() < 2) {
    if (found != squares_.end()) found->second.is_in_merge_order = false;
    merge_order_[next_merge_] = merge_order_.back();
    merge_order_.pop_back();
    return std::nullopt;
  }
  // The emptiest one, into the fullest that has the room.
  const auto& chunks = found->second.chunks;
  ChunkIndex from;
  for (const ChunkIndex index : chunks) {
    const std::size_t count = (*this)[index].bound_count();
    if (count == 0 || count > kMergeableSlots) continue;
    if (from == ChunkIndex{} || count < (*this)[from].bound_count()) from = index;
  }
  if (from == ChunkIndex{}) return std::nullopt;
  ChunkIndex to;
  for (const ChunkIndex index : chunks) {
    const Chunk& chunk = (*this)[index];
    if (index == from || chunk.bound_count() == 0 || !chunk.has_room_for((*this)[from])) continue;
    if (to == ChunkIndex{} || chunk.bound_count() > (*this)[to].bound_count()) to = index;
  }
  if (to == ChunkIndex{}) return std::nullopt;
  return Merge{from, to};
}

}  // namespace shoal
