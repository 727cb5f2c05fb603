// The delta of one chunk between two versions, as a block body. Writer and reader stand side by side in
// delta_codec.cpp, part by part in the order of the bits; the layout is drawn at its head.
//
// 1. `encode_block` is a pure function of its arguments: every client with the same baseline gets the same
//    bytes, so they are made once.
// 2. decode_block(from, encode_block(from, to)) is same_state as `to`.
// 3. The decoder takes any bytes: it reads within the body, allocates no more than one version, and refuses
//    what no encoder writes. It does not prove the state; the hash in the directory does.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/base/tick.hpp"
#include "shared/ecs/entity.hpp"
#include "shared/replication/chunk_version.hpp"
#include "shared/replication/ids.hpp"

namespace shoal {

/// One line of a chunk's departure log: at `tick`, `entity` left `slot`. On the wire the tick travels only
/// with `Moved`: the target chunk has bound the entity in its version of that tick, so who has that version
/// or a later one knows what became of it.
struct Departure {
  Tick tick;
  Slot slot;
  Entity entity;
  DepartureReason reason;
  ChunkId target{};  // where it went, if Moved
};

/// Most departures that a block tells of beside those of its baseline; more, and a full state is sent
/// instead.
inline constexpr std::uint32_t kMaxExtraDepartures = 64;

/// Bits of bodies by what they tell: bindings, and each component of the table.
struct EncodedShares {
  explicit EncodedShares(std::size_t components) : component_bits(components) {}
  std::uint64_t binding_bits = 0;
  std::vector<std::uint64_t> component_bits;
};

/// Writes the body that leads from `from` (null: from nothing) to `to`. `departures` is the chunk's log,
/// oldest first; the lines later than `from` and not later than `to` count. Returns the bytes written, or 0
/// when the target is too small or the departures too many: send the full state then. REQUIRES: `from`, if
/// any, is an older version of the same chunk. What each part took is added to `shares`, also of a body that does not
/// fit in the end.
std::size_t encode_block(const ChunkVersion* from, const ChunkVersion& to,
                         std::span<const Departure> departures, std::span<std::byte> target,
                         EncodedShares* shares = nullptr);

enum class DecodeError {
  Truncated,      // The body ends before the state does: drop the datagram.
  TrailingBytes,  // The body goes on after the state: drop the datagram.
  BadEntity,      // A null id, or an index bound to two slots: drop the datagram.
  BadDeparture,   // A reason or a count that no encoder writes, or a wrong check: drop the datagram.
  BadMode,        // A coding of residuals that does not exist: drop the datagram.
};
const char* to_string(DecodeError error);

/// Reads a body: the version at `to`, and into `departures` (cleared first) why slots were unbound since
/// `from`. A full state lists none.
Result<ChunkVersion, DecodeError> decode_block(const ComponentTable& table, ColumnPool& pool, ChunkId chunk,
                                               const ChunkVersion* from, Tick to,
                                               std::span<const std::byte> body,
                                               std::vector<Departure>& departures);

/// Bits that a full state may need at most beside its slots' ComponentTable::worst_slot_bits.
std::size_t worst_full_state_bits(const ComponentTable& table);

}  // namespace shoal
