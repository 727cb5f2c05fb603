#include "shared/image/image_file.hpp"

#include <flatbuffers/flatbuffers.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "schema/image_generated.h"
#include "shared/base/assert.hpp"
#include "shared/base/hash.hpp"

namespace shoal {
namespace {

static_assert(std::endian::native == std::endian::little, "images hold values as they lie in memory");
static_assert(static_cast<int>(image::ScalarType::Bool) == static_cast<int>(FieldType::Bool) &&
                  static_cast<int>(image::ScalarType::Float) == static_cast<int>(FieldType::Float) &&
                  static_cast<int>(image::ScalarType::Entity) == static_cast<int>(FieldType::Entity) &&
                  static_cast<int>(image::ScalarType::MAX) == static_cast<int>(FieldType::Entity),
              "images keep the numbers of field types");
static_assert(static_cast<int>(image::Form::MAX) == static_cast<int>(ImageForm::Encoded));

constexpr char kMagic[8] = {'s', 'h', 'o', 'a', 'l', 'i', 'm', 'g'};
constexpr std::size_t kHashedHeaderBytes = 24;
constexpr std::uintptr_t kAlignment = 8;
// What a builder of FlatBuffers can hold, less what the tables around the values may need.
constexpr std::size_t kMaxContentBytes = FLATBUFFERS_MAX_BUFFER_SIZE - (std::size_t{64} << 20);

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::uint64_t checksum(std::span<const std::byte> header, std::span<const std::byte> body) {
  XXH3_state_t state;
  XXH3_64bits_reset(&state);
  XXH3_64bits_update(&state, header.data(), kHashedHeaderBytes);
  XXH3_64bits_update(&state, body.data(), body.size());
  return XXH3_64bits_digest(&state);
}

void write_header(std::span<std::byte> bytes, std::uint64_t format) {
  const std::uint64_t length = bytes.size() - kImageHeaderBytes;
  std::memset(bytes.data(), 0, kImageHeaderBytes);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  std::memcpy(bytes.data() + 8, &format, sizeof format);
  std::memcpy(bytes.data() + 16, &length, sizeof length);
  const std::uint64_t sum = checksum(bytes, bytes.subspan(kImageHeaderBytes));
  std::memcpy(bytes.data() + kHashedHeaderBytes, &sum, sizeof sum);
}

ImageError invalid(std::string text) {
  return {ImageFault::Invalid, "it says what cannot be: " + std::move(text)};
}

enum class Formats : std::uint8_t { Known, Any };

// The body, after everything that can be told without looking into it.
Result<std::span<const std::byte>, ImageError> open(std::span<const std::byte> bytes, Formats formats) {
  const std::size_t known = std::min(bytes.size(), sizeof kMagic);
  if (!std::equal(kMagic, kMagic + known, reinterpret_cast<const char*>(bytes.data())))
    return Failure{
        ImageError{ImageFault::Foreign, "this is no image of a world: it does not begin with \"shoalimg\""}};
  if (bytes.size() < kImageHeaderBytes) {
    return Failure{
        ImageError{ImageFault::Truncated,
                   fmt::format("the image is cut off: {} bytes are not even its header", bytes.size())}};
  }
  const auto length = number_at<std::uint64_t>(bytes, 16);
  const std::span<const std::byte> body = bytes.subspan(kImageHeaderBytes);
  if (length > body.size()) {
    return Failure{
        ImageError{ImageFault::Truncated,
                   fmt::format("the image is cut off: {} bytes of {} are here", body.size(), length)}};
  }
  if (length < body.size() ||
      checksum(bytes, body.first(length)) != number_at<std::uint64_t>(bytes, kHashedHeaderBytes)) {
    return Failure{ImageError{
        ImageFault::Damaged,
        "the image is damaged: its checksum does not fit; copy the file again, or take an older one"}};
  }
  // Only now: in a damaged file these bytes may say anything.
  const auto format = number_at<std::uint64_t>(bytes, 8);
  if (format != kImageFormat && formats == Formats::Known) {
    if (format < kImageFormat) return Failure{invalid(fmt::format("its format {} never was", format))};
    return Failure{
        ImageError{ImageFault::NewerFormat,
                   fmt::format("the image has format {}, this program knows {}: update the program", format,
                               kImageFormat)}};
  }
  return body;
}

template <class T>
std::span<const T> span_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? std::span<const T>() : std::span<const T>(vector->data(), vector->size());
}
std::vector<std::uint32_t> list_of(const flatbuffers::Vector<std::uint32_t>* vector) {
  const auto span = span_of(vector);
  return {span.begin(), span.end()};
}
std::span<const std::byte> bytes_of(const flatbuffers::Vector<std::uint8_t>* vector) {
  return std::as_bytes(span_of(vector));
}

flatbuffers::Offset<image::Component> write(flatbuffers::FlatBufferBuilder& builder,
                                            const ImageComponent& component) {
  std::vector<flatbuffers::Offset<image::Field>> fields;
  for (const ImageField& field : component.fields) {
    fields.push_back(image::CreateField(builder, builder.CreateString(field.path),
                                        static_cast<image::ScalarType>(field.type), field.offset_bytes));
  }
  const auto name = builder.CreateString(component.name);
  const auto field_vector = fields.empty() ? 0 : builder.CreateVector(fields);
  const auto indices = builder.CreateVector(component.indices.data(), component.indices.size());
  const auto values = builder.CreateVector(reinterpret_cast<const std::uint8_t*>(component.values.data()),
                                           component.values.size());
  const auto ends = component.value_ends.empty()
                        ? 0
                        : builder.CreateVector(component.value_ends.data(), component.value_ends.size());
  return image::CreateComponent(builder, name, fnv1a32(component.name),
                                static_cast<image::Form>(component.form), component.descriptor_hash,
                                field_vector, component.size_bytes, indices, values, ends);
}

std::size_t content_bytes(const ImageContent& content) {
  std::size_t bytes = 1024 + 4 * (2 * content.entities.generations.size());
  for (const ImageComponent& component : content.components) {
    bytes += 128 + component.name.size() + 4 * (component.indices.size() + component.value_ends.size()) +
             component.values.size();
    for (const ImageField& field : component.fields) bytes += 32 + field.path.size();
  }
  for (const ImageSection& section : content.sections)
    bytes += 64 + section.name.size() + section.bytes.size();
  return bytes;
}

Result<ImageComponent, ImageError> read(const image::Component& source) {
  ImageComponent component;
  component.name = source.name()->str();
  if (source.wire_id() != fnv1a32(component.name))
    return Failure{invalid(fmt::format("the wire id of {} is not its own", component.name))};
  if (source.form() > image::Form::MAX)
    return Failure{invalid(fmt::format("{} has a form that never was", component.name))};
  component.form = static_cast<ImageForm>(source.form());
  component.descriptor_hash = source.descriptor_hash();
  component.size_bytes = source.size_bytes();
  component.indices = span_of(source.indices());
  component.values = bytes_of(source.values());
  component.value_ends = span_of(source.value_ends());
  if (source.fields() == nullptr) return component;
  for (const image::Field* field : *source.fields()) {
    if (field->type() > image::ScalarType::MAX)
      return Failure{
          invalid(fmt::format("{}.{} has a type that never was", component.name, field->path()->str()))};
    component.fields.push_back(
        {field->path()->str(), static_cast<FieldType>(field->type()), field->offset_bytes()});
  }
  return component;
}

// Points into `bytes`.
Result<const image::World*, ImageError> world_in(std::span<const std::byte> bytes, Formats formats) {
  SHOAL_ASSERT(reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment == 0,
               "an image is read from misaligned bytes");
  const auto body = open(bytes, formats);
  if (!body.ok()) return Failure{body.error()};
  // World, component, field. Each component and field is a table, and no world has so many.
  flatbuffers::Verifier verifier(reinterpret_cast<const std::uint8_t*>(body->data()), body->size(), 4,
                                 1u << 20);
  if (body->size() < 12 || !image::VerifyWorldBuffer(verifier))
    return Failure{invalid("it is no buffer of schema/image.fbs")};
  return image::GetWorld(body->data());
}

std::vector<ImageSection> sections_of(const image::World& world) {
  std::vector<ImageSection> sections;
  if (world.sections() == nullptr) return sections;
  for (const image::Section* section : *world.sections()) {
    const auto bytes = bytes_of(section->bytes());
    sections.push_back({section->name()->str(), {bytes.begin(), bytes.end()}});
  }
  return sections;
}

}  // namespace

