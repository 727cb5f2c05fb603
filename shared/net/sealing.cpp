#include "shared/net/sealing.hpp"

#include <sodium.h>

#include "shared/base/assert.hpp"
#include "shared/base/fault.hpp"
#include "shared/base/little_endian.hpp"

namespace shoal {
namespace {

static_assert(crypto_aead_aes256gcm_KEYBYTES == kKeyBytes &&
              crypto_aead_chacha20poly1305_ietf_KEYBYTES == kKeyBytes);
static_assert(crypto_aead_aes256gcm_ABYTES == kPacketTagBytes &&
              crypto_aead_chacha20poly1305_ietf_ABYTES == kPacketTagBytes);
constexpr std::size_t kNonceBytes = 12;
static_assert(crypto_aead_aes256gcm_NPUBBYTES == kNonceBytes &&
              crypto_aead_chacha20poly1305_ietf_NPUBBYTES == kNonceBytes);

std::array<unsigned char, kNonceBytes> nonce_of(std::uint64_t number) {
  std::array<unsigned char, kNonceBytes> nonce{};
  store_little_endian(nonce.data(), number);
  return nonce;
}

// Where nothing is read or written a span may point nowhere, which libsodium's declarations forbid all the same.
const unsigned char* in(std::span<const std::byte> bytes) {
  static constexpr unsigned char kNothing = 0;
  return bytes.empty() ? &kNothing : reinterpret_cast<const unsigned char*>(bytes.data());
}
unsigned char* out(std::byte* bytes) {
  static std::byte nothing;
  return reinterpret_cast<unsigned char*>(bytes != nullptr ? bytes : &nothing);
}

}  // namespace

bool has_aes() {
  static const bool answer = sodium_init() >= 0 && crypto_aead_aes256gcm_is_available() != 0;
  return answer;
}

std::string_view to_string(Cipher cipher) {
  return cipher == Cipher::Aes256Gcm ? "AES-256-GCM" : "ChaCha20-Poly1305";
}

SealingKey::SealingKey(Cipher cipher, const Secret& key) : cipher_(cipher), key_(key) {
  static_assert(sizeof(crypto_aead_aes256gcm_state) <= sizeof(AesState) &&
                alignof(crypto_aead_aes256gcm_state) <= alignof(AesState));
  if (cipher_ != Cipher::Aes256Gcm) return;
  SHOAL_ASSERT(has_aes(), "this processor has no AES-256-GCM: offer it only where has_aes()");
  crypto_aead_aes256gcm_beforenm(reinterpret_cast<crypto_aead_aes256gcm_state*>(&aes_), key_.data());
}

SealingKey::~SealingKey() {
  sodium_memzero(&aes_, sizeof aes_);
}

void SealingKey::seal(std::uint64_t number, std::span<const std::byte> clear, std::span<const std::byte> body,
                      std::byte* sealed, std::span<std::byte, kPacketTagBytes> tag) const {
  const auto nonce = nonce_of(number);
  if (fault("net-header-unsealed")) clear = {};
  if (cipher_ == Cipher::Aes256Gcm) {
    crypto_aead_aes256gcm_encrypt_detached_afternm(
        out(sealed), out(tag.data()), nullptr, in(body), body.size(), in(clear), clear.size(), nullptr,
        nonce.data(), reinterpret_cast<const crypto_aead_aes256gcm_state*>(&aes_));
  } else {
    crypto_aead_chacha20poly1305_ietf_encrypt_detached(out(sealed), out(tag.data()), nullptr, in(body),
                                                       body.size(), in(clear), clear.size(), nullptr,
                                                       nonce.data(), key_.data());
  }
}

bool SealingKey::open(std::uint64_t number, std::span<const std::byte> clear,
                      std::span<const std::byte> sealed, std::span<const std::byte, kPacketTagBytes> tag,
                      std::byte* body) const {
  const auto nonce = nonce_of(number);
  if (fault("net-believe-tags")) {
    // Both ciphers add the same key stream in either direction.
    std::array<std::byte, kPacketTagBytes> nobodys;
    seal(number, {}, sealed, body, nobodys);
    return true;
  }
  if (fault("net-header-unsealed")) clear = {};
  if (cipher_ == Cipher::Aes256Gcm) {
    return crypto_aead_aes256gcm_decrypt_detached_afternm(
               out(body), nullptr, in(sealed), sealed.size(), in(tag), in(clear), clear.size(), nonce.data(),
               reinterpret_cast<const crypto_aead_aes256gcm_state*>(&aes_)) == 0;
  }
  return crypto_aead_chacha20poly1305_ietf_decrypt_detached(out(body), nullptr, in(sealed), sealed.size(),
                                                            in(tag), in(clear), clear.size(), nonce.data(),
                                                            key_.data()) == 0;
}

}  // namespace shoal
