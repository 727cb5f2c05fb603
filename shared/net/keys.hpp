// Keys and what is done with them, as types of their own over libsodium: X25519 agreement, Ed25519 signatures,
// BLAKE2b for hashing and for deriving keys from secrets. Everything random comes from the given Entropy.
//
// 1. A secret is wiped from memory when its owner goes, and has no way into a log line.
// 2. Comparisons of secrets take the same time wherever they differ.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shared/base/random.hpp"

namespace shoal {

inline constexpr std::size_t kKeyBytes = 32;

/// For agreement (X25519) or for checking signatures (Ed25519): which one, the name beside it says.
struct PublicKey {
  std::array<std::uint8_t, kKeyBytes> bytes{};

  friend constexpr auto operator<=>(const PublicKey&, const PublicKey&) = default;
};

struct Signature {
  std::array<std::uint8_t, 64> bytes{};
};

/// 32 secret bytes: a private key, or a key of a cipher.
class Secret {
 public:
  Secret() = default;
  ~Secret();
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;

  static Secret random(Entropy& entropy);
  /// Copies; wiping the source is the caller's.
  static Secret from_bytes(std::span<const std::byte, kKeyBytes> bytes);

  const std::uint8_t* data() const { return bytes_.data(); }
  std::uint8_t* data() { return bytes_.data(); }
  /// The bytes themselves, for a file that keeps them.
  std::span<const std::byte, kKeyBytes> reveal() const { return std::as_bytes(std::span(bytes_)); }

  friend bool operator==(const Secret& a, const Secret& b);

 private:
  std::array<std::uint8_t, kKeyBytes> bytes_{};
};

/// Operations on curves by this thread so far: making keys, agreeing, signing and checking. Each takes tens of
/// microseconds, what most else takes together, so that whoever can cause them must have paid.
std::uint64_t public_key_operations_so_far();

/// For agreeing on secrets: X25519 (RFC 7748).
class AgreementKey {
 public:
  static AgreementKey make(Entropy& entropy) { return AgreementKey(Secret::random(entropy)); }
  explicit AgreementKey(const Secret& secret);

  const PublicKey& public_key() const { return public_key_; }
  const Secret& secret() const { return secret_; }
  /// What both sides come to. None: `other` is a point of low order, which every honest key is not.
  std::optional<Secret> agree(const PublicKey& other) const;

 private:
  Secret secret_;
  PublicKey public_key_;
};

/// For signing: Ed25519 (RFC 8032), from a seed of 32 bytes.
class SignatureKey {
 public:
  static SignatureKey make(Entropy& entropy) { return SignatureKey(Secret::random(entropy)); }
  explicit SignatureKey(const Secret& seed);

  const PublicKey& public_key() const { return public_key_; }
  const Secret& seed() const { return seed_; }
  Signature sign(std::span<const std::byte> message) const;

 private:
  Secret seed_;
  PublicKey public_key_;
};

/// Whether the owner of `key` (Ed25519) signed the message.
bool is_signed_by(const PublicKey& key, std::span<const std::byte> message, const Signature& signature);

using Digest256 = std::array<std::uint8_t, 32>;

/// BLAKE2b with 256 bits, fed in pieces of known length. The label separates uses.
class Hasher {
 public:
  explicit Hasher(std::string_view label);
  Hasher& add(std::span<const std::byte> bytes);
  Hasher& add(std::span<const std::uint8_t> bytes) { return add(std::as_bytes(bytes)); }
  Hasher& add(const PublicKey& key) { return add(std::span<const std::uint8_t>(key.bytes)); }
  /// Eight bytes, little-endian.
  Hasher& add(std::uint64_t value);
  Digest256 finish();

 private:
  struct alignas(64) State {
    std::array<std::byte, 384> bytes;
  };
  State state_;
};

/// A key for one use out of a secret of 32 or 64 bytes: keyed BLAKE2b over the label and the context.
Secret derive(std::span<const std::uint8_t> secret, std::string_view label, const Digest256& context);

/// 64 lower-case hexadecimal digits, as people pass keys around.
std::string to_string(const PublicKey& key);
/// None: not 64 hexadecimal digits.
std::optional<PublicKey> parse_public_key(std::string_view text);

}  // namespace shoal
