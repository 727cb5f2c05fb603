#include "shared/image/image_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/image/content_check.hpp"
#include "shared/image/image_file.hpp"

namespace shoal {
namespace {

const char* form_of(const ImageComponent& component) {
  switch (component.form) {
    case ImageForm::Fields:
      return component.fields.empty() ? "tag" : "fields";
    case ImageForm::Opaque:
      return "opaque";
    case ImageForm::Encoded:
      return "encoded";
  }
  return "unknown";
}

}  // namespace

Result<std::string, ImageError> image_statistics(std::span<const std::byte> image) {
  const AlignedBytes bytes(image);
  const auto content = decode_image(bytes.span());
  if (!content.ok()) return Failure{content.error()};
  if (const auto fault = fault_of(*content))
    return Failure{ImageError{ImageFault::Invalid, "it says what cannot be: " + *fault}};

  std::size_t width = std::string_view("component").size();
  for (const ImageComponent& component : content->components) width = std::max(width, component.name.size());
  std::string table = fmt::format("{:<{}} {:>8} {:>7} {:>9} {:>12} {:>12}\n", "component", width, "held",
                                  "fields", "entities", "value bytes", "all bytes");
  for (const ImageComponent& component : content->components) {
    table += fmt::format("{:<{}} {:>8} {:>7} {:>9} {:>12} {:>12}\n", component.name, width,
                         form_of(component), component.fields.size(), component.indices.size(),
                         component.size_bytes, component.values.size());
  }
  for (const ImageSection& section : content->sections)
    table += fmt::format("section \"{}\", {} bytes\n", section.name, section.bytes.size());
  const EntityTableState& entities = content->entities;
  const auto retired = std::count(entities.generations.begin(), entities.generations.end(), 0u);
  const std::size_t free = entities.free_queue.size() + entities.reserved_free.size();
  const std::size_t alive = entities.generations.size() - free - static_cast<std::size_t>(retired);
  return table + fmt::format("{} entities, {} free indices, {} retired, format {}, {} bytes\n", alive, free,
                             retired, kImageFormat, image.size());
}

}  // namespace shoal
