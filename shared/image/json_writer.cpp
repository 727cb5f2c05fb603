// Entities and worlds as JSON text.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "shared/base/assert.hpp"
#include "shared/image/content_check.hpp"
#include "shared/image/image_content.hpp"
#include "shared/image/image_file.hpp"
#include "shared/image/json.hpp"
#include "shared/image/value_json.hpp"

namespace shoal {
namespace {

constexpr std::uint32_t kAbsent = 0xFFFFFFFF;

// One component type's members in the objects of entities.
class MemberWriter {
 public:
  MemberWriter(std::string_view name, ImageForm form, std::span<const ImageField> fields)
      : prefix_(json_string(name) + ':'), form_(form), tree_(fields) {}

  void write(std::span<const std::byte> value, std::string& target) const {
    if (target.back() != '{') target += ',';
    target += prefix_;
    if (form_ == ImageForm::Fields) {
      tree_.write(value, target);
    } else {
      target += '"' + hexadecimal(value) + '"';
    }
  }

 private:
  std::string prefix_;
  ImageForm form_;
  FieldTree tree_;
};

void begin_entity(Entity entity, std::string& target) {
  target += fmt::format("{{\"entity\":{},\"components\":{{", json_of(entity));
}

// The components of single entities of a registry.
class EntityWriter {
 public:
  EntityWriter(const Registry& registry, const ImageTypes& types) : registry_(registry), types_(types) {
    members_.resize(registry.component_count());
  }

  std::optional<ImageError> write(Entity entity, std::string& target) {
    SHOAL_ASSERT(registry_.alive(entity), "JSON of an entity that is not alive; test with alive()");
    begin_entity(entity, target);
    for (std::uint16_t type = 0; type < registry_.component_count(); ++type) {
      if (!registry_.has(entity, ComponentType{type})) continue;
      if (auto error = write(registry_.storage(ComponentType{type}), entity, target)) return error;
    }
    target += "}}";
    return std::nullopt;
  }

 private:
  std::optional<ImageError> write(const StorageBase& pool, Entity entity, std::string& target) {
    const auto rule = rule_of(pool, types_);
    if (!rule.ok()) return rule.error();
    if (rule->form == ImageTypes::Form::LeftOut) return std::nullopt;
    std::optional<MemberWriter>& member = members_[pool.type().value];
    if (!member) {
      member.emplace(pool.name(), static_cast<ImageForm>(rule->form),
                     rule->descriptor != nullptr ? fields_of(*rule->descriptor) : std::vector<ImageField>());
    }
    const void* const value = pool.find(entity.index);
    std::span<const std::byte> bytes(static_cast<const std::byte*>(value), pool.value_bytes());
    std::vector<std::byte> encoded;
    if (rule->form == ImageTypes::Form::Encoded) {
      rule->codec->write(value, encoded);
      bytes = encoded;
    }
    member->write(bytes, target);
    return std::nullopt;
  }

  const Registry& registry_;
  const ImageTypes& types_;
  std::vector<std::optional<MemberWriter>> members_;
};

void write_numbers(std::string_view name, std::span<const std::uint32_t> numbers, std::string& target) {
  target += json_string(name) + ":[";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    fmt::format_to(std::back_inserter(target), "{}{}", i == 0 ? "" : ",", numbers[i]);
  target += ']';
}

// Where each index stands in a component.
std::vector<std::uint32_t> places_of(const ImageComponent& component, std::size_t indices) {
  std::vector<std::uint32_t> places(indices, kAbsent);
  for (std::uint32_t at = 0; at < component.indices.size(); ++at) places[component.indices[at]] = at;
  return places;
}

// REQUIRES: content_check found no fault.
std::string world_text(const ImageContent& content) {
  const auto& generations = content.entities.generations;
  std::vector<std::vector<std::uint32_t>> places;
  std::vector<MemberWriter> members;
  for (const ImageComponent& component : content.components) {
    places.push_back(places_of(component, generations.size()));
    members.emplace_back(component.name, component.form, component.fields);
  }
  std::string text = "{\n";
  write_numbers("generations", generations, text);
  text += ",\n";
  write_numbers("free_queue", content.entities.free_queue, text);
  if (content.entities.reserved > 0) {
    text += fmt::format(",\n\"reserved\":{},\n", content.entities.reserved);
    write_numbers("reserved_free", content.entities.reserved_free, text);
  }
  text += ",\n\"entities\":[";
  const std::vector<bool> living = living_of(content.entities);
  const char* separator = "\n";
  for (std::uint32_t index = 0; index < generations.size(); ++index) {
    if (!living[index]) continue;
    text += separator;
    separator = ",\n";
    begin_entity({index, generations[index]}, text);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const ImageComponent& component = content.components[i];
      if (const std::uint32_t at = places[i][index]; at != kAbsent)
        members[i].write(component.value(at), text);
    }
    text += "}}";
  }
  text += "],\n\"orders\":{";
  for (const ImageComponent& component : content.components) {
    // Rising is what a reader takes without a word.
    if (std::is_sorted(component.indices.begin(), component.indices.end())) continue;
    if (text.back() != '{') text += ',';
    text += '\n';
    write_numbers(component.name, component.indices, text);
  }
  text += "},\n\"sections\":{";
  for (const ImageSection& section : content.sections) {
    if (text.back() != '{') text += ',';
    text += fmt::format("\n{}:\"{}\"", json_string(section.name), hexadecimal(section.bytes));
  }
  return text + "}\n}\n";
}

}  // namespace

Result<std::string, ImageError> entity_json(const Registry& registry, Entity entity,
                                            const ImageTypes& types) {
  std::string text;
  if (auto error = EntityWriter(registry, types).write(entity, text)) return Failure{*std::move(error)};
  return text;
}

Result<std::string, ImageError> entities_json(const Registry& registry, std::span<const Entity> entities,
                                              const ImageTypes& types) {
  EntityWriter writer(registry, types);
  std::string text = "[";
  for (const Entity entity : entities) {
    text += text.size() == 1 ? "\n" : ",\n";
    if (auto error = writer.write(entity, text)) return Failure{*std::move(error)};
  }
  return text + "]\n";
}

Result<std::string, ImageError> world_json(const Registry& registry, const ImageTypes& types,
                                           std::span<const ImageSection> sections) {
  auto content = collect(registry, types);
  if (!content.ok()) return Failure{content.error()};
  content->sections.assign(sections.begin(), sections.end());
  return world_text(*content);
}

Result<std::string, ImageError> json_of_image(std::span<const std::byte> image) {
  const AlignedBytes bytes(image);
  const auto content = decode_image(bytes.span());
  if (!content.ok()) return Failure{content.error()};
  if (const auto fault = fault_of(*content))
    return Failure{ImageError{ImageFault::Invalid, "it says what cannot be: " + *fault}};
  return world_text(*content);
}

}  // namespace shoal
