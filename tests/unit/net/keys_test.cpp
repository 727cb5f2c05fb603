#include "shared/net/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "tests/unit/net/hex.hpp"

namespace shoal {
namespace {

PublicKey key_from_hex(std::string_view digits) {
  return parse_public_key(digits).value();
}

TEST(AgreementKey, FollowsRfc7748) {
  const AgreementKey key(secret_from_hex("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"));
  const auto shared =
      key.agree(key_from_hex("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"));
  ASSERT_TRUE(shared);
  EXPECT_EQ(to_hex(shared->reveal()), "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552");
}

TEST(AgreementKey, FollowsRfc7748AThousandTimes) {
  Secret k = secret_from_hex("0900000000000000000000000000000000000000000000000000000000000000");
  Secret u = k;
  for (int i = 0; i < 1000; ++i) {
    PublicKey point;
    std::copy_n(u.data(), kKeyBytes, point.bytes.begin());
    u = k;
    k = AgreementKey(k).agree(point).value();
    if (i == 0) {
      EXPECT_EQ(to_hex(k.reveal()), "422c8e7a6227d7bca1350b3e2bb7279f7897b87bb6854b783c60e80311ae3079");
    }
  }
  EXPECT_EQ(to_hex(k.reveal()), "684cf59ba83309552800ef566f2f4d3c1c3887c49360e3875f2eb94d99532c51");
}

TEST(AgreementKey, BothSidesComeToTheSameAndNoThirdOneDoes) {
  SeededEntropy entropy(1);
  const AgreementKey a = AgreementKey::make(entropy);
  const AgreementKey b = AgreementKey::make(entropy);
  const AgreementKey c = AgreementKey::make(entropy);
  EXPECT_TRUE(*a.agree(b.public_key()) == *b.agree(a.public_key()));
  EXPECT_FALSE(*a.agree(b.public_key()) == *c.agree(b.public_key()));
}

// Points of low order, in each of their encodings (RFC 7748, section 6.1; Bernstein's list).
TEST(AgreementKey, RefusesEveryPointOfLowOrder) {
  SeededEntropy entropy(2);
  const AgreementKey key = AgreementKey::make(entropy);
  for (const char* point : {"0000000000000000000000000000000000000000000000000000000000000000",
                            "0100000000000000000000000000000000000000000000000000000000000000",
                            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
                            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
                            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
                            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"})
    EXPECT_FALSE(key.agree(key_from_hex(point))) << point;
}

struct SignatureVector {
  const char *seed, *key, *message, *signature;
};
constexpr SignatureVector kRfc8032[] = {
    {"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
     "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f"
     "0595bbe24"
     "655141438e7a100b"},
    {"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
     "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2ea"
     "eb4302aee"
     "b00d291612bb0c00"},
};

TEST(SignatureKey, FollowsRfc8032) {
  for (const SignatureVector& vector : kRfc8032) {
    const SignatureKey key(secret_from_hex(vector.seed));
    EXPECT_EQ(to_string(key.public_key()), vector.key);
    const auto message = from_hex(vector.message);
    const Signature signature = key.sign(message);
    EXPECT_EQ(to_hex(signature.bytes), vector.signature);
    EXPECT_TRUE(is_signed_by(key.public_key(), message, signature));
  }
}

TEST(SignatureKey, AnyChangeOfSignatureMessageOrKeyIsNoticed) {
  SeededEntropy entropy(3);
  const SignatureKey key = SignatureKey::make(entropy);
  std::vector<std::byte> message = from_hex("00112233445566778899");
  const Signature signature = key.sign(message);
  for (std::size_t bit = 0; bit < 8 * sizeof signature; ++bit) {
    Signature changed = signature;
    changed.bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    EXPECT_FALSE(is_signed_by(key.public_key(), message, changed)) << bit;
  }
  for (std::size_t bit = 0; bit < 8 * message.size(); ++bit) {
    auto changed = message;
    changed[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8));
    EXPECT_FALSE(is_signed_by(key.public_key(), changed, signature)) << bit;
  }
  EXPECT_FALSE(is_signed_by(SignatureKey::make(entropy).public_key(), message, signature));
  EXPECT_FALSE(is_signed_by(PublicKey{}, message, Signature{})) << "a key of low order signs everything";
}

TEST(Hasher, LabelsAndPiecesMakeADifference) {
  const auto digest = [](std::string_view label, std::string_view text) {
    return Hasher(label).add(bytes_of(text)).finish();
  };
  EXPECT_EQ(digest("a", "bc"), digest("a", "bc"));
  EXPECT_NE(digest("a", "bc"), digest("ab", "c"));
  EXPECT_NE(Hasher("a").add(std::uint64_t{1}).finish(), Hasher("a").add(std::uint64_t{256}).finish());
}

TEST(Derive, SecretLabelAndContextMakeADifference) {
  SeededEntropy entropy(4);
  const Secret secret = Secret::random(entropy);
  const std::span<const std::uint8_t> bytes(secret.data(), kKeyBytes);
  const Secret derived = derive(bytes, "use", Digest256{});
  EXPECT_TRUE(derived == derive(bytes, "use", Digest256{}));
  EXPECT_FALSE(derived == derive(bytes, "uses", Digest256{}));
  EXPECT_FALSE(derived == derive(bytes, "use", Digest256{1}));
  EXPECT_FALSE(derived == derive(std::span(Secret::random(entropy).data(), kKeyBytes), "use", Digest256{}));
  EXPECT_FALSE(derived == secret);
}

TEST(PublicKeyText, IsReadAsItIsWritten) {
  SeededEntropy entropy(5);
  const PublicKey key = AgreementKey::make(entropy).public_key();
  const std::string text = to_string(key);
  EXPECT_EQ(text.size(), 64u);
  EXPECT_EQ(parse_public_key(text), key);
  std::string upper = text;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  EXPECT_EQ(parse_public_key(upper), key);
}

TEST(PublicKeyText, AnythingElseIsNoKey) {
  const std::string good(64, 'a');
  for (const std::string& text :
       {std::string(), good.substr(1), good + "a", good + "aa", " " + good.substr(1), good.substr(1) + "g",
        good.substr(1) + '\0', good.substr(1) + ":"})
    EXPECT_FALSE(parse_public_key(text)) << text;
}

}  // namespace
}  // namespace shoal
