#include "shared/net/keyed_hash.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

namespace shoal {

KeyedHash::KeyedHash(const Secret& secret, std::string_view purpose) {
  static_assert(sizeof key_ == crypto_shorthash_KEYBYTES);
  const Digest256 derived = Hasher(purpose).add(secret.reveal()).finish();
  std::copy_n(derived.begin(), key_.size(), key_.begin());
}

std::size_t KeyedHash::operator()(std::span<const std::uint8_t> key) const noexcept {
  std::array<unsigned char, crypto_shorthash_BYTES> out;
  crypto_shorthash(out.data(), key.data(), key.size(), key_.data());
  std::size_t result = 0;
  std::memcpy(&result, out.data(), std::min(sizeof result, out.size()));
  return result;
}

}  // namespace shoal
