#include "shared/net/cookie.hpp"

#include <gtest/gtest.h>

#include "shared/net/transport_limits.hpp"

namespace shoal {
namespace {

using Verdict = CookieMint::Verdict;
const Endpoint kPeer = Endpoint::ipv4(10, 0, 0, 1, 5000);

struct CookieTest : ::testing::Test {
  SeededEntropy entropy{1};
  CookieMint mint{entropy};
  PublicKey key{{1, 2, 3}};
  Time now{seconds{1000}};
};

TEST_F(CookieTest, IsGoodForItsAddressClientAndKeyOnly) {
  const HandshakeCookie cookie = mint.make(kPeer, 42, key, now);
  EXPECT_EQ(mint.check(cookie, kPeer, 42, key, now), Verdict::Good);
  Endpoint other_port = kPeer;
  ++other_port.port;
  EXPECT_EQ(mint.check(cookie, other_port, 42, key, now), Verdict::Forged);
  EXPECT_EQ(mint.check(cookie, Endpoint::ipv4(10, 0, 0, 2, 5000), 42, key, now), Verdict::Forged);
  EXPECT_EQ(mint.check(cookie, kPeer, 43, key, now), Verdict::Forged);
  EXPECT_EQ(mint.check(cookie, kPeer, 42, PublicKey{{9}}, now), Verdict::Forged);
}

TEST_F(CookieTest, AnyChangeOfItsBytesIsForged) {
  const HandshakeCookie cookie = mint.make(kPeer, 42, key, now);
  for (std::size_t i = 0; i < cookie.code.size(); ++i) {
    HandshakeCookie changed = cookie;
    changed.code[i] ^= 1;
    EXPECT_EQ(mint.check(changed, kPeer, 42, key, now), Verdict::Forged);
  }
  HandshakeCookie renewed = cookie;
  ++renewed.issued_seconds;
  EXPECT_EQ(mint.check(renewed, kPeer, 42, key, now + seconds{1}), Verdict::Forged)
      << "its age is part of it";
  renewed.issued_seconds = ~0ull;
  EXPECT_EQ(mint.check(renewed, kPeer, 42, key, now), Verdict::Forged);
}

TEST_F(CookieTest, GoesStaleAndSurvivesOneChangeOfTheSecret) {
  for (int second = 0; second < 200; ++second) {
    const Time made = now + seconds{second};
    const HandshakeCookie cookie = mint.make(kPeer, 42, key, made);
    EXPECT_EQ(mint.check(cookie, kPeer, 42, key, made + kCookieLifetime), Verdict::Good) << second;
    EXPECT_EQ(mint.check(cookie, kPeer, 42, key, made + kCookieLifetime + seconds{1}), Verdict::Stale)
        << second;
    now = now + kCookieLifetime + seconds{1} - seconds{10};  // the mint's clock never goes back
  }
}

// Two mints that draw the same secrets, one of them for the third time: who learned an old secret makes no cookie with
// it.
TEST_F(CookieTest, SecretIsNewInEachPeriod) {
  const Time third = now + 2 * kCookieSecretLifetime;
  SeededEntropy same_entropy(1);
  CookieMint fresh(same_entropy);
  const HandshakeCookie of_first_secret = fresh.make(kPeer, 42, key, third);
  SeededEntropy entropy_again(1);
  CookieMint again(entropy_again);
  ASSERT_EQ(again.make(kPeer, 42, key, third).code, of_first_secret.code) << "one seed, one first secret";

  (void)mint.make(kPeer, 42, key, now);
  (void)mint.make(kPeer, 42, key, now + kCookieSecretLifetime);
  EXPECT_NE(mint.make(kPeer, 42, key, third).code, of_first_secret.code);
  EXPECT_EQ(mint.check(of_first_secret, kPeer, 42, key, third), Verdict::Forged);
}

TEST_F(CookieTest, SecretsDifferBetweenServers) {
  SeededEntropy other_entropy(2);
  CookieMint other(other_entropy);
  const HandshakeCookie cookie = mint.make(kPeer, 42, key, now);
  EXPECT_NE(other.make(kPeer, 42, key, now).code, cookie.code);
  EXPECT_EQ(other.check(cookie, kPeer, 42, key, now), Verdict::Forged);
}

}  // namespace
}  // namespace shoal
