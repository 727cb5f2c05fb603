// Unsigned integers as their bytes, the lowest first: what goes over the wire or into a file is the same from every
// processor.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace shoal {

template <class T>
concept OctetType = std::same_as<T, std::byte> || std::same_as<T, std::uint8_t>;

/// REQUIRES: room for sizeof(T) bytes at `target`, which needs no alignment.
template <OctetType Octet, std::unsigned_integral T>
constexpr void store_little_endian(Octet* target, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    target[i] = static_cast<Octet>(static_cast<std::uint8_t>(value >> (8 * i)));
}

/// REQUIRES: sizeof(T) bytes at `source`, which needs no alignment.
template <std::unsigned_integral T, OctetType Octet>
constexpr T load_little_endian(const Octet* source) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(source[i]) << (8 * i)));
  return value;
}

}  // namespace shoal
