#include "shared/base/little_endian.hpp"

#include <gtest/gtest.h>

#include <array>

namespace shoal {
namespace {

TEST(LittleEndian, LowestByteComesFirst) {
  std::array<std::uint8_t, 10> bytes{};
  store_little_endian(&bytes[1], std::uint64_t{0x0807'0605'0403'0201});
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 10>{0, 1, 2, 3, 4, 5, 6, 7, 8, 0}));
  EXPECT_EQ(load_little_endian<std::uint64_t>(&bytes[1]), 0x0807'0605'0403'0201u);
  EXPECT_EQ(load_little_endian<std::uint32_t>(&bytes[1]), 0x0403'0201u);
  EXPECT_EQ(load_little_endian<std::uint16_t>(&bytes[7]), 0x0807u);
  EXPECT_EQ(load_little_endian<std::uint8_t>(&bytes[8]), 8u);
}

TEST(LittleEndian, HighestBitsOfEachWidthComeBack) {
  const auto there_and_back = [](auto value) {
    std::array<std::byte, sizeof value> bytes;
    store_little_endian(bytes.data(), value);
    return load_little_endian<decltype(value)>(bytes.data());
  };
  EXPECT_EQ(there_and_back(std::uint8_t{0xFF}), 0xFFu);
  EXPECT_EQ(there_and_back(std::uint16_t{0xFFFE}), 0xFFFEu);
  EXPECT_EQ(there_and_back(std::uint32_t{0xFFFF'FFFE}), 0xFFFF'FFFEu);
  EXPECT_EQ(there_and_back(~std::uint64_t{1}), ~std::uint64_t{1});
}

static_assert([] {
  std::array<std::byte, 2> bytes{};
  store_little_endian(bytes.data(), std::uint16_t{0x1234});
  return load_little_endian<std::uint16_t>(bytes.data()) == 0x1234;
}());

}  // namespace
}  // namespace shoal
