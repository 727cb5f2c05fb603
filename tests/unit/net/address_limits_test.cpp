#include "shared/net/address_limits.hpp"

#include <gtest/gtest.h>

namespace shoal {
namespace {

Endpoint at(std::string_view address) {
  return parse_endpoint(address, 5000).value();
}
Endpoint numbered(std::uint32_t number) {
  return Endpoint::ipv4(static_cast<std::uint8_t>(200 + (number >> 24)),
                        static_cast<std::uint8_t>(number >> 16), static_cast<std::uint8_t>(number >> 8),
                        static_cast<std::uint8_t>(number), 5000);
}
int taken(AddressLimits& limits, const Endpoint& peer, Time now, int asked) {
  int count = 0;
  for (int i = 0; i < asked; ++i) count += limits.take_handshake(peer, now);
  return count;
}

struct AddressLimitsTest : ::testing::Test {
  Endpoint peer = at("203.0.113.1");
  Time now{seconds{1000}};
};

TEST_F(AddressLimitsTest, ABurstIsAllowedAndFillsUpAgain) {
  AddressLimits limits({.handshakes_per_second = 10, .handshake_burst = 40}, Secret{});
  EXPECT_EQ(taken(limits, peer, now, 100), 40);
  EXPECT_EQ(taken(limits, peer, now + milliseconds{50}, 100), 0);
  EXPECT_EQ(taken(limits, peer, now + milliseconds{1050}, 100), 10);
  EXPECT_EQ(taken(limits, peer, now + seconds{3600}, 100), 40) << "no more than a burst is saved up";
}

TEST_F(AddressLimitsTest, OneAddressTakesNothingFromAnother) {
  AddressLimits limits({.max_sessions = 1, .handshakes_per_second = 10, .handshake_burst = 40}, Secret{});
  EXPECT_EQ(taken(limits, peer, now, 100), 40);
  limits.session_opened(peer, now);
  EXPECT_EQ(taken(limits, at("203.0.113.2"), now, 100), 40);
  EXPECT_TRUE(limits.has_room_for_session(at("203.0.113.2")));
}

TEST_F(AddressLimitsTest, PortsAndThe64LowBitsOfIpv6MakeNoOtherHolder) {
  AddressLimits limits({.max_sessions = 1, .handshakes_per_second = 10, .handshake_burst = 40}, Secret{});
  limits.session_opened(at("2001:db8::1"), now);
  EXPECT_FALSE(limits.has_room_for_session(at("2001:db8::2")));
  EXPECT_TRUE(limits.has_room_for_session(at("2001:db8:0:1::1")));
  EXPECT_EQ(taken(limits, parse_endpoint("203.0.113.1:1", 0).value(), now, 30), 30);
  EXPECT_EQ(taken(limits, parse_endpoint("203.0.113.1:2", 0).value(), now, 30), 10);
}

TEST_F(AddressLimitsTest, SessionsAreCountedAndCountedBack) {
  AddressLimits limits({.max_sessions = 2}, Secret{});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(limits.has_room_for_session(peer));
    limits.session_opened(peer, now);
  }
  EXPECT_FALSE(limits.has_room_for_session(peer));
  limits.session_closed(peer);
  EXPECT_TRUE(limits.has_room_for_session(peer));
  for (int i = 0; i < 5; ++i) limits.session_closed(peer);  // more than there were: nothing is gained
  for (int i = 0; i < 2; ++i) limits.session_opened(peer, now);
  EXPECT_FALSE(limits.has_room_for_session(peer));
}

TEST_F(AddressLimitsTest, ExemptAddressesAreNeitherRefusedNorRemembered) {
  AddressLimits limits({.max_sessions = 1, .exempt = {*parse_address_range("203.0.113.0/24")}}, Secret{});
  for (const char* address : {"203.0.113.1", "127.0.0.1", "::1"}) {
    EXPECT_EQ(taken(limits, at(address), now, 1000), 1000) << address;
    for (int i = 0; i < 10; ++i) limits.session_opened(at(address), now);
    EXPECT_TRUE(limits.has_room_for_session(at(address))) << address;
    limits.session_closed(at(address));
  }
  EXPECT_EQ(limits.address_count(), 0u);
  EXPECT_EQ(taken(limits, at("10.0.0.1"), now, 1000), 40) << "private only where it is said";
}

TEST_F(AddressLimitsTest, ZeroIsNoLimit) {
  AddressLimits limits({.max_sessions = 0, .handshakes_per_second = 0, .handshake_burst = 0}, Secret{});
  EXPECT_EQ(taken(limits, peer, now, 1000), 1000);
  for (int i = 0; i < 1000; ++i) limits.session_opened(peer, now);
  EXPECT_TRUE(limits.has_room_for_session(peer));
}

TEST_F(AddressLimitsTest, MemoryStaysBoundedUnderAMillionAddresses) {
  constexpr std::size_t kMost = 1000;
  AddressLimits limits({.max_addresses = kMost}, Secret{});
  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    (void)limits.take_handshake(numbered(i), now + Duration{i} * 1000);
    ASSERT_LE(limits.address_count(), kMost);
  }
}

TEST_F(AddressLimitsTest, AFullTableRefusesNewcomersAndForgetsNobodyWhoIsActive) {
  AddressLimits limits({.max_sessions = 1, .max_addresses = 100}, Secret{});
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(limits.take_handshake(numbered(i), now));
    limits.session_opened(numbered(i), now);
  }
  for (std::uint32_t i = 100; i < 1000; ++i)
    EXPECT_FALSE(limits.take_handshake(numbered(i), now + seconds{60}));
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_FALSE(limits.has_room_for_session(numbered(i)));
  limits.session_closed(numbered(7));
  int admitted = 0;
  for (std::uint32_t i = 1000; i < 1100; ++i)
    admitted += limits.take_handshake(numbered(i), now + seconds{120});
  EXPECT_EQ(admitted, 1) << "who left made room";
}

// Without a limit of handshakes nothing but sessions is counted, and they are all the same.
TEST_F(AddressLimitsTest, AFullTableRefusesNewcomersWithoutALimitOfHandshakesToo) {
  AddressLimits limits(
      {.max_sessions = 1, .handshakes_per_second = 0, .handshake_burst = 0, .max_addresses = 1}, Secret{});
  EXPECT_TRUE(limits.take_handshake(numbered(1), now));
  limits.session_opened(numbered(1), now);
  EXPECT_FALSE(limits.take_handshake(numbered(2), now)) << "its sessions could not be counted";
  limits.session_closed(numbered(1));
  EXPECT_TRUE(limits.take_handshake(numbered(2), now));
  limits.session_opened(numbered(2), now);
  EXPECT_FALSE(limits.has_room_for_session(numbered(2)));
}

}  // namespace
}  // namespace shoal
