#include "shared/image/image.hpp"

#include <utility>

#include "shared/image/image_content.hpp"
#include "shared/image/image_file.hpp"

namespace shoal {

Result<std::vector<std::byte>, ImageError> save_image(const Registry& registry, const ImageTypes& types,
                                                      std::span<const ImageSection> sections) {
  auto content = collect(registry, types);
  if (!content.ok()) return Failure{content.error()};
  content->sections.assign(sections.begin(), sections.end());
  return encode_image(*content);
}

Result<LoadedImage, ImageError> load_image(Registry& registry, std::span<const std::byte> bytes,
                                           const ImageTypes& types, LoadOptions options) {
  const AlignedBytes aligned(bytes);
  auto content = decode_image(aligned.span());
  if (!content.ok()) return Failure{content.error()};
  return install(registry, std::move(*content), types, options);
}

Result<std::vector<ImageSection>, ImageError> image_sections(std::span<const std::byte> bytes) {
  const AlignedBytes aligned(bytes);
  return decode_sections(aligned.span());
}

}  // namespace shoal
