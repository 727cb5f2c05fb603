// What the fuzz targets share: an input read piece by piece, its counterpart for seeds, and how much memory is in
// use. Each target is one file with LLVMFuzzerTestOneInput and seeds(); replay.cpp or libFuzzer is its main.
//
// 1. Any bytes are an input: behind their end everything reads as zeros.
// 2. An input alone decides what a target does: no clock, no random numbers, nothing kept from one to the next.
#pragma once

#include <malloc.h>
#if defined(__SANITIZE_ADDRESS__)
#define SHOAL_FUZZ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SHOAL_FUZZ_ASAN 1
#endif
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/base/assert.hpp"

#ifdef SHOAL_FUZZ_ASAN
// Of <sanitizer/allocator_interface.h>, which g++ 12 does not bring.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

namespace shoal::fuzz {

class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* bytes, std::size_t size) : rest_(bytes, size) {}

  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  std::uint16_t u16() {
    const std::uint16_t low = byte();
    return static_cast<std::uint16_t>(low | (byte() << 8));
  }
  std::uint32_t u32() {
    const std::uint32_t low = u16();
    return low | (std::uint32_t{u16()} << 16);
  }
  bool flag() { return (byte() & 1) != 0; }
  /// In [0, bound), from one byte. REQUIRES: bound > 0.
  std::uint32_t below(std::uint32_t bound) { return byte() % bound; }
  /// At most so many; fewer at the end.
  std::span<const std::byte> bytes(std::size_t count) {
    const auto taken = rest_.first(std::min(count, rest_.size()));
    rest_ = rest_.subspan(taken.size());
    return std::as_bytes(taken);
  }
  std::span<const std::byte> rest() { return bytes(rest_.size()); }

 private:
  std::span<const std::uint8_t> rest_;
};

/// Writes what a FuzzInput reads.
class SeedWriter {
 public:
  SeedWriter& byte(unsigned value) {
    bytes_.push_back(static_cast<std::uint8_t>(value));
    return *this;
  }
  SeedWriter& u16(unsigned value) { return byte(value & 0xFF).byte((value >> 8) & 0xFF); }
  SeedWriter& u32(std::uint32_t value) { return u16(value & 0xFFFF).u16(value >> 16); }
  SeedWriter& bytes(std::span<const std::byte> more) {
    for (const std::byte value : more) byte(std::to_integer<unsigned>(value));
    return *this;
  }
  SeedWriter& text(std::string_view more) { return bytes(std::as_bytes(std::span(more))); }

  const std::vector<std::uint8_t>& written() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

struct Seed {
  std::string name;  // of its file
  std::vector<std::uint8_t> bytes;
};
/// Defined by each target: small inputs that reach far, where fuzzing starts.
std::vector<Seed> seeds();

/// Bytes that are allocated now.
inline std::size_t allocated_bytes() {
#ifdef SHOAL_FUZZ_ASAN
  return __sanitizer_get_current_allocated_bytes();
#else
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

/// Bytes by which one input may let the heap grow.
inline constexpr std::size_t kMaxMemoryGrowth = 64u << 20;

/// Runs one input through a target: a Target(FuzzInput&) with run(). Whatever a peer sends, memory stays
/// bounded.
template <class Target>
int run_bounded(const std::uint8_t* bytes, std::size_t size) {
  const std::size_t before = allocated_bytes();
  FuzzInput input(bytes, size);
  Target target(input);
  target.run();
  SHOAL_ASSERT(allocated_bytes() < before + kMaxMemoryGrowth, "memory is bounded, whatever a peer sends");
  return 0;
}

}  // namespace shoal::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
