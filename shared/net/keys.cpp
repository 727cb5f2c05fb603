#include "shared/net/keys.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "shared/base/assert.hpp"
#include "shared/base/little_endian.hpp"

namespace shoal {
namespace {

static_assert(kKeyBytes == crypto_scalarmult_BYTES && kKeyBytes == crypto_scalarmult_SCALARBYTES);
static_assert(kKeyBytes == crypto_sign_SEEDBYTES && kKeyBytes == crypto_sign_PUBLICKEYBYTES);
static_assert(sizeof(Signature) == crypto_sign_BYTES);

// Chooses the implementations that fit the processor; harmless when done again.
const bool kSodiumStarted = [] {
  SHOAL_ASSERT(sodium_init() >= 0, "libsodium does not start");
  return true;
}();

// Each thread's own, so that tests and servers side by side do not mix.
thread_local std::uint64_t public_key_operations = 0;

}  // namespace

std::uint64_t public_key_operations_so_far() {
  return public_key_operations;
}

Secret::~Secret() {
  sodium_memzero(bytes_.data(), bytes_.size());
}

Secret Secret::random(Entropy& entropy) {
  Secret secret;
  entropy.fill(std::as_writable_bytes(std::span(secret.bytes_)));
  return secret;
}

Secret Secret::from_bytes(std::span<const std::byte, kKeyBytes> bytes) {
  Secret secret;
  std::memcpy(secret.bytes_.data(), bytes.data(), kKeyBytes);
  return secret;
}

bool operator==(const Secret& a, const Secret& b) {
  return sodium_memcmp(a.bytes_.data(), b.bytes_.data(), kKeyBytes) == 0;
}

AgreementKey::AgreementKey(const Secret& secret) : secret_(secret) {
  ++public_key_operations;
  crypto_scalarmult_base(public_key_.bytes.data(), secret_.data());
}

std::optional<Secret> AgreementKey::agree(const PublicKey& other) const {
  Secret shared;
  ++public_key_operations;
  if (crypto_scalarmult(shared.data(), secret_.data(), other.bytes.data()) != 0) return std::nullopt;
  return shared;
}

SignatureKey::SignatureKey(const Secret& seed) : seed_(seed) {
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> secret;
  ++public_key_operations;
  crypto_sign_seed_keypair(public_key_.bytes.data(), secret.data(), seed_.data());
  sodium_memzero(secret.data(), secret.size());
}

Signature SignatureKey::sign(std::span<const std::byte> message) const {
  // libsodium's secret key is the seed with the public key behind it.
  std::array<unsigned char, crypto_sign_SECRETKEYBYTES> secret;
  std::memcpy(secret.data(), seed_.data(), kKeyBytes);
  std::memcpy(secret.data() + kKeyBytes, public_key_.bytes.data(), kKeyBytes);
  Signature signature;
  ++public_key_operations;
  crypto_sign_detached(signature.bytes.data(), nullptr,
                       reinterpret_cast<const unsigned char*>(message.data()), message.size(), secret.data());
  sodium_memzero(secret.data(), secret.size());
  return signature;
}

bool is_signed_by(const PublicKey& key, std::span<const std::byte> message, const Signature& signature) {
  ++public_key_operations;
  return crypto_sign_verify_detached(signature.bytes.data(),
                                     reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                                     key.bytes.data()) == 0;
}

// crypto_generichash_state, which is opaque and wants its alignment; kept out of the header with sodium.h.
#define SHOAL_HASH_STATE (reinterpret_cast<crypto_generichash_state*>(state_.bytes.data()))

Hasher::Hasher(std::string_view label) {
  static_assert(sizeof(crypto_generichash_state) <= sizeof(State) &&
                alignof(crypto_generichash_state) <= alignof(State));
  crypto_generichash_init(SHOAL_HASH_STATE, nullptr, 0, std::tuple_size_v<Digest256>);
  add(std::uint64_t{label.size()});
  add(std::as_bytes(std::span(label)));
}

Hasher& Hasher::add(std::span<const std::byte> bytes) {
  crypto_generichash_update(SHOAL_HASH_STATE, reinterpret_cast<const unsigned char*>(bytes.data()),
                            bytes.size());
  return *this;
}

Hasher& Hasher::add(std::uint64_t value) {
  std::array<std::uint8_t, 8> bytes;
  store_little_endian(bytes.data(), value);
  return add(std::span<const std::uint8_t>(bytes));
}

Digest256 Hasher::finish() {
  Digest256 digest;
  crypto_generichash_final(SHOAL_HASH_STATE, digest.data(), digest.size());
  return digest;
}

#undef SHOAL_HASH_STATE

Secret derive(std::span<const std::uint8_t> secret, std::string_view label, const Digest256& context) {
  SHOAL_ASSERT(
      secret.size() >= crypto_generichash_KEYBYTES_MIN && secret.size() <= crypto_generichash_KEYBYTES_MAX,
      "a secret to derive from has 16 to 64 bytes");
  std::array<unsigned char, 128> message{};
  SHOAL_ASSERT(label.size() <= 64, "labels are short");
  std::copy(label.begin(), label.end(), message.begin());
  std::copy(context.begin(), context.end(), message.begin() + 64);
  Secret result;
  crypto_generichash(result.data(), kKeyBytes, message.data(), 64 + context.size(), secret.data(),
                     secret.size());
  return result;
}

std::string to_string(const PublicKey& key) {
  std::string text(2 * kKeyBytes + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), key.bytes.data(), kKeyBytes);
  text.pop_back();
  return text;
}

std::optional<PublicKey> parse_public_key(std::string_view text) {
  PublicKey key;
  std::size_t bytes = 0;
  if (text.size() != 2 * kKeyBytes ||
      sodium_hex2bin(key.bytes.data(), kKeyBytes, text.data(), text.size(), nullptr, &bytes, nullptr) != 0 ||
      bytes != kKeyBytes) {
    return std::nullopt;
  }
  return key;
}

}  // namespace shoal
