#include "shared/ecs/entity_table.hpp"

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"

namespace shoal {
namespace {

constexpr std::uint64_t pack_links(std::uint32_t previous, std::uint32_t next) {
  return (std::uint64_t{previous} << 32) | next;
}
constexpr std::uint32_t previous_of(std::uint64_t links) {
  return static_cast<std::uint32_t>(links >> 32);
}
constexpr std::uint32_t next_of(std::uint64_t links) {
  return static_cast<std::uint32_t>(links);
}

template <class T>
void copy_list(std::span<const T> source, PlainList<T>& target) {
  target.clear();
  std::copy(source.begin(), source.end(), target.append(source.size()));
}

}  // namespace

namespace detail {

std::uint32_t next_type_slot() {
  // Identities of C++ types, not state: no behaviour depends on the values, only on their being distinct.
  static constinit std::atomic<std::uint32_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace detail

EntityTable::EntityTable(std::uint32_t max_entities, std::uint32_t reserved)
    : max_entities_(max_entities), reserved_(reserved) {
  SHOAL_ASSERT(max_entities > 0 && max_entities < kFree, "max_entities must lie in 1 to 2^31 - 1");
  SHOAL_ASSERT(reserved < max_entities, "the reserved indices must be fewer than max_entities");
  while (index_end() < reserved_) append_index();
}

void EntityTable::set_mask_words(std::uint32_t words) {
  SHOAL_ASSERT(index_end() == reserved_ && alive_count_ == 0,
               "the width of the masks is decided before the first entity");
  mask_words_ = std::max(words, 1u);
  masks_.resize(std::size_t{reserved_} * mask_words_);
}

void EntityTable::append_index() {
  generations_.push_back(kFree | 1);
  masks_.resize(masks_.size() + mask_words_);
}

void EntityTable::enqueue(std::uint32_t index) {
  links(index) = pack_links(newest_free_, kNone);
  if (newest_free_ == kNone) {
    oldest_free_ = index;
  } else {
    links(newest_free_) = pack_links(previous_of(links(newest_free_)), index);
  }
  newest_free_ = index;
  ++queued_count_;
}

void EntityTable::unlink(std::uint32_t index) {
  --queued_count_;
  const std::uint32_t previous = previous_of(links(index));
  const std::uint32_t next = next_of(links(index));
  if (previous == kNone) {
    oldest_free_ = next;
  } else {
    links(previous) = pack_links(previous_of(links(previous)), next);
  }
  if (next == kNone) {
    newest_free_ = previous;
  } else {
    links(next) = pack_links(previous, next_of(links(next)));
  }
}

std::optional<Entity> EntityTable::try_reuse() {
  const std::uint32_t index = oldest_free_;
  if (index == kNone) return std::nullopt;
  unlink(index);
  links(index) = 0;
  generations_[index] &= ~kFree;
  ++alive_count_;
  return Entity{index, generations_[index]};
}

void EntityTable::create(std::span<Entity> entities) {
  std::size_t created = 0;
  while (created < entities.size() && oldest_free_ != kNone) entities[created++] = *try_reuse();
  const std::size_t fresh = entities.size() - created;
  std::uint32_t index = index_end();
  std::fill_n(generations_.append(fresh), fresh, 1u);
  std::fill_n(masks_.append(fresh * mask_words_), fresh * mask_words_, std::uint64_t{0});
  for (; created < entities.size(); ++created) entities[created] = {index++, 1};
  alive_count_ += fresh;
}

bool EntityTable::create_exact(Entity entity) {
  if (entity.index >= max_entities_) return false;
  if (entity.generation == 0 || entity.generation > Entity::kMaxGeneration) return false;
  while (index_end() <= entity.index) {
    append_index();
    enqueue(index_end() - 1);
  }
  const std::uint32_t stored = generations_[entity.index];
  if (stored < kFree) return false;
  if (stored == kFree) {
    --retired_count_;
  } else if (entity.index >= reserved_) {
    unlink(entity.index);
  }
  links(entity.index) = 0;
  generations_[entity.index] = entity.generation;
  ++alive_count_;
  return true;
}

void EntityTable::release(Entity entity) {
  SHOAL_DEBUG_ASSERT(alive(entity), "release of an entity that is not alive");
  SHOAL_DEBUG_ASSERT(std::all_of(mask(entity.index), mask(entity.index) + mask_words_,
                                 [](std::uint64_t word) { return word == 0; }),
                     "release of an entity that still has components");
  --alive_count_;
  if (entity.generation == Entity::kMaxGeneration) {
    generations_[entity.index] = kFree;
    ++retired_count_;
    return;
  }
  const std::uint32_t next = fault("reuse-generation") ? entity.generation : entity.generation + 1;
  generations_[entity.index] = kFree | next;
  if (entity.index >= reserved_) enqueue(entity.index);
}

EntityTableState EntityTable::state() const {
  EntityTableState state;
  state.reserved = reserved_;
  state.generations.reserve(generations_.size());
  for (const std::uint32_t stored : generations_) state.generations.push_back(stored & ~kFree);
  state.free_queue.reserve(queued_count_);
  for (std::uint32_t index = oldest_free_; index != kNone;) {
    state.free_queue.push_back(index);
    index = next_of(masks_[std::size_t{index} * mask_words_]);
  }
  for (std::uint32_t index = 0; index < reserved_; ++index) {
    if (generations_[index] > kFree) state.reserved_free.push_back(index);
  }
  return state;
}

void EntityTable::restore(const EntityTableState& state) {
  SHOAL_ASSERT(alive_count_ == 0, "restore while entities are alive: destroy them first");
  SHOAL_ASSERT(state.generations.size() <= max_entities_, "restore of more indices than max_entities");
  SHOAL_ASSERT(state.reserved == reserved_, "restore of another number of reserved indices");
  copy_list<std::uint32_t>(state.generations, generations_);
  masks_.clear();
  masks_.resize(generations_.size() * mask_words_);
  oldest_free_ = newest_free_ = kNone;
  queued_count_ = retired_count_ = 0;
  for (std::uint32_t& generation : generations_) {
    if (generation != 0) continue;
    generation = kFree;
    ++retired_count_;
  }
  for (const std::uint32_t index : state.reserved_free) generations_[index] |= kFree;
  for (const std::uint32_t index : state.free_queue) {
    generations_[index] |= kFree;
    enqueue(index);
  }
  alive_count_ = generations_.size() - state.reserved_free.size() - state.free_queue.size() - retired_count_;
  note_structure_change();
}

void EntityTable::copy_from(const EntityTable& other) {
  SHOAL_ASSERT(other.generations_.size() <= max_entities_, "a copy of more indices than max_entities");
  SHOAL_ASSERT(other.mask_words_ == mask_words_, "a copy of a table with masks of another width");
  SHOAL_ASSERT(other.reserved_ == reserved_, "a copy of a table with other reserved indices");
  copy_list<std::uint32_t>(other.generations_, generations_);
  copy_list<std::uint64_t>(other.masks_, masks_);
  oldest_free_ = other.oldest_free_;
  newest_free_ = other.newest_free_;
  queued_count_ = other.queued_count_;
  alive_count_ = other.alive_count_;
  retired_count_ = other.retired_count_;
  note_structure_change();
}

void EntityTable::reserve(std::size_t entities) {
  entities = std::min<std::size_t>(entities, max_entities_);
  generations_.reserve(entities);
  masks_.reserve(entities * mask_words_);
}

std::size_t EntityTable::memory_bytes() const {
  return generations_.memory_bytes() + masks_.memory_bytes();
}

}  // namespace shoal
