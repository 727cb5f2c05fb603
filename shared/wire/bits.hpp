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
#include "shared/base/little_endian.hpp"

namespace shoal {

class BitWriter {
 public:
  explicit BitWriter(std::span<std::byte> target) : target_(target) {}

  /// Appends the low `bits` bits of `value`. REQUIRES: bits <= 32 and value < 2^bits.
  void write(std::uint32_t value, unsigned bits) {
    SHOAL_DEBUG_ASSERT(bits <= 32 && (bits == 32 || value >> bits == 0), "the value does not fit its bits");
    pending_ |= std::uint64_t{value} << pending_bits_;
    pending_bits_ += bits;
    if (pending_bits_ >= 32) flush_word();
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
    const unsigned ones = low_bits - k;  // at most 32
    write(static_cast<std::uint32_t>((std::uint64_t{1} << ones) - 1), ones);
    write(0, 1);
    // 2^32 itself is no 32-bit number: its low bits are zeros.
    write(static_cast<std::uint32_t>(shifted - (std::uint64_t{1} << low_bits)), low_bits);
  }

  /// Pads the last byte with zeros; nothing may be written afterwards. Returns the number of bytes in use.
  std::size_t finish() {
    while (pending_bits_ > 0) flush_byte();
    return bytes_;
  }
  bool overflowed() const { return overflowed_; }
  std::size_t bits_written() const { return bytes_ * 8 + pending_bits_; }

 private:
  void flush_word() {
    if (target_.size() - bytes_ >= 4) {
      store_little_endian(&target_[bytes_], static_cast<std::uint32_t>(pending_));
      bytes_ += 4;
      pending_ >>= 32;
      pending_bits_ -= 32;
      return;
    }
    while (pending_bits_ >= 8) flush_byte();
  }
  void flush_byte() {
    if (bytes_ < target_.size()) {
      target_[bytes_++] = static_cast<std::byte>(pending_ & 0xFF);
    } else {
      overflowed_ = true;
    }
    pending_ >>= 8;
    pending_bits_ -= pending_bits_ < 8 ? pending_bits_ : 8;
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
    const std::uint64_t value = peek() & ((std::uint64_t{1} << bits) - 1);
    return skip(bits) ? static_cast<std::uint32_t>(value) : 0;
  }
  bool read_bool() { return read(1) != 0; }
  std::uint64_t read64() {
    const std::uint64_t low = read(32);
    return low | std::uint64_t{read(32)} << 32;
  }
  /// The counterpart of write_exp_golomb. A code that no 32-bit value has sets the flag.
  std::uint32_t read_exp_golomb(unsigned k) {
    const unsigned low_bits = k + static_cast<unsigned>(std::countr_one(peek()));
    if (low_bits > 32) {
      exhausted_ = true;
      return 0;
    }
    if (!skip(low_bits - k + 1)) return 0;
    const std::uint64_t low = read(low_bits);
    const std::uint64_t value = low + (std::uint64_t{1} << low_bits) - (std::uint64_t{1} << k);
    if (value > 0xFFFFFFFFu) exhausted_ = true;
    return static_cast<std::uint32_t>(value);
  }

  /// False once more was asked for than there is, or a code was impossible.
  bool ok() const { return !exhausted_; }
  /// True when all is read but the zero padding of the last byte: a body with anything behind is malformed.
  bool at_end() const { return ok() && source_.size() * 8 - position_ < 8 && peek() == 0; }

 private:
  // The next 57 bits at least, zeros behind the end.
  std::uint64_t peek() const {
    const std::size_t byte = position_ / 8;
    std::uint64_t word = 0;
    if (source_.size() - byte >= 8) {
      word = load_little_endian<std::uint64_t>(&source_[byte]);
    } else {
      for (std::size_t i = 0; byte + i < source_.size(); ++i)
        word |= std::uint64_t{std::to_integer<std::uint8_t>(source_[byte + i])} << (8 * i);
    }
    return word >> (position_ % 8);
  }
  bool skip(unsigned bits) {
    if (exhausted_ || source_.size() * 8 - position_ < bits) {
      exhausted_ = true;
      position_ = source_.size() * 8;  // zeros for whoever goes on reading
      return false;
    }
    position_ += bits;
    return true;
  }

  std::span<const std::byte> source_;
  std::size_t position_ = 0;  // bits
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
