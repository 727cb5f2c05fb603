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

const SealingKey kKey(Cipher::ChaCha20Poly1305, Secret{});
constexpr std::array kClear{std::byte{1}, std::byte{2}, std::byte{3}};
constexpr std::size_t kRoom = kMaxPacketBodyBytes - kClear.size();

Sealed seal_some(const PacketHeader& header, std::size_t body_bytes) {
  Sealed sealed;
  std::vector<std::byte> body(body_bytes);
  for (std::size_t i = 0; i < body_bytes; ++i) body[i] = static_cast<std::byte>(i * 7);
  sealed.size = seal(kKey, header, kClear, body, sealed.bytes);
  return sealed;
}

std::optional<HeaderError> open_some(std::span<const std::byte> datagram, BodyBuffer& buffer,
                                     Opened& opened) {
  return open(kKey, datagram, kClear.size(), buffer, opened);
}

TEST(PacketHeader, OpensWhatWasSealed) {
  constexpr std::uint64_t kTop = std::numeric_limits<std::uint64_t>::max();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, kRoom}) {
    const PacketHeader header{DatagramType::Packet, kTop - 3, Sequence{kTop}};
    Sealed sealed = seal_some(header, size);
    EXPECT_EQ(sealed.size, size + kPacketHeaderBytes + kClear.size() + kPacketTagBytes);
    BodyBuffer buffer;
    Opened opened;
    ASSERT_FALSE(open_some(sealed.span(), buffer, opened));
    EXPECT_EQ(opened.header, header);
    ASSERT_EQ(opened.body.size(), size);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(opened.body[i], static_cast<std::byte>(i * 7));
  }
}

// T8
TEST(PacketHeader, NothingLargerThan1200BytesIsEverMade) {
  EXPECT_EQ(seal_some({}, kRoom).size, 1200u);
  EXPECT_DEATH(seal_some({}, kRoom + 1), "does not fit a datagram");
}

TEST(PacketHeader, EveryFlippedBitIsFound) {
  Sealed sealed = seal_some({DatagramType::Packet, 77, Sequence{5}}, 60);
  BodyBuffer buffer;
  Opened opened;
  for (std::size_t bit = 0; bit < sealed.size * 8; ++bit) {
    sealed.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(open_some(sealed.span(), buffer, opened)) << "bit " << bit;
    sealed.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
  EXPECT_FALSE(open_some(sealed.span(), buffer, opened));
}

TEST(PacketHeader, EveryShorterLengthIsFound) {
  Sealed sealed = seal_some({DatagramType::Packet, 77, Sequence{5}}, 60);
  BodyBuffer buffer;
  Opened opened;
  for (std::size_t size = 0; size < sealed.size; ++size) {
    const auto error = open_some(sealed.span().first(size), buffer, opened);
    ASSERT_TRUE(error) << size;
    EXPECT_EQ(*error, size < kPacketHeaderBytes + kClear.size() + kPacketTagBytes ? HeaderError::TooShort
                                                                                  : HeaderError::BadTag);
  }
}

TEST(PacketHeader, TooLongAndUnknownTypesAreToldApart) {
  BodyBuffer buffer;
  Opened opened;
  const auto all = [](std::size_t size, int value) {
    return std::vector<std::byte>(size, static_cast<std::byte>(value));
  };
  for (const auto read :
       {+[](std::span<const std::byte> bytes, BodyBuffer& b, Opened& o) { return open_some(bytes, b, o); },
        +[](std::span<const std::byte> bytes, BodyBuffer& b, Opened& o) {
          return read_clear(bytes, b, o);
        }}) {
    EXPECT_EQ(read(all(1201, 0), buffer, opened), HeaderError::TooLong);
    EXPECT_EQ(read(all(100, 0), buffer, opened), HeaderError::UnknownType);
    EXPECT_EQ(read(all(100, 8), buffer, opened), HeaderError::UnknownType);
    EXPECT_EQ(read(all(100, 1), buffer, opened), HeaderError::BadTag);
  }
  EXPECT_EQ(read_clear(all(100, 6), buffer, opened), HeaderError::UnknownType) << "a Packet is sealed";
}

TEST(PacketHeader, EveryFlippedBitOfAClearDatagramIsFound) {
  std::array<std::byte, kMaxDatagramBytes> bytes;
  const std::size_t size = write_clear({DatagramType::Challenge, 5, Sequence{}}, kClear, bytes);
  BodyBuffer buffer;
  Opened opened;
  ASSERT_FALSE(read_clear(std::span(bytes).first(size), buffer, opened));
  EXPECT_EQ(opened.body.size(), kClear.size());
  for (std::size_t bit = 0; bit < size * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_TRUE(read_clear(std::span(bytes).first(size), buffer, opened)) << "bit " << bit;
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
  }
}

TEST(PacketHeader, BodyIsAlignedForFlatBuffers) {
  Sealed sealed = seal_some({}, 64);
  BodyBuffer buffer;
  Opened opened;
  ASSERT_FALSE(open_some(sealed.span(), buffer, opened));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(opened.body.data()) % 16, 0u);
}

}  // namespace
}  // namespace shoal
