#include "shared/net/keyed_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "shared/net/address_range.hpp"
#include "shared/net/response_key.hpp"

namespace shoal {
namespace {

constexpr std::size_t kKeys = 4096;

template <class Map>
std::size_t most_in_a_bucket(const Map& map) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < map.bucket_count(); ++i) most = std::max(most, map.bucket_size(i));
  return most;
}

using Holders = std::unordered_set<AddressHolder, KeyedHash>;

KeyedHash hash_under(std::uint64_t seed, std::string_view purpose = "test") {
  SeededEntropy entropy(seed);
  return KeyedHash(Secret::random(entropy), purpose);
}

TEST(KeyedHash, IsOfItsSecretAndItsPurpose) {
  const AddressHolder holder{1, 2, 3};
  EXPECT_EQ(hash_under(1)(holder), hash_under(1)(holder));
  EXPECT_NE(hash_under(1)(holder), hash_under(2)(holder));
  EXPECT_NE(hash_under(1)(holder), hash_under(1, "other")(holder));
  EXPECT_NE(hash_under(1)(holder), hash_under(1)(AddressHolder{1, 2, 4}));
}

// Who owns a large network picks addresses that would meet in one bucket, if the server's secret were theirs.
TEST(KeyedHash, AddressesThatWereChosenForOneSecretScatterUnderAnother) {
  const KeyedHash known = hash_under(1);
  Holders here(kKeys, known);
  Holders there(kKeys, hash_under(2));
  for (std::uint32_t i = 0; here.size() < 200; ++i) {
    const AddressHolder holder = holder_of(
        Endpoint::ipv4(static_cast<std::uint8_t>(20 + (i >> 24)), static_cast<std::uint8_t>(i >> 16),
                       static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i), 1));
    if (here.bucket(holder) != 0) continue;
    here.insert(holder);
    there.insert(holder);
  }
  EXPECT_EQ(most_in_a_bucket(here), 200u);
  EXPECT_LE(most_in_a_bucket(there), 8u);
}

// The nonce is the client's choice, the cookie's code is the server's.
TEST(ResponseKey, NoncesThatWereChosenFallIntoNoOneBucket) {
  SeededEntropy entropy(1);
  CookieMint mint(entropy);
  std::unordered_map<ResponseKey, int> used;
  for (std::size_t i = 0; i < kKeys; ++i) {
    const Endpoint peer =
        Endpoint::ipv4(198, 51, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i), 5000);
    const std::uint64_t nonce = 0x1234 ^ std::hash<Endpoint>{}(peer);
    used.emplace(ResponseKey{peer, nonce, mint.make(peer, nonce, PublicKey{}, Time{seconds{1}})}, 0);
  }
  ASSERT_EQ(used.size(), kKeys);
  EXPECT_LE(most_in_a_bucket(used), 10u);
}

}  // namespace
}  // namespace shoal
