// The limits that several modules must agree on. They are asserted against each other where they meet.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal {

/// Largest UDP payload that shoal sends: passes every tunnel that carries the IPv6 minimum of 1280 bytes.
inline constexpr std::size_t kMaxDatagramBytes = 1200;
/// type (1) · connection (8) · sequence (8), in clear before each body.
inline constexpr std::size_t kPacketHeaderBytes = 17;
/// The authentication tag behind each body.
inline constexpr std::size_t kPacketTagBytes = 16;
inline constexpr std::size_t kMaxPacketBodyBytes = kMaxDatagramBytes - kPacketHeaderBytes - kPacketTagBytes;
/// Of a body, what a frame may need beside its blocks: packet, frame, one directory entry, some acknowledgements.
inline constexpr std::size_t kFrameEnvelopeBytes = 256;
/// What one block may take. A chunk is filled only as far as its full state fits here, and a component whose
/// worst case does not is refused when the schema is compiled.
inline constexpr std::size_t kMaxBlockBytes = kMaxPacketBodyBytes - kFrameEnvelopeBytes;

/// Slots of a chunk: one bit each in a 64-bit word.
inline constexpr std::uint32_t kChunkSlots = 64;
/// Ticks for which a chunk keeps every version.
inline constexpr std::uint32_t kHistoryTicks = 64;
/// Versions older than that which a chunk keeps for the sessions whose baseline they are.
inline constexpr std::uint32_t kPinnedVersions = 8;
/// Newest verified versions of a chunk that a client keeps at least, beside the baseline that the newest block named. So
/// a server may name as a baseline what was acknowledged of the last so many ticks: a second's way at 240 Hz.
inline constexpr std::uint32_t kMirrorVersions = 256;

}  // namespace shoal
