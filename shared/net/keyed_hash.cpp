#include "shared/net/keyed_hash.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "shared/base/fault.hpp"

namespace shoal {

KeyedHash::KeyedHash(const Secret& secret, std::string_view purpose) {
  static_assert(sizeof key_ == crypto_shorthash_KEYBYTES);
  Hasher hasher(purpose);
  if (!fault("net-hash-without-secret")) hasher.add(secret.reveal());
  const Digest256 derived = hasher.finish();
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
