// Bit coders for block bodies. The writer and the reader stand side by side: whatever one writes in an order,
// the other reads in the same order. Bits fill each byte from the lowest one up; bytes are little-endian
// words.
//
// 1. Neither touches a byte outside the span that it was given.
// 2. A writer out of room, or a reader out of bits, sets its flag, stays there and is otherwise harmless: the
//    writer drops bits, the reader gives zeros. Callers look at the flag once, at the end of a block.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "shared/base/assert.hpp"

namespace shoal {

class BitWriter {
 public:
  explicit BitWriter(std::span<std::byte> target) : target_(target) {}

  /// Appends the low `bits` bits of `value`. REQUIRES: bits <= 32 and value < 2^bits.
  void write(std::uint32_t value, unsigned bits) {
    SHOAL_DEBUG_ASSERT(bits <= 32 && (bits == 32 || value >> bits == 0), "the value does not fit its bits");
    pending_ |= std::uint64_t{value} << pending_bits_;
    pending_bits_ += bits;
    while (pending_bits_ >= 8) flush_byte();
  }
  void write_bool(bool value) { write(value ? 1u : 0u, 1); }
  void write64(std::uint64_t value) {
    write(static_cast<std::uint32_t>(value), 32);
    write(static_cast<std::uint32_t>(value >> 32), 32);
  }
  /// Exponential Golomb code of order k: short for values near 2^k and below. REQUIRES: k <= 31.
  void write_exp_golomb(std::uint32_t value, unsigned k) {
    const std::uint64_t shifted = std::uint64_t{value} + (std::uint64_t{1} << k);
    const unsigned low_bits = static_cast<unsigned>(std::bit_width(shifted)) - 1;
    for (unsigned ones = low_bits - k; ones > 0; --ones) write(1, 1);
    write(0, 1);
    const std::uint64_t low = shifted - (std::uint64_t{1} << low_bits);
    if (low_bits > 16) {
      write(static_cast<std::uint32_t>(low & 0xFFFF), 16);
      write(static_cast<std::uint32_t>(low >> 16), low_bits - 16);
    } else {
      write(static_cast<std::uint32_t>(low), low_bits);
    }
  }

  /// Pads the last byte with zeros; nothing may be written afterwards. Returns the number of bytes in use.
  std::size_t finish() {
    if (pending_bits_ > 0) {
      pending_bits_ = 8;
      flush_byte();
    }
    return bytes_;
  }
  bool overflowed() const { return overflowed_; }
  std::size_t bits_written() const { return bytes_ * 8 + pending_bits_; }

 private:
  void flush_byte() {
    if (bytes_ < target_.size()) {
      target_[bytes_++] = static_cast<std::byte>(pending_ & 0xFF);
    } else {
      overflowed_ = true;
    }
    pending_ >>= 8;
    pending_bits_ -= 8;
  }

  std::span<std::byte> target_;
  std::size_t bytes_ = 0;
  std::uint64_t pending_ = 0;
  unsigned pending_bits_ = 0;
  bool overflowed_ = false;
};

class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> source) : source_(source) {}

  /// REQUIRES: bits <= 32.
  std::uint32_t read(unsigned bits) {
    while (pending_bits_ < bits) {
      if (next_ == source_.size()) {
        exhausted_ = true;
        pending_ = 0;
        pending_bits_ = 64;  // zeros for whoever goes on reading
        return 0;
      }
      pending_ |= std::uint64_t{std::to_integer<std::uint8_t>(source_[next_++])} << pending_bits_;
      pending_bits_ += 8;
    }
    const std::uint64_t value = pending_ & ((std::uint64_t{1} << bits) - 1);
    pending_ >>= bits;
    pending_bits_ -= bits;
    return static_cast<std::uint32_t>(value);
  }
  bool read_bool() { return read(1) != 0; }
  std::uint64_t read64() {
    const std::uint64_t low = read(32);
    return low | std::uint64_t{read(32)} << 32;
  }
  /// The counterpart of write_exp_golomb. A code that no 32-bit value has sets the flag.
  std::uint32_t read_exp_golomb(unsigned k) {
    unsigned low_bits = k;
    while (read_bool()) {
      if (++low_bits > 32) {
        exhausted_ = true;
        return 0;
      }
    }
    std::uint64_t low = read(low_bits > 16 ? 16 : low_bits);
    if (low_bits > 16) low |= std::uint64_t{read(low_bits - 16)} << 16;
    const std::uint64_t value = low + (std::uint64_t{1} << low_bits) - (std::uint64_t{1} << k);
    if (value > 0xFFFFFFFFu) exhausted_ = true;
    return static_cast<std::uint32_t>(value);
  }

  /// False once more was asked for than there is, or a code was impossible.
  bool ok() const { return !exhausted_; }
  /// True when all is read but the zero padding of the last byte: a body with anything behind is malformed.
  bool at_end() const { return ok() && next_ == source_.size() && pending_bits_ < 8 && pending_ == 0; }

 private:
  std::span<const std::byte> source_;
  std::size_t next_ = 0;
  std::uint64_t pending_ = 0;
  unsigned pending_bits_ = 0;
  bool exhausted_ = false;
};

/// Signed differences as small unsigned numbers: 0, -1, 1, -2, 2, … become 0, 1, 2, 3, 4, …
constexpr std::uint32_t zigzag(std::int32_t value) {
  return (static_cast<std::uint32_t>(value) << 1) ^ static_cast<std::uint32_t>(value >> 31);
}
constexpr std::int32_t unzigzag(std::uint32_t value) {
  return static_cast<std::int32_t>(value >> 1) ^ -static_cast<std::int32_t>(value & 1);
}

}  // namespace shoal
