// The bytes of an image: 32 bytes of header, then a FlatBuffers buffer of schema/image.fbs. All numbers are
// little-endian. The header is the same in every version, so that any reader can tell a damaged file from one that
// is too new:
//
//   offset  bytes
//        0      8  "shoalimg"
//        8      8  format version
//       16      8  length of the body in bytes
//       24      8  XXH3-64 of bytes 0 to 23 and of the body
//       32         the body
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/image/image_content.hpp"

namespace shoal {

inline constexpr std::size_t kImageHeaderBytes = 32;
inline constexpr std::uint64_t kImageFormat = 1;

/// The header before this body; of a later format only in tests.
std::vector<std::byte> with_image_header(std::span<const std::byte> body,
                                         std::uint64_t format = kImageFormat);

/// The same bytes where decode_image wants them, copied if they lie elsewhere.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::span<const std::byte> bytes);
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::span<const std::byte> span() const { return span_; }

 private:
  std::vector<std::byte> copy_;
  std::span<const std::byte> span_;
};

Result<std::vector<std::byte>, ImageError> encode_image(const ImageContent& content);
/// Points into `bytes`. REQUIRES: they begin at a multiple of 8.
Result<ImageContent, ImageError> decode_image(std::span<const std::byte> bytes);
/// The sections alone, whatever the format is. REQUIRES: as decode_image.
Result<std::vector<ImageSection>, ImageError> decode_sections(std::span<const std::byte> bytes);

}  // namespace shoal
