#include "shared/net/sealing.hpp"

#include <gtest/gtest.h>

#include "tests/unit/net/hex.hpp"

namespace shoal {
namespace {

constexpr std::string_view kText =
    "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen "
    "would be it.";
constexpr const char* kKey = "808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f";
constexpr const char* kClear = "50515253c0c1c2c3c4c5c6c7";
const std::string kZeros(64, '0');

struct Sealed {
  std::vector<std::byte> body;
  std::array<std::byte, kPacketTagBytes> tag;
};

Sealed seal(const SealingKey& key, std::uint64_t number, std::span<const std::byte> clear,
            std::span<const std::byte> body) {
  Sealed result{std::vector<std::byte>(body.size()), {}};
  key.seal(number, clear, body, result.body.data(), result.tag);
  return result;
}
std::optional<std::vector<std::byte>> open(const SealingKey& key, std::uint64_t number,
                                           std::span<const std::byte> clear, const Sealed& sealed) {
  std::vector<std::byte> body(sealed.body.size());
  if (!key.open(number, clear, sealed.body, sealed.tag, body.data())) return std::nullopt;
  return body;
}

// Nonces here end in four zeros, which that of RFC 8439, section 2.8.2, does not. So: block 1 of its keystream under key
// and nonce of zeros (appendix A.1, vector 2); and its key, text and clear part from 2.8.2 under the number below,
// computed with a program that gives 2.8.2 for the nonce there.
TEST(Sealing, ChaCha20Poly1305FollowsRfc8439) {
  const SealingKey zero(Cipher::ChaCha20Poly1305, secret_from_hex(kZeros));
  const Sealed first = seal(zero, 0, {}, from_hex(std::string(128, '0')));
  EXPECT_EQ(to_hex(first.body),
            "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed29b721769ce64e43d57133b074d839d5"
            "31ed1f28510"
            "afb45ace10a1f4b794d6f");
  EXPECT_EQ(to_hex(first.tag), "75c5180ef52d6921037a3d0af9f0dac8");
  const SealingKey key(Cipher::ChaCha20Poly1305, secret_from_hex(kKey));
  const Sealed second = seal(key, 0x0807060504030201, from_hex(kClear), bytes_of(kText));
  EXPECT_EQ(to_hex(second.body),
            "805ffc17f8e908e8831fd5a41c8b1239307a3fb198c57840a639f2e5bb803cc9cb4d2c8d79f3f92b651c2df18d0c0a5a"
            "d5c61b63e2b"
            "54873f340efae5a82e359752927df7631f152ba3c4133d95ed22d7a767c6eb1558cf96f4901a1e239e689aaf080db4e1"
            "fa959a405bb"
            "faec1be38a0d73");
  EXPECT_EQ(to_hex(second.tag), "d7fef7ceefd8bd1f63f8a8a84b320b9e");
}

// Cases 13 and 14 of McGrew and Viega, which NIST SP 800-38D takes over; the third as above, computed with OpenSSL.
TEST(Sealing, Aes256GcmFollowsItsVectors) {
  if (!has_aes()) GTEST_SKIP() << "this processor has no AES-256-GCM";
  const SealingKey zero(Cipher::Aes256Gcm, secret_from_hex(kZeros));
  EXPECT_EQ(to_hex(seal(zero, 0, {}, {}).tag), "530f8afbc74536b9a963b4f1c4cb738b");
  const Sealed first = seal(zero, 0, {}, from_hex(std::string(32, '0')));
  EXPECT_EQ(to_hex(first.body), "cea7403d4d606b6e074ec5d3baf39d18");
  EXPECT_EQ(to_hex(first.tag), "d0d1c8a799996bf0265b98b5d48ab919");
  const SealingKey key(Cipher::Aes256Gcm, secret_from_hex(kKey));
  const Sealed second = seal(key, 0x0807060504030201, from_hex(kClear), bytes_of(kText));
  EXPECT_EQ(to_hex(second.body) + to_hex(second.tag),
            "d7f7376acd701dc533aea72b61417d3d6f302a6564f2b3652d1faa0d255d192950ffb758f4b9f726345e708f2be24ec1"
            "33f16da0f61"
            "9d4ee2e9554212690a45873f2aa91e3d4a99ea3dbaa5c7b810568e5722cb35df815de42341a69cf8ced54d550ad2f2d6"
            "68334ca376e"
            "0396e5e8169abee4943254c824d79f4c0bcd2de5030289");
}

class EachCipher : public ::testing::TestWithParam<Cipher> {
 protected:
  void SetUp() override {
    if (GetParam() == Cipher::Aes256Gcm && !has_aes()) GTEST_SKIP() << "this processor has no AES-256-GCM";
    key.emplace(GetParam(), secret_from_hex(kKey));
    sealed = seal(*key, 77, clear, bytes_of(kText));
  }
  std::optional<SealingKey> key;
  std::vector<std::byte> clear = from_hex(kClear);
  Sealed sealed;
};

TEST_P(EachCipher, WhatIsSealedOpens) {
  EXPECT_EQ(to_hex(*open(*key, 77, clear, sealed)), to_hex(bytes_of(kText)));
  const Sealed empty = seal(*key, 78, {}, {});
  EXPECT_TRUE(open(*key, 78, {}, empty));
}

TEST_P(EachCipher, ABodyIsSealedAndOpenedInItsPlace) {
  std::vector<std::byte> body(bytes_of(kText).begin(), bytes_of(kText).end());
  std::array<std::byte, kPacketTagBytes> tag;
  key->seal(77, clear, body, body.data(), tag);
  EXPECT_EQ(body, sealed.body);
  ASSERT_TRUE(key->open(77, clear, body, tag, body.data()));
  EXPECT_EQ(to_hex(body), to_hex(bytes_of(kText)));
}

TEST_P(EachCipher, EveryFlippedBitIsRefused) {
  const auto flip = [](std::span<std::byte> bytes, std::size_t bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
  };
  for (std::size_t bit = 0; bit < 8 * sealed.body.size(); ++bit) {
    Sealed changed = sealed;
    flip(changed.body, bit);
    EXPECT_FALSE(open(*key, 77, clear, changed)) << "body, bit " << bit;
  }
  for (std::size_t bit = 0; bit < 8 * sealed.tag.size(); ++bit) {
    Sealed changed = sealed;
    flip(changed.tag, bit);
    EXPECT_FALSE(open(*key, 77, clear, changed)) << "tag, bit " << bit;
  }
  for (std::size_t bit = 0; bit < 8 * clear.size(); ++bit) {
    auto changed = clear;
    flip(changed, bit);
    EXPECT_FALSE(open(*key, 77, changed, sealed)) << "clear part, bit " << bit;
  }
}

TEST_P(EachCipher, AnotherNumberClearPartLengthOrKeyIsRefused) {
  for (int bit = 0; bit < 64; ++bit)
    EXPECT_FALSE(open(*key, 77 ^ (std::uint64_t{1} << bit), clear, sealed)) << bit;
  EXPECT_FALSE(open(*key, 77, {}, sealed));
  Sealed cut = sealed;
  cut.body.pop_back();
  EXPECT_FALSE(open(*key, 77, clear, cut));
  EXPECT_FALSE(open(SealingKey(GetParam(), secret_from_hex(kZeros)), 77, clear, sealed));
}

TEST_P(EachCipher, CopiesOfAKeySealAlike) {
  const SealingKey copy = *key;
  EXPECT_EQ(seal(copy, 77, clear, bytes_of(kText)).body, sealed.body);
}

INSTANTIATE_TEST_SUITE_P(Sealing, EachCipher, ::testing::Values(Cipher::ChaCha20Poly1305, Cipher::Aes256Gcm),
                         [](const auto& cipher) {
                           return cipher.param == Cipher::Aes256Gcm ? "Aes256Gcm" : "ChaCha20Poly1305";
                         });

}  // namespace
}  // namespace shoal
