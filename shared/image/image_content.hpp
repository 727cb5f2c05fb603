// A world between its forms: what an image says, before it is bytes, JSON or a registry. Collected from a registry,
// read from a file or a text, written to either, installed into a registry; so each form is written and checked
// once.
//
// Nothing in it is proved until `install` has looked at it. It may point into the registry or the bytes that it was
// made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shared/base/result.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/image/field_layout.hpp"
#include "shared/image/image.hpp"

namespace shoal {

enum class ImageForm : std::uint8_t { Fields, Opaque, Encoded };  // numbers as in schema/image.fbs

struct ImageComponent {
  std::string name;
  ImageForm form = ImageForm::Fields;
  std::uint64_t descriptor_hash = 0;
  std::vector<ImageField> fields;  // Fields; none: a tag
  std::uint32_t size_bytes = 0;    // of a value; Encoded: 0
  std::span<const std::uint32_t> indices;
  std::span<const std::byte> values;
  std::span<const std::uint32_t> value_ends;  // Encoded

  // What the spans point to where nobody else holds it. Moves keep the addresses.
  std::vector<std::uint32_t> own_indices;
  std::vector<std::byte> own_values;
  std::vector<std::uint32_t> own_value_ends;

  ImageComponent() = default;
  ImageComponent(ImageComponent&&) = default;
  ImageComponent& operator=(ImageComponent&&) = default;

  /// Value number `at`. REQUIRES: the counts fit (install checks them).
  std::span<const std::byte> value(std::size_t at) const {
    if (form != ImageForm::Encoded) return values.subspan(at * size_bytes, size_bytes);
    const std::uint32_t begin = at == 0 ? 0 : value_ends[at - 1];
    return values.subspan(begin, value_ends[at] - begin);
  }
};

struct ImageContent {
  EntityTableState entities;
  std::vector<ImageComponent> components;
  std::vector<ImageSection> sections;
};

/// Points into the registry.
Result<ImageContent, ImageError> collect(const Registry& registry, const ImageTypes& types);

/// Checks everything, then changes the registry; on an error it is what it was. Takes the sections.
Result<LoadedImage, ImageError> install(Registry& registry, ImageContent content, const ImageTypes& types,
                                        LoadOptions options);

/// How this component type is held, or why it is not. Tags have no entry and are Fields.
struct ImageRule {
  ImageTypes::Form form = ImageTypes::Form::Fields;
  const ComponentDescriptor* descriptor = nullptr;
  const ValueCodec* codec = nullptr;
};
Result<ImageRule, ImageError> rule_of(const StorageBase& pool, const ImageTypes& types);

}  // namespace shoal
