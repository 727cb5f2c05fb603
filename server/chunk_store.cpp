#include "server/chunk_store.hpp"

#include <utility>

#include "shared/base/assert.hpp"

namespace shoal {
namespace {

constexpr std::uint32_t kMaxVersionAgeTicks = 1u << 30;

}  // namespace

Chunk& ChunkStore::with_room(std::size_t bits) {
  while (!may_have_room_.empty()) {
    const ChunkId id = may_have_room_.back();
    if (chunks_[id.value]->has_room(bits)) return *chunks_[id.value];
    may_have_room_.pop_back();
    flags_[id.value].may_have_room = false;
  }
  const ChunkId id{static_cast<std::uint32_t>(chunks_.size())};
  chunks_.push_back(std::make_unique<Chunk>(*table_, pool_, id));
  flags_.push_back({});
  made_room(id);
  touched(id);
  SHOAL_ASSERT(chunks_.back()->has_room(bits),
               "an entity with every component must fit a datagram: use fewer components");
  return *chunks_.back();
}

void ChunkStore::made_room(ChunkId id) {
  if (std::exchange(flags_[id.value].may_have_room, true)) return;
  may_have_room_.push_back(id);
}

void ChunkStore::touched(ChunkId id) {
  if (std::exchange(flags_[id.value].touched, true)) return;
  touched_.push_back(id);
}

// A version that is 2^31 ticks old would seem to be of the future. A chunk that rests for long gets a new one before
// that; one chunk is looked at per tick, so each is in time.
void ChunkStore::renew_one(Tick now) {
  if (chunks_.empty()) return;
  const ChunkId id{static_cast<std::uint32_t>(now.value % chunks_.size())};
  Chunk& chunk = *chunks_[id.value];
  if (!chunk.has_version() || now - kMaxVersionAgeTicks < chunk.current().tick()) return;
  chunk.renew();
  touched(id);
}

void ChunkStore::end_tick(Tick now) {
  renew_one(now);
  current_ticks_.resize(chunks_.size());  // a new chunk is dirty, so each has a version after this
  for (const ChunkId id : touched_) {
    flags_[id.value].touched = false;
    Chunk& chunk = *chunks_[id.value];
    if (!chunk.is_dirty()) continue;
    chunk.commit(now);
    current_ticks_[id.value] = now;
    if (!std::exchange(flags_[id.value].has_old_versions, true)) has_old_versions_.push_back(id);
  }
  touched_.clear();
  std::erase_if(has_old_versions_, [&](ChunkId id) {
    const bool old_left = chunks_[id.value]->trim(now);
    flags_[id.value].has_old_versions = old_left;
    return !old_left;
  });
}

}  // namespace shoal
