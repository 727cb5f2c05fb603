// FNV-1a, for names at compile time. State is hashed with XXH3 (shared/replication/chunk_version.hpp).
#pragma once

#include <cstdint>
#include <string_view>

namespace shoal {

constexpr std::uint32_t fnv1a32(std::string_view text) {
  std::uint32_t hash = 0x811C9DC5u;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x01000193u;
  return hash;
}
constexpr std::uint64_t fnv1a64(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x00000100000001B3u;
  return hash;
}

}  // namespace shoal
