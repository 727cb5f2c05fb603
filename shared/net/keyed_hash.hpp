// The hash of tables whose keys strangers choose. Under a secret: else whoever knows the function chooses keys that all
// fall into one bucket, and each lookup walks through them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "shared/net/keys.hpp"

namespace shoal {

/// SipHash-2-4 (Aumasson, Bernstein 2012) by libsodium. Some 20 ns for an address.
class KeyedHash {
 public:
  /// Its key is derived from `secret` for this purpose alone.
  KeyedHash(const Secret& secret, std::string_view purpose);

  std::size_t operator()(std::span<const std::uint8_t> key) const noexcept;

 private:
  std::array<std::uint8_t, 16> key_;
};

}  // namespace shoal
