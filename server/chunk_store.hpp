// All chunks of a world, by the square that they belong to. Ids are given out in order and never again; a
// chunk's index is its place in here, and is used again when the chunk is retired.
//
// 1. A chunk belongs to one square for all its life, and holds the components of that square's audience.
// 2. A square exists while it has chunks; a chunk that stayed empty for kRetireTicks leaves its square, and is
//    freed when the last client has let go of it.
// 3. `layout` counts every change of which chunks a square has: who follows squares compares one number.
// 4. The cost of a tick follows the chunks that were written, not those that exist.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "server/chunk.hpp"
#include "server/square.hpp"

namespace shoal {

/// Place of a chunk in the store, for as long as the chunk lives.
struct ChunkIndex {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::uint32_t value = kNone;
  friend constexpr auto operator<=>(ChunkIndex, ChunkIndex) = default;
};

/// An empty chunk is kept this long: something may come, and clients should hear what became of who was in it.
inline constexpr std::uint32_t kRetireTicks = 300;

class ChunkStore {
 public:
  /// `table` outlives the store.
  explicit ChunkStore(const ComponentTable& table) : table_(&table), shares_(table.size()) {}

  // --- for the change tracker ---

  /// A chunk of that square in which an entity of `bits` fits; opened if there is none. Constant time, amortised.
  ChunkIndex with_room(const SquareKey& square, std::size_t bits);
  /// To be called when something left the chunk: it may have room again.
  void made_room(ChunkIndex index);
  /// To be called for a chunk that was written: `end_tick` looks at no other.
  void touched(ChunkIndex index);
  /// Commits what was written, drops what nobody needs any more, retires what stayed empty.
  void end_tick(Tick now);

  struct Merge {
    ChunkIndex from;
    ChunkIndex to;
  };
  /// Two chunks of a square of which one is at most a quarter full and fits into the other. Looks at one square
  /// per call.
  std::optional<Merge> next_merge();

  // --- chunks ---

  /// REQUIRES: the chunk lives.
  Chunk& operator[](ChunkIndex index) { return *entries_[index.value].chunk; }
  const Chunk& operator[](ChunkIndex index) const { return *entries_[index.value].chunk; }
  const SquareKey& square_of(ChunkIndex index) const { return entries_[index.value].square; }
  /// Null when there is no such chunk (any more).
  const Chunk* find(ChunkId id) const;
  /// kNone when there is no such chunk (any more).
  ChunkIndex index_of(ChunkId id) const;
  /// Chunks that live.
  std::size_t size() const { return index_of_.size(); }
  /// Every index is below this.
  std::size_t index_end() const { return entries_.size(); }
  /// f(ChunkIndex, const Chunk&) for each chunk that lives.
  template <class F>
  void for_each(F f) const {
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].chunk) f(ChunkIndex{i}, *entries_[i].chunk);
    }
  }
  /// The current version of each chunk, by index: what every session compares with in every tick.
  std::span<const Tick> current_ticks() const { return current_ticks_; }
  /// Counts the versions that were ever committed.
  std::uint64_t commits() const { return commits_; }

  // --- squares ---

  std::uint64_t layout() const { return layout_; }
  std::size_t square_count() const { return squares_.size(); }
  /// Empty when there is no such square.
  std::span<const ChunkIndex> chunks_of(const SquareKey& square) const;
  /// f(const SquareKey&, std::span<const ChunkIndex>) for each square, in no order that means anything.
  template <class F>
  void for_each_square(F f) const {
    for (const auto& [key, square] : squares_) f(key, std::span<const ChunkIndex>(square.chunks));
  }

  // --- for clients ---

  /// While a client follows a chunk it is not freed.
  void follow(ChunkIndex index) { ++entries_[index.value].followers; }
  void unfollow(ChunkIndex index);
  std::uint32_t followers(ChunkIndex index) const { return entries_[index.value].followers; }

  /// Where what blocks are made of is counted, for all clients.
  EncodedShares* shares() { return &shares_; }
  const EncodedShares& shares() const { return shares_; }

  std::size_t memory_bytes() const { return pool_.memory_bytes(); }

 private:
  struct Entry {
    std::unique_ptr<Chunk> chunk;  // null: the index is free
    SquareKey square;
    std::uint32_t followers = 0;
    bool may_have_room = false;
    bool touched = false;
    bool has_old_versions = false;
    bool is_emptying = false;  // in `empty_`
    bool is_retired = false;   // in no square any more
  };
  struct Square {
    std::vector<ChunkIndex> chunks;
    std::vector<ChunkIndex> may_have_room;
    bool is_in_merge_order = false;
  };
  struct Empty {
    ChunkIndex index;
    Tick since;
  };

  ChunkIndex open(const SquareKey& key, Square& square);
  void renew_one(Tick now);
  void retire_empty(Tick now);
  void retire(ChunkIndex index);
  void free_if_forgotten(ChunkIndex index);

  const ComponentTable* table_;
  EncodedShares shares_;
  ColumnPool pool_;  // before the chunks: it outlives their columns
  std::vector<Entry> entries_;
  std::vector<Tick> current_ticks_;
  std::vector<ChunkIndex> free_;
  std::unordered_map<std::uint32_t, ChunkIndex> index_of_;  // by ChunkId::value
  std::unordered_map<SquareKey, Square, SquareKeyHash> squares_;
  std::vector<SquareKey> merge_order_;  // squares that had several chunks, looked at in turn
  std::size_t next_merge_ = 0;
  std::vector<ChunkIndex> touched_;
  std::vector<ChunkIndex> has_old_versions_;
  std::deque<Empty> empty_;  // longest first
  std::uint32_t opened_ = 0;
  std::uint64_t layout_ = 0;
  std::uint64_t commits_ = 0;
};

}  // namespace shoal
