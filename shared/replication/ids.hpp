// The names of things that replication speaks of, as types that do not mix.
#pragma once

#include <compare>
#include <cstdint>

#include "shared/wire/component_descriptor.hpp"

namespace shoal {

/// A chunk for all its life; never used again for another. Says in its upper two bits which audience the chunk is
/// for: it holds the components of that audience and no others.
struct ChunkId {
  static constexpr unsigned kNumberBits = 30;
  static constexpr std::uint32_t kNumberMask = (1u << kNumberBits) - 1;

  std::uint32_t value = 0;

  /// REQUIRES: number <= kNumberMask.
  static constexpr ChunkId of(Audience audience, std::uint32_t number) {
    return {static_cast<std::uint32_t>(audience) << kNumberBits | number};
  }
  /// Counts the chunks of all audiences together.
  constexpr std::uint32_t number() const { return value & kNumberMask; }
  /// REQUIRES: is_valid.
  constexpr Audience audience() const { return static_cast<Audience>(value >> kNumberBits); }
  /// False for the one value of the upper bits that names no audience. To be asked of what comes from the wire.
  constexpr bool is_valid() const { return value >> kNumberBits < kAudiences; }

  friend constexpr auto operator<=>(ChunkId, ChunkId) = default;
};

/// One of a chunk's kChunkSlots places.
using Slot = unsigned;

/// How often a client has seen a chunk come into its interest. A block of an older epoch is not for the
/// mirror.
struct Epoch {
  std::uint16_t value = 0;
  friend constexpr bool operator==(Epoch, Epoch) = default;
};

/// Place of a component in the component table: 0 … table.size() - 1, by rising wire id.
using ComponentIndex = unsigned;
/// Place of a column in the component table, all components' columns in a row.
using ColumnIndex = unsigned;

/// Why a slot was unbound.
enum class DepartureReason : std::uint8_t {
  Destroyed,  // The entity is dead: kill the id in every slot at once.
  Moved,      // It lives on in another chunk: keep the last values until that one arrives or is dropped.
  NoLongerReplicated,  // It lives on at the server only: remove it from the mirror.
  Resynced,            // A full state did not list it; what became of it is not known. Never on the wire.
};
inline constexpr std::uint32_t kWireDepartureReasons = 3;

}  // namespace shoal
