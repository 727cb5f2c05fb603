// The bytes around every body:
//
//   0        1                  9                  17                              size − 16        size
//   ┌────────┬──────────────────┬──────────────────┬───────────────────────────────┬────────────────┐
//   │ type   │ connection (LE)  │ sequence (LE)    │ body: a FlatBuffers table      │ tag            │
//   └────────┴──────────────────┴──────────────────┴───────────────────────────────┴────────────────┘
//
// In datagrams of the handshake `connection` is the client's nonce and `sequence` is 0.
//
//   Hello, Challenge, Refuse   in clear; the tag is a checksum (XXH3, 128 bits, big-endian, over everything before
//                              it): it finds damage, it stops nobody
//   Response, Accept, Denial   a part in clear stands before the table, which is sealed (shared/net/sealing.hpp)
//   Packet                     the table is sealed
//
// What stands before a sealed table is authenticated with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "shared/base/limits.hpp"
#include "shared/net/ids.hpp"
#include "shared/net/sealing.hpp"

namespace shoal {

enum class DatagramType : std::uint8_t {
  Hello = 1,
  Challenge = 2,
  Response = 3,
  Accept = 4,
  Refuse = 5,
  Packet = 6,
  Denial = 7,
};

/// Whether anything in datagrams of this type is sealed.
constexpr bool is_sealed(DatagramType type) {
  return type != DatagramType::Hello && type != DatagramType::Challenge && type != DatagramType::Refuse;
}

/// Why a datagram was dropped before anyone looked into it.
enum class HeaderError : std::uint8_t {
  TooShort,     // less than header and tag: cut, or not ours
  TooLong,      // above kMaxDatagramBytes: not ours
  UnknownType,  // not ours, or a newer protocol
  BadTag,       // damaged on the way, or forged
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

struct Opened {
  PacketHeader header;
  std::span<const std::byte> body;  // in the BodyBuffer
};

/// Reads the header only; for finding the key that opens the rest. No error: header and tag are there.
std::optional<HeaderError> read_header(std::span<const std::byte> datagram, PacketHeader& header);

/// Writes header, body and checksum into `datagram`; returns the bytes used. REQUIRES: body.size() ≤
/// kMaxPacketBodyBytes.
std::size_t write_clear(const PacketHeader& header, std::span<const std::byte> body,
                        std::span<std::byte, kMaxDatagramBytes> datagram);
/// Checks everything and copies the body out. No error: `opened` is filled. A type that travels sealed is
/// UnknownType here.
std::optional<HeaderError> read_clear(std::span<const std::byte> datagram, BodyBuffer& buffer,
                                      Opened& opened);

/// Writes header, `clear`, the sealed body and its tag; returns the bytes used. The nonce is the sequence, so each
/// sequence is sealed once. REQUIRES: clear.size() + body.size() ≤ kMaxPacketBodyBytes.
std::size_t seal(const SealingKey& key, const PacketHeader& header, std::span<const std::byte> clear,
                 std::span<const std::byte> body, std::span<std::byte, kMaxDatagramBytes> datagram);
/// Opens what seal() wrote, with `clear_bytes` in clear. No error: `opened` is filled.
std::optional<HeaderError> open(const SealingKey& key, std::span<const std::byte> datagram,
                                std::size_t clear_bytes, BodyBuffer& buffer, Opened& opened);

}  // namespace shoal
