#include "shared/net/address_range.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace shoal {
namespace {

Endpoint at(std::string_view address) {
  return parse_endpoint(address, 5000).value();
}
bool contains(std::string_view range, std::string_view address) {
  return parse_address_range(range).value().contains(at(address));
}

TEST(AddressRange, HoldsWhatSharesItsPrefix) {
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("172.16.0.0/12", "172.31.255.255"));
  EXPECT_FALSE(contains("172.16.0.0/12", "172.32.0.0"));
  EXPECT_TRUE(contains("192.0.2.129/25", "192.0.2.200")) << "bits behind the prefix say nothing";
  EXPECT_FALSE(contains("192.0.2.129/25", "192.0.2.1"));
  EXPECT_TRUE(contains("192.0.2.1", "192.0.2.1"));
  EXPECT_FALSE(contains("192.0.2.1", "192.0.2.0"));
  EXPECT_TRUE(contains("0.0.0.0/0", "203.0.113.1"));
  EXPECT_FALSE(contains("0.0.0.0/0", "2001:db8::1")) << "every IPv4 address, and no other";
  EXPECT_TRUE(contains("::/0", "203.0.113.1"));
  EXPECT_TRUE(contains("fc00::/7", "fdff::1"));
  EXPECT_FALSE(contains("fc00::/7", "fe00::1"));
  EXPECT_FALSE(contains("::1", "::2"));
}

TEST(AddressRange, EveryPrefixCutsAtItsBit) {
  for (int bits = 1; bits <= 128; ++bits) {
    const auto range =
        parse_address_range("2001:db8:1234:5678:9abc:def0:1234:5679/" + std::to_string(bits)).value();
    Endpoint peer;
    peer.address = range.address;
    EXPECT_TRUE(range.contains(peer));
    const auto flip = [&peer](int bit) {
      peer.address[static_cast<std::size_t>(bit) / 8] ^= static_cast<std::uint8_t>(0x80 >> (bit % 8));
    };
    flip(bits - 1);
    EXPECT_FALSE(range.contains(peer)) << bits;
    flip(bits - 1);
    if (bits == 128) break;
    flip(bits);
    EXPECT_TRUE(range.contains(peer)) << bits;
  }
}

TEST(AddressRange, AnythingElseIsNone) {
  for (const char* text :
       {"", "/8", "10.0.0.0/33", "::/129", "10.0.0.0/8/8", "10.0.0.0/ 8", "10.0.0.0/+8", "10.0.0.0/",
        "10.0.0/8", "10.0.0.0:80", "[::1]:80", "localhost", "10.0.0.0/99999999999", "::1/x"})
    EXPECT_FALSE(parse_address_range(text)) << text;
}

TEST(AddressRange, KnowsThisMachineAndPrivateNetworks) {
  for (const char* text : {"127.0.0.1", "127.255.1.1", "::1"}) EXPECT_TRUE(is_loopback(at(text))) << text;
  for (const char* text : {"128.0.0.1", "::", "::2", "1::1"}) EXPECT_FALSE(is_loopback(at(text))) << text;
  const auto is_private = [](std::string_view text) {
    const auto ranges = private_ranges();
    return std::any_of(ranges.begin(), ranges.end(),
                       [&](const auto& range) { return range.contains(at(text)); });
  };
  for (const char* text :
       {"127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.1.1", "fd00::1", "fe80::1"})
    EXPECT_TRUE(is_private(text)) << text;
  for (const char* text :
       {"9.255.255.255", "172.15.0.1", "172.32.0.1", "192.167.0.1", "203.0.113.1", "2001:db8::1"})
    EXPECT_FALSE(is_private(text)) << text;
}

TEST(AddressRange, HolderIsAnIpv4AddressOrHalfAnIpv6One) {
  EXPECT_NE(holder_of(at("203.0.113.1")), holder_of(at("203.0.113.2")));
  EXPECT_EQ(holder_of(at("2001:db8::1")), holder_of(at("2001:db8::ffff:1:2:3")));
  EXPECT_NE(holder_of(at("2001:db8::1")), holder_of(at("2001:db8:0:1::1")));
}

}  // namespace
}  // namespace shoal
