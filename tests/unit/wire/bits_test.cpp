#include "shared/wire/bits.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

TEST(Bits, ReaderGivesBackWhatWriterWroteInOrder) {
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    struct Item {
      int kind;
      std::uint32_t value;
      unsigned bits;
    };
    std::vector<Item> items;
    std::array<std::byte, 2048> buffer{};
    BitWriter writer(buffer);
    for (int i = 0; i < 100; ++i) {
      Item item{static_cast<int>(random.below(2)), 0, 0};
      if (item.kind == 0) {
        item.bits = random.below(33);
        item.value = item.bits == 0 ? 0 : static_cast<std::uint32_t>(random.next() >> (64 - item.bits));
        writer.write(item.value, item.bits);
      } else {
        item.bits = random.below(32);
        item.value = static_cast<std::uint32_t>(random.next() >> (32 + random.below(32)));
        writer.write_exp_golomb(item.value, item.bits);
      }
      items.push_back(item);
    }
    const std::size_t bytes = writer.finish();
    ASSERT_FALSE(writer.overflowed());
    BitReader reader(std::span<const std::byte>(buffer).first(bytes));
    for (const auto& item : items) {
      ASSERT_EQ(item.kind == 0 ? reader.read(item.bits) : reader.read_exp_golomb(item.bits), item.value);
    }
    EXPECT_TRUE(reader.at_end());
  }
}

TEST(Bits, ExpGolombHoldsTheWholeRange) {
  for (const std::uint32_t value : {0u, 1u, 0x7FFFFFFFu, 0xFFFFFFFEu, 0xFFFFFFFFu}) {
    for (unsigned k = 0; k < 32; ++k) {
      std::array<std::byte, 16> buffer{};
      BitWriter writer(buffer);
      writer.write_exp_golomb(value, k);
      const std::size_t bytes = writer.finish();
      ASSERT_FALSE(writer.overflowed());
      BitReader reader(std::span<const std::byte>(buffer).first(bytes));
      EXPECT_EQ(reader.read_exp_golomb(k), value) << "k=" << k;
      EXPECT_TRUE(reader.ok());
    }
  }
}

TEST(Bits, WriterOutOfRoomSaysSoAndTouchesNothingBehind) {
  std::array<std::byte, 4> buffer{};
  buffer[2] = std::byte{0xAB};
  BitWriter writer(std::span<std::byte>(buffer).first(2));
  writer.write(0xFFFFFFFF, 32);
  EXPECT_TRUE(writer.overflowed());
  EXPECT_EQ(buffer[2], std::byte{0xAB});
}

TEST(Bits, ReaderOutOfBitsGivesZerosAndSaysSo) {
  const std::array<std::byte, 1> buffer{std::byte{0xFF}};
  BitReader reader(buffer);
  EXPECT_EQ(reader.read(8), 0xFFu);
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(reader.read(32), 0u);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.read_exp_golomb(3), 0u);
  EXPECT_FALSE(reader.at_end());
}

TEST(Bits, EndlessUnaryCodeIsRefused) {
  std::array<std::byte, 64> ones{};
  ones.fill(std::byte{0xFF});
  BitReader reader(ones);
  reader.read_exp_golomb(0);
  EXPECT_FALSE(reader.ok());
}

TEST(Bits, BytesBehindTheBodyAreNoticed) {
  const std::array<std::byte, 2> buffer{std::byte{0x01}, std::byte{0x00}};
  BitReader reader(buffer);
  reader.read(1);
  EXPECT_FALSE(reader.at_end()) << "a whole byte is left";
  reader.read(8);
  EXPECT_TRUE(reader.at_end());
}

TEST(Bits, ZigzagRoundTripsAtTheEnds) {
  for (const std::int32_t value : {0, -1, 1, -2, 2, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(unzigzag(zigzag(value)), value);
  }
}

}  // namespace
}  // namespace shoal