std::vector<std::byte> with_image_header(std::span<const std::byte> body, std::uint64_t format) {
  std::vector<std::byte> bytes;
  bytes.reserve(kImageHeaderBytes + body.size());
  bytes.resize(kImageHeaderBytes);
  bytes.insert(bytes.end(), body.begin(), body.end());
  write_header(bytes, format);
  return bytes;
}

AlignedBytes::AlignedBytes(std::span<const std::byte> bytes) : span_(bytes) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % kAlignment == 0) return;
  copy_.assign(bytes.begin(), bytes.end());
  span_ = copy_;
}

Result<std::vector<std::byte>, ImageError> encode_image(const ImageContent& content) {
  const std::size_t estimate = content_bytes(content);
  if (estimate > kMaxContentBytes) {
    return Failure{ImageError{
        ImageFault::Limits,
        fmt::format("the world takes {} bytes, an image holds at most {}", estimate, kMaxContentBytes)}};
  }
  // Of the right size at once: growing would copy everything again.
  flatbuffers::FlatBufferBuilder builder(estimate);
  std::vector<flatbuffers::Offset<image::Component>> components;
  for (const ImageComponent& component : content.components) components.push_back(write(builder, component));
  std::vector<flatbuffers::Offset<image::Section>> sections;
  for (const ImageSection& section : content.sections) {
    const auto name = builder.CreateString(section.name);
    sections.push_back(
        image::CreateSection(builder, name,
                             builder.CreateVector(reinterpret_cast<const std::uint8_t*>(section.bytes.data()),
                                                  section.bytes.size())));
  }
  const auto generations = builder.CreateVector(content.entities.generations);
  const auto free_queue = builder.CreateVector(content.entities.free_queue);
  const auto reserved_free = builder.CreateVector(content.entities.reserved_free);
  const auto component_vector = builder.CreateVector(components);
  const auto section_vector = builder.CreateVector(sections);
  image::FinishWorldBuffer(
      builder, image::CreateWorld(builder, generations, free_queue, component_vector, section_vector,
                                  content.entities.reserved, reserved_free));
  return with_image_header(std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())));
}

Result<ImageContent, ImageError> decode_image(std::span<const std::byte> bytes) {
  const auto verified = world_in(bytes, Formats::Known);
  if (!verified.ok()) return Failure{verified.error()};
  const image::World& world = **verified;

  ImageContent content;
  content.entities.generations = list_of(world.generations());
  content.entities.free_queue = list_of(world.free_queue());
  content.entities.reserved_free = list_of(world.reserved_free());
  content.entities.reserved = world.reserved();
  if (world.components() != nullptr) {
    for (const image::Component* source : *world.components()) {
      auto component = read(*source);
      if (!component.ok()) return Failure{component.error()};
      content.components.push_back(std::move(*component));
    }
  }
  content.sections = sections_of(world);
  return content;
}

Result<std::vector<ImageSection>, ImageError> decode_sections(std::span<const std::byte> bytes) {
  const auto verified = world_in(bytes, Formats::Any);
  if (!verified.ok()) return Failure{verified.error()};
  return sections_of(**verified);
}

}  // namespace shoal
