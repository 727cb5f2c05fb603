// The bytes around every body:
//
//   0        1                  9                  17                         size − 16        size
//   ┌────────┬──────────────────┬──────────────────┬──────────────────────────┬────────────────┐
//   │ type   │ connection (LE)  │ sequence (LE)    │ body: a FlatBuffers table │ tag            │
//   └────────┴──────────────────┴──────────────────┴──────────────────────────┴────────────────┘
//
// In datagrams of the handshake `connection` is the client's nonce and `sequence` is 0. The tag is where the
// authentication tag will lie. Until packets are sealed it is an unkeyed checksum (XXH3, 128 bits,
// big-endian, over everything before it): it finds damage, it stops nobody.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shared/base/limits.hpp"
#include "shared/net/ids.hpp"

namespace shoal {

enum class DatagramType : std::uint8_t {
  Hello = 1,
  Challenge = 2,
  Response = 3,
  Accept = 4,
  Refuse = 5,
  Packet = 6,
};

/// Why a datagram was dropped before anyone looked into it.
enum class HeaderError : std::uint8_t {
  TooShort,     // less than header and tag: cut, or not ours
  TooLong,      // above kMaxDatagramBytes: not ours
  UnknownType,  // not ours, or a newer protocol
  BadTag,       // damaged on the way
};

struct PacketHeader {
  DatagramType type = DatagramType::Packet;
  std::uint64_t connection = 0;
  Sequence sequence;

  friend bool operator==(const PacketHeader&, const PacketHeader&) = default;
};

/// A datagram being built or opened. The body is aligned for FlatBuffers, which the datagram's own bytes are
/// not, with the header at an odd length in front.
struct BodyBuffer {
  alignas(16) std::array<std::byte, kMaxPacketBodyBytes> bytes;
};

/// Writes header, body and tag into `datagram`; returns the bytes used. REQUIRES: body.size() ≤
/// kMaxPacketBodyBytes.
std::size_t seal(const PacketHeader& header, std::span<const std::byte> body,
                 std::span<std::byte, kMaxDatagramBytes> datagram);

struct Opened {
  PacketHeader header;
  std::span<const std::byte> body;  // in the BodyBuffer
};

/// Reads the header only; for finding the session whose key opens the rest.
std::optional<HeaderError> read_header(std::span<const std::byte> datagram, PacketHeader& header);
/// Checks everything and copies the body out. No error: `opened` is filled.
std::optional<HeaderError> open(std::span<const std::byte> datagram, BodyBuffer& buffer, Opened& opened);

}  // namespace shoal
