// Sealing of one direction of a session: an AEAD under a key of its own, the nonce made from a number that the
// caller never uses twice.
//
//   nonce (12 bytes)  the number, little-endian, then four zeros
//   associated data   what stands in clear before the body
//
// AES-256-GCM where the processor has it, ChaCha20-Poly1305 (RFC 8439) everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "shared/base/limits.hpp"
#include "shared/net/keys.hpp"

namespace shoal {

/// The values travel (Response, Accept): bit n of a set stands for value n.
enum class Cipher : std::uint8_t {
  ChaCha20Poly1305 = 0,
  Aes256Gcm = 1,
};
inline constexpr std::uint8_t kCiphers = 2;

/// Whether this processor has AES-256-GCM in hardware.
bool has_aes();
std::string_view to_string(Cipher cipher);

class SealingKey {
 public:
  /// REQUIRES: has_aes() for Aes256Gcm.
  SealingKey(Cipher cipher, const Secret& key);
  ~SealingKey();
  SealingKey(const SealingKey&) = default;
  SealingKey& operator=(const SealingKey&) = default;

  /// `sealed` receives body.size() bytes and may be the body itself; the tag stands apart. REQUIRES: `number` was
  /// never sealed with under this key, unless with the same bytes.
  void seal(std::uint64_t number, std::span<const std::byte> clear, std::span<const std::byte> body,
            std::byte* sealed, std::span<std::byte, kPacketTagBytes> tag) const;
  /// False: forged or damaged; `body` then holds nothing of use. `body` receives sealed.size() bytes.
  bool open(std::uint64_t number, std::span<const std::byte> clear, std::span<const std::byte> sealed,
            std::span<const std::byte, kPacketTagBytes> tag, std::byte* body) const;

  Cipher cipher() const { return cipher_; }

 private:
  Cipher cipher_;
  Secret key_;
  // What AES-256-GCM works out once for each key.
  struct alignas(16) AesState {
    std::array<std::byte, 512> bytes;
  };
  AesState aes_;
};

}  // namespace shoal
