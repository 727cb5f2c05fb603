#include "shared/net/packet_header.hpp"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "shared/base/assert.hpp"
#include "shared/base/little_endian.hpp"

namespace shoal {
namespace {

XXH128_canonical_t checksum(std::span<const std::byte> bytes) {
  XXH128_canonical_t tag;
  XXH128_canonicalFromHash(&tag, XXH3_128bits(bytes.data(), bytes.size()));
  return tag;
}
static_assert(sizeof(XXH128_canonical_t) == kPacketTagBytes);

void put_header(const PacketHeader& header, std::byte* target) {
  target[0] = static_cast<std::byte>(header.type);
  store_little_endian(target + 1, header.connection);
  store_little_endian(target + 9, header.sequence.value);
}

}  // namespace

std::optional<HeaderError> read_header(std::span<const std::byte> datagram, PacketHeader& header) {
  if (datagram.size() < kPacketHeaderBytes + kPacketTagBytes) return HeaderError::TooShort;
  if (datagram.size() > kMaxDatagramBytes) return HeaderError::TooLong;
  const std::uint8_t type = static_cast<std::uint8_t>(datagram[0]);
  if (type < static_cast<std::uint8_t>(DatagramType::Hello) ||
      type > static_cast<std::uint8_t>(DatagramType::Denial)) {
    return HeaderError::UnknownType;
  }
  header = {static_cast<DatagramType>(type), load_little_endian<std::uint64_t>(&datagram[1]),
            Sequence{load_little_endian<std::uint64_t>(&datagram[9])}};
  return std::nullopt;
}

std::size_t write_clear(const PacketHeader& header, std::span<const std::byte> body,
                        std::span<std::byte, kMaxDatagramBytes> datagram) {
  SHOAL_ASSERT(body.size() <= kMaxPacketBodyBytes, "the body does not fit a datagram");
  put_header(header, datagram.data());
  std::copy(body.begin(), body.end(), datagram.begin() + kPacketHeaderBytes);
  const std::size_t tag_at = kPacketHeaderBytes + body.size();
  const XXH128_canonical_t tag = checksum(datagram.first(tag_at));
  std::memcpy(&datagram[tag_at], &tag, sizeof tag);
  return tag_at + sizeof tag;
}

std::optional<HeaderError> read_clear(std::span<const std::byte> datagram, BodyBuffer& buffer,
                                      Opened& opened) {
  if (const auto error = read_header(datagram, opened.header)) return error;
  if (is_sealed(opened.header.type)) return HeaderError::UnknownType;
  const std::size_t tag_at = datagram.size() - kPacketTagBytes;
  const XXH128_canonical_t tag = checksum(datagram.first(tag_at));
  if (std::memcmp(&tag, &datagram[tag_at], sizeof tag) != 0) return HeaderError::BadTag;
  const std::size_t body_bytes = tag_at - kPacketHeaderBytes;
  std::memcpy(buffer.bytes.data(), &datagram[kPacketHeaderBytes], body_bytes);
  opened.body = {buffer.bytes.data(), body_bytes};
  return std::nullopt;
}

std::size_t seal(const SealingKey& key, const PacketHeader& header, std::span<const std::byte> clear,
                 std::span<const std::byte> body, std::span<std::byte, kMaxDatagramBytes> datagram) {
  SHOAL_ASSERT(clear.size() + body.size() <= kMaxPacketBodyBytes,
               "the body does not fit a datagram: ask payload_room() first");
  put_header(header, datagram.data());
  std::copy(clear.begin(), clear.end(), datagram.begin() + kPacketHeaderBytes);
  const std::size_t body_at = kPacketHeaderBytes + clear.size();
  const std::size_t tag_at = body_at + body.size();
  key.seal(header.sequence.value, datagram.first(body_at), body, &datagram[body_at],
           datagram.subspan(tag_at).first<kPacketTagBytes>());
  return tag_at + kPacketTagBytes;
}

std::optional<HeaderError> open(const SealingKey& key, std::span<const std::byte> datagram,
                                std::size_t clear_bytes, BodyBuffer& buffer, Opened& opened) {
  if (const auto error = read_header(datagram, opened.header)) return error;
  const std::size_t body_at = kPacketHeaderBytes + clear_bytes;
  if (datagram.size() < body_at + kPacketTagBytes) return HeaderError::TooShort;
  const std::size_t tag_at = datagram.size() - kPacketTagBytes;
  if (!key.open(opened.header.sequence.value, datagram.first(body_at),
                datagram.subspan(body_at, tag_at - body_at),
                datagram.subspan(tag_at).first<kPacketTagBytes>(), buffer.bytes.data())) {
    return HeaderError::BadTag;
  }
  opened.body = {buffer.bytes.data(), tag_at - body_at};
  return std::nullopt;
}

}  // namespace shoal
