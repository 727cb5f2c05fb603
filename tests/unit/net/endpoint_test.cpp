#include "shared/net/endpoint.hpp"

#include <gtest/gtest.h>

#include <unordered_set>

namespace shoal {
namespace {

TEST(Endpoint, ParsesWhatItPrints) {
  for (const char* text : {"10.1.2.3:7777", "[::1]:7777", "[2001:db8::1]:65535", "0.0.0.0:1", "[::]:1"}) {
    const auto endpoint = parse_endpoint(text, 0);
    ASSERT_TRUE(endpoint) << text;
    EXPECT_EQ(to_string(*endpoint), text);
  }
}

TEST(Endpoint, TakesTheDefaultPortWhenThereIsNone) {
  EXPECT_EQ(parse_endpoint("10.1.2.3", 9), Endpoint::ipv4(10, 1, 2, 3, 9));
  EXPECT_EQ(to_string(*parse_endpoint("::1", 9)), "[::1]:9");
  EXPECT_EQ(to_string(*parse_endpoint("[::1]", 9)), "[::1]:9");
}

TEST(Endpoint, RefusesWhatIsNoAddress) {
  for (const char* text : {"", ":", "10.1.2.3:", "10.1.2.3:65536", "10.1.2.3:-1", "10.1.2.3:7x", "10.1.2",
                           "[::1", "[::1]7", "[]", "host:1", "::1:x:", "10.1.2.3:7777 "}) {
    EXPECT_FALSE(parse_endpoint(text, 1)) << "'" << text << "'";
  }
}

// T18
TEST(Endpoint, AnIpv4AddressIsTheSameOverEitherProtocol) {
  EXPECT_EQ(parse_endpoint("[::ffff:10.1.2.3]:5", 0), parse_endpoint("10.1.2.3:5", 0));
  EXPECT_TRUE(parse_endpoint("10.1.2.3:5", 0)->is_ipv4());
  EXPECT_FALSE(parse_endpoint("[::1]:5", 0)->is_ipv4());
}

TEST(Endpoint, KnowsWhatNamesEveryAddress) {
  EXPECT_TRUE(Endpoint{}.is_any());
  EXPECT_TRUE(Endpoint::ipv4(0, 0, 0, 0, 7).is_any());
  EXPECT_FALSE(Endpoint::ipv4(127, 0, 0, 1, 7).is_any());
  EXPECT_FALSE(parse_endpoint("::1", 7)->is_any());
}

TEST(Endpoint, HashSpreadsPortsAndAddresses) {
  std::unordered_set<std::size_t> hashes;
  for (std::uint16_t port = 0; port < 1000; ++port)
    hashes.insert(std::hash<Endpoint>{}(Endpoint::ipv4(10, 0, 0, 1, port)));
  for (int i = 0; i < 250; ++i) {
    hashes.insert(std::hash<Endpoint>{}(Endpoint::ipv4(10, 0, 1, static_cast<std::uint8_t>(i), 1)));
  }
  EXPECT_EQ(hashes.size(), 1250u);
}

}  // namespace
}  // namespace shoal
