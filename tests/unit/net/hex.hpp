// Bytes as the published test vectors write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/net/keys.hpp"

namespace shoal {

inline std::vector<std::byte> from_hex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(value(digits[i]) << 4 | value(digits[i + 1])));
  return bytes;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
  std::string digits;
  for (const std::byte byte : bytes) {
    digits += "0123456789abcdef"[static_cast<unsigned>(byte) >> 4];
    digits += "0123456789abcdef"[static_cast<unsigned>(byte) & 15];
  }
  return digits;
}
inline std::string to_hex(std::span<const std::uint8_t> bytes) {
  return to_hex(std::as_bytes(bytes));
}

/// REQUIRES: 64 digits.
inline Secret secret_from_hex(std::string_view digits) {
  const auto bytes = from_hex(digits);
  return Secret::from_bytes(std::span<const std::byte, kKeyBytes>(bytes));
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace shoal
