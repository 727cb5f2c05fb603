// The entity: a value of 64 bits, 32 of index and 32 of generation, that names one life of one thing. A
// handle kept too long names nobody: indices come back, generations do not.
//
// Invariants:
// 1. An entity that was alive has a generation from 1 to kMaxGeneration; 0 is for null and for the temporary
//    handles of a command buffer, so neither is ever alive.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace shoal {

struct Entity {
  /// The last generation of an index. One more life is refused and the index retired, so a handle never comes
  /// back to life. (The highest bit of the generation is the entity table's own.)
  static constexpr std::uint32_t kMaxGeneration = 0x7FFFFFFF;

  std::uint32_t index = 0xFFFFFFFF;
  std::uint32_t generation = 0;

  /// Generation in the upper half, index in the lower.
  constexpr std::uint64_t bits() const { return (std::uint64_t{generation} << 32) | index; }
  static constexpr Entity from_bits(std::uint64_t bits) {
    return {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
  constexpr bool is_null() const { return bits() == 0xFFFFFFFFu; }

  friend constexpr bool operator==(Entity a, Entity b) { return a.bits() == b.bits(); }
  friend constexpr std::strong_ordering operator<=>(Entity a, Entity b) { return a.bits() <=> b.bits(); }
};

inline constexpr Entity kNullEntity{};

/// For std::unordered_map and the like.
struct EntityHash {
  constexpr std::size_t operator()(Entity entity) const {
    return static_cast<std::size_t>((entity.bits() ^ (entity.bits() >> 29)) * 0x9E3779B97F4A7C15u);
  }
};

}  // namespace shoal
