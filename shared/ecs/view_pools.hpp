// What a view does without knowing C++ types: which pool leads, who matches, and where the pools are aligned.
//
// Two pools are *aligned* over a stretch of the leading one if they hold the same entities there in the same order.
// Entities that were made alike, pools that were sorted alike and owning groups are. Then no index is looked up, and
// the loop over the values is one that compilers vectorise. Whether they are is found out by comparing the packed
// lists, which costs a tenth of looking the entities up; nothing has to be declared or kept right for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "shared/ecs/storage_base.hpp"

namespace shoal::detail {

/// Runs shorter than this are not looked for any further.
inline constexpr std::uint32_t kLeastRun = 8;

/// How far the packed lists go on alike from these places.
std::uint32_t equal_length(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t limit);

/// How many entities, of the `length` from place `at` of the leading pool on, the included pools hold in one order; 0 if one of them lacks the first; if fewer than kLeastRun, perhaps not all of them. `positions` become their places in each pool.
std::uint32_t aligned_run(std::span<StorageBase* const> included, std::size_t leading, std::uint32_t at,
                          std::uint32_t length, std::span<std::uint32_t> positions);

/// The places of a packed list that a loop has still to visit, while the entity at hand may leave the list and come
/// back to its end. When one leaves, the last one of the list takes its place; if that is one that was not visited yet,
/// it is visited there.
class LoopPlaces {
 public:
  /// Visits [at, end) of `indices`. REQUIRES: end <= indices.size().
  LoopPlaces(std::span<const std::uint32_t> indices, std::uint32_t at, std::uint32_t end)
      : at_(at), end_(end) {
    note_last(indices);
  }
  std::uint32_t at() const { return at_; }
  std::uint32_t end() const { return end_; }
  bool done() const { return at_ >= end_; }
  /// So many were visited and nothing changed.
  void advance(std::uint32_t places) { at_ += places; }
  /// The entity of this index was visited at at(), and the list, now `indices`, may have changed meanwhile.
  void advance_changed(std::span<const std::uint32_t> indices, std::uint32_t visited_index);

 private:
  void note_last(std::span<const std::uint32_t> indices) { last_ = at_ < end_ ? indices[end_ - 1] : 0; }

  std::uint32_t at_;
  std::uint32_t end_;
  std::uint32_t last_ = 0;  // the index at end_ - 1
};

/// Optional ones among the included pools may lack an entity, the others must hold it.
template <std::size_t kIncluded, std::size_t kExcluded>
struct ViewPools {
  using Positions = std::array<std::uint32_t, kIncluded>;

  std::array<StorageBase*, kIncluded> included{};
  std::array<bool, kIncluded> optional{};
  std::array<StorageBase*, kExcluded> excluded{};
  const EntityTable* entities = nullptr;
  std::size_t leading = 0;

  void choose_smallest() {
    leading = kIncluded;
    for (std::size_t i = 0; i < kIncluded; ++i) {
      if (!optional[i] && (leading == kIncluded || included[i]->size() < included[leading]->size()))
        leading = i;
    }
  }
  StorageBase& leader() const { return *included[leading]; }

  /// True if the entity belongs to the view; fills its positions, kAbsent where an optional pool has none.
  bool match(std::uint32_t index, Positions& positions) const {
    return match_others<kIncluded>(index, positions);
  }
  /// The same where the position in pool kKnown is known and filled in. (kIncluded: in none.)
  template <std::size_t kKnown>
  bool match_others(std::uint32_t index, Positions& positions) const {
    for (std::size_t i = 0; i < kIncluded; ++i) {
      if (i == kKnown) continue;
      positions[i] = included[i]->position(index);
      if (positions[i] == StorageBase::kAbsent && !optional[i]) return false;
    }
    return !is_excluded(index);
  }
  bool is_excluded(std::uint32_t index) const {
    for (std::size_t i = 0; i < kExcluded; ++i) {
      if (excluded[i]->contains_index(index)) return true;
    }
    return false;
  }
  bool excludes_nobody() const {
    bool nobody = true;
    for (std::size_t i = 0; i < kExcluded; ++i) nobody &= excluded[i]->empty();
    return nobody;
  }
};

/// Catches additions and removals in the leading pool that the loop did not survive.
class IterationGuard {
 public:
  explicit IterationGuard([[maybe_unused]] const StorageBase& leader)
      : version_(leader.structure_version()) {}
  void check([[maybe_unused]] const StorageBase& leader, [[maybe_unused]] std::uint32_t index_at_hand) {
    SHOAL_DEBUG_ASSERT(
        leader.only_changed(index_at_hand, version_),
        "during iteration the leading pool may change for the entity at hand only, and is not sorted; record "
        "other changes in a CommandBuffer and apply it after the loop");
    version_ = leader.structure_version();
  }

 private:
  std::uint32_t version_;
};

/// fn(Entity, arguments...) or fn(arguments...).
template <class F, class... Argument>
void call_for_entity(F& fn, const EntityTable& entities, std::uint32_t index, Argument&&... arguments) {
  if constexpr (std::is_invocable_v<F&, Entity, Argument...>) {
    fn(entities.at(index), std::forward<Argument>(arguments)...);
  } else {
    fn(std::forward<Argument>(arguments)...);
  }
}

}  // namespace shoal::detail
