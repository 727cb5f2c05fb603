#include "shared/game/input.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "shared/base/random.hpp"

namespace shoal::demo {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(PlayerInput, ComesBackWithinTheStepOfItsBytes) {
  const PlayerInput input{.move_x = -0.5f, .move_y = 1, .aim_degrees = 123.4f, .fire = true};
  const auto decoded = decode_input(encode_input(input));
  ASSERT_TRUE(decoded.ok());
  EXPECT_NEAR(decoded->move_x, input.move_x, 0.004f);
  EXPECT_EQ(decoded->move_y, 1);
  EXPECT_NEAR(decoded->aim_degrees, input.aim_degrees, 0.003f);
  EXPECT_TRUE(decoded->fire);
}

TEST(PlayerInput, RestIsExact) {
  EXPECT_EQ(*decode_input(encode_input({})), PlayerInput{});
}

TEST(PlayerInput, DecodedAndEncodedAgainGivesTheSameBytes) {
  Random random(1);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> wire;
    wire.push_back(static_cast<std::byte>(random.below(2)));
    wire.push_back(static_cast<std::byte>(random.between(-127, 127)));
    wire.push_back(static_cast<std::byte>(random.between(-127, 127)));
    wire.push_back(static_cast<std::byte>(random.below(256)));
    wire.push_back(static_cast<std::byte>(random.below(256)));
    const auto decoded = decode_input(wire);
    ASSERT_TRUE(decoded.ok());
    const auto again = encode_input(*decoded);
    ASSERT_TRUE(std::equal(again.begin(), again.end(), wire.begin(), wire.end())) << round;
  }
}

// T15
TEST(PlayerInput, BadBytesAreRefusedWithTheReason) {
  EXPECT_EQ(decode_input({}).error(), InputError::WrongSize);
  EXPECT_EQ(decode_input(bytes({0, 0, 0, 0})).error(), InputError::WrongSize);
  EXPECT_EQ(decode_input(bytes({0, 0, 0, 0, 0, 0})).error(), InputError::WrongSize);
  EXPECT_EQ(decode_input(bytes({2, 0, 0, 0, 0})).error(), InputError::UnknownFlags);
  EXPECT_EQ(decode_input(bytes({0x80, 0, 0, 0, 0})).error(), InputError::UnknownFlags);
  EXPECT_EQ(decode_input(bytes({0, 0x80, 0, 0, 0})).error(), InputError::MoveOutOfRange);
  EXPECT_EQ(decode_input(bytes({0, 0, 0x80, 0, 0})).error(), InputError::MoveOutOfRange);
}

TEST(PlayerInput, WhatEveryByteStringDecodesToIsInRange) {
  Random random(2);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> wire(random.below(7));
    for (auto& byte : wire) byte = static_cast<std::byte>(random.below(256));
    const auto decoded = decode_input(wire);
    if (!decoded) continue;
    ASSERT_LE(std::abs(decoded->move_x), 1);
    ASSERT_LE(std::abs(decoded->move_y), 1);
    ASSERT_GE(decoded->aim_degrees, -180);
    ASSERT_LE(decoded->aim_degrees, 180);
  }
}

TEST(PlayerInput, EncodingClampsWhatNoGamepadGives) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const auto wild = decode_input(encode_input({.move_x = 5, .move_y = -infinity, .aim_degrees = infinity}));
  EXPECT_EQ(wild->move_x, 1);
  EXPECT_EQ(wild->move_y, -1);
  EXPECT_EQ(wild->aim_degrees, 0);
  EXPECT_EQ(*decode_input(encode_input({.move_x = nan, .move_y = nan, .aim_degrees = nan})), PlayerInput{});
  EXPECT_NEAR(decode_input(encode_input({.aim_degrees = 540}))->aim_degrees, -180, 0.01f);
}

}  // namespace
}  // namespace shoal::demo
