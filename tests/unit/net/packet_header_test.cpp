#include "shared/net/packet_header.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "shared/base/random.hpp"

namespace shoal {
namespace {

struct Sealed {
  std::array<std::byte, kMaxDatagramBytes> bytes;
  std::size_t size = 0;
  std::span<std::byte> span() { return {bytes.data(), size}; }
};

Sealed seal_some(const PacketHeader& header, std::size_t body_bytes) {
  Sealed sealed;
  std::vector<std::byte> body(body_bytes);
  for (std::size_t i = 0; i < body_bytes; ++i) body[i] = static_cast<std::byte>(i * 7);
  sealed.size = seal(header, body, sealed.bytes);
  return sealed;
}

TEST(PacketHeader, OpensWhatWasSealed) {
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, kMaxPacketBodyBytes}) {
    const PacketHeader header{DatagramType::Packet, kTop - 3, Sequence{kTop}};
    Sealed sealed = seal_some(header, size);
    EXPECT_EQ(sealed.size, size + kPacketHeaderBytes + kPacketTagBytes);
    BodyBuffer buffer;
    Opened opened;
    ASSERT_FALSE(open(sealed.span(), buffer, opened));
    EXPECT_EQ(opened.header, header);
    ASSERT_EQ(opened.body.size(), size);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(opened.body[i], static_cast<std::byte>(i * 7));
  }
}

// T8
TEST(PacketHeader, NothingLargerThan1200BytesIsEverMade) {
  EXPECT_EQ(seal_some({}, kMaxPacketBodyBytes).size, 1200u);
  EXPECT_DEATH(seal_some({}, kMaxPacketBodyBytes + 1), "does not fit a datagram");
}

TEST(PacketHeader, EveryFlippedBitIsFound) {
  Sealed sealed = seal_some({DatagramType::Packet, 77, Sequence{5}}, 60);
  BodyBuffer buffer;
  Opened opened;
  for (std::size_t bit = 0; bit < sealed.size * 8; ++bit) {
    sealed.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(open(sealed.span(), buffer, opened)) << "bit " << bit;
    sealed.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_FALSE(open(sealed.span(), buffer, opened));
}

TEST(PacketHeader, EveryShorterLengthIsFound) {
  Sealed sealed = seal_some({DatagramType::Packet, 77, Sequence{5}}, 60);
  BodyBuffer buffer;
  Opened opened;
  for (std::size_t size = 0; size < sealed.size; ++size) {
    const auto error = open(sealed.span().first(size), buffer, opened);
    ASSERT_TRUE(error) << size;
    EXPECT_EQ(*error,
              size < kPacketHeaderBytes + kPacketTagBytes ? HeaderError::TooShort : HeaderError::BadTag);
  }
}

TEST(PacketHeader, TooLongAndUnknownTypesAreToldApart) {
  BodyBuffer buffer;
  Opened opened;
  EXPECT_EQ(open(std::vector<std::byte>(1201), buffer, opened), HeaderError::TooLong);
  EXPECT_EQ(open(std::vector<std::byte>(100, std::byte{0}), buffer, opened), HeaderError::UnknownType);
  EXPECT_EQ(open(std::vector<std::byte>(100, std::byte{7}), buffer, opened), HeaderError::UnknownType);
  EXPECT_EQ(open(std::vector<std::byte>(100, std::byte{6}), buffer, opened), HeaderError::BadTag);
}

TEST(PacketHeader, BodyIsAlignedForFlatBuffers) {
  Sealed sealed = seal_some({}, 64);
  BodyBuffer buffer;
  Opened opened;
  ASSERT_FALSE(open(sealed.span(), buffer, opened));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(opened.body.data()) % 16, 0u);
}

}  // namespace
}  // namespace shoal
