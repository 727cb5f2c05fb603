// All chunks of a world. Ids are given out in order and never again; the chunk of an id is found by its
// number.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "server/chunk.hpp"

namespace shoal {

class ChunkStore {
 public:
  /// `table` outlives the store.
  explicit ChunkStore(const ComponentTable& table) : table_(&table) {}

  /// A chunk in which an entity of `bits` fits; opened if there is none. Constant time, amortised.
  Chunk& with_room(std::size_t bits);
  /// To be called when something left the chunk: it may have room again.
  void made_room(ChunkId id);

  std::size_t size() const { return chunks_.size(); }
  /// REQUIRES: id.value < size().
  Chunk& operator[](ChunkId id) { return *chunks_[id.value]; }
  const Chunk& operator[](ChunkId id) const { return *chunks_[id.value]; }
  std::span<const std::unique_ptr<Chunk>> all() const { return chunks_; }
  /// The current version of each chunk that has one, by id: what every session compares with in every tick.
  std::span<const Tick> current_ticks() const { return current_ticks_; }

  /// Commits what was written and drops what nobody needs any more. Cost follows what changed.
  void end_tick(Tick now);

  /// To be called for a chunk that was written: `end_tick` looks at no other.
  void touched(ChunkId id);

  std::size_t memory_bytes() const { return pool_.memory_bytes(); }

 private:
  struct Flags {
    bool may_have_room = false;
    bool touched = false;
    bool has_old_versions = false;
  };

  void renew_one(Tick now);

  const ComponentTable* table_;
  ColumnPool pool_;  // before the chunks: it outlives their columns
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Tick> current_ticks_;
  std::vector<Flags> flags_;
  std::vector<ChunkId> may_have_room_;
  std::vector<ChunkId> touched_;
  std::vector<ChunkId> has_old_versions_;
};

}  // namespace shoal
