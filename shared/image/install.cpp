// The content of an image becomes a registry's state: first everything is checked and every value made ready, then
// everything changes, and nothing of that can fail.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/image/content_check.hpp"
#include "shared/image/image_content.hpp"

namespace shoal {
namespace {

Failure<ImageError> invalid(std::string text) {
  return Failure{ImageError{ImageFault::Invalid, "it says what cannot be: " + std::move(text)}};
}
Failure<ImageError> changed(std::string text) {
  return Failure{ImageError{ImageFault::ChangedType, std::move(text)}};
}

// One pool's share, ready to be taken.
struct Share {
  ComponentType type;
  const ImageComponent* component;
  std::span<const std::byte> values;            // as they go into the pool
  std::vector<std::byte> own_values;            // what `values` points to, unless the image's own
  std::unique_ptr<ValueCodec::Values> decoded;  // instead of `values`
};

class Installer {
 public:
  Installer(Registry& registry, ImageContent& content, const ImageTypes& types, LoadOptions options)
      : registry_(registry), content_(content), types_(types), options_(options) {}

  Result<LoadedImage, ImageError> run() {
    if (auto error = check()) return Failure{*std::move(error)};
    change();
    if (options_.fire_on_construct) fire();
    LoadedImage loaded;
    loaded.entities = entities_;
    loaded.notes = std::move(notes_);
    loaded.sections = std::move(content_.sections);
    return loaded;
  }

 private:
  using Fault = std::optional<ImageError>;

  Fault check() {
    if (auto fault = fault_of(content_.entities)) return invalid(*fault).error;
    if (content_.entities.generations.size() > registry_.max_entities()) {
      return ImageError{ImageFault::Limits,
                        fmt::format("the image has {} entity indices, the registry allows {}: raise "
                                    "RegistryLimits::max_entities",
                                    content_.entities.generations.size(), registry_.max_entities())};
    }
    if (content_.entities.reserved != registry_.entity_table().reserved()) {
      return ImageError{ImageFault::Limits,
                        fmt::format("the image reserves {} entity indices, the registry {}: make "
                                    "RegistryLimits::reserved_indices the same",
                                    content_.entities.reserved, registry_.entity_table().reserved())};
    }
    const std::vector<bool> living = living_of(content_.entities);
    entities_ = static_cast<std::size_t>(std::count(living.begin(), living.end(), true));
    std::set<std::string_view> names;
    for (const ImageComponent& component : content_.components) {
      if (!names.insert(component.name).second) return invalid(component.name + " is in it twice").error;
      if (auto fault = check(component, living)) return fault;
    }
    names.clear();
    for (const ImageSection& section : content_.sections) {
      if (!names.insert(section.name).second)
        return invalid(fmt::format("the section \"{}\" is in it twice", section.name)).error;
    }
    std::sort(shares_.begin(), shares_.end(), [](const Share& a, const Share& b) { return a.type < b.type; });
    return std::nullopt;
  }

  Fault check(const ImageComponent& component, const std::vector<bool>& living) {
    const auto type = registry_.find_component(component.name);
    if (!type) {
      if (options_.unknown_components == UnknownComponents::Skip) {
        notes_.push_back(fmt::format("{} is not registered here: {} entities came without it", component.name,
                                     component.indices.size()));
        return std::nullopt;
      }
      return ImageError{
          ImageFault::UnknownComponent,
          fmt::format("the image has {} on {} entities, which is not registered here: register it before "
                      "freeze(), or load with UnknownComponents::Skip",
                      component.name, component.indices.size())};
    }
    const StorageBase& pool = registry_.storage(*type);
    if (&pool == &registry_.storage<Local>())
      return invalid("some of its entities are Local, which are never saved").error;
    const auto rule = rule_of(pool, types_);
    if (!rule.ok()) return rule.error();
    if (rule->form == ImageTypes::Form::LeftOut) {
      notes_.push_back(fmt::format("{} is left out here: {} entities came without it", component.name,
                                   component.indices.size()));
      return std::nullopt;
    }
    if (auto fault = fault_of(component, living)) return invalid(*fault).error;

    Share share{*type, &component, {}, {}, {}};
    if (auto fault = make_ready(share, *rule, pool)) return fault;
    if (dynamic_cast<const Storage<Node>*>(&pool) != nullptr) {
      std::vector<Node> nodes(component.indices.size());
      if (!nodes.empty()) std::memcpy(nodes.data(), share.values.data(), share.values.size());
      if (auto fault = hierarchy_fault(component.indices, nodes, content_.entities))
        return invalid(*fault).error;
    }
    shares_.push_back(std::move(share));
    return std::nullopt;
  }

  static const char* name_of(ImageTypes::Form form) {
    switch (form) {
      case ImageTypes::Form::Fields:
        return "by fields";
      case ImageTypes::Form::Opaque:
        return "as opaque bytes";
      case ImageTypes::Form::Encoded:
        return "as encoded by the game";
      case ImageTypes::Form::LeftOut:
        break;
    }
    return "not at all";
  }

  Fault make_ready(Share& share, const ImageRule& rule, const StorageBase& pool) {
    const ImageComponent& component = *share.component;
    static_assert(static_cast<int>(ImageForm::Fields) == static_cast<int>(ImageTypes::Form::Fields) &&
                  static_cast<int>(ImageForm::Opaque) == static_cast<int>(ImageTypes::Form::Opaque) &&
                  static_cast<int>(ImageForm::Encoded) == static_cast<int>(ImageTypes::Form::Encoded));
    const auto form = static_cast<ImageTypes::Form>(component.form);
    if (form != rule.form) {
      return changed(fmt::format("the image holds {} {}, here it is held {}: list it in ImageTypes as it was",
                                 component.name, name_of(form), name_of(rule.form)))
          .error;
    }
    switch (component.form) {
      case ImageForm::Fields:
        return map_fields(share, rule.descriptor);
      case ImageForm::Opaque:
        if (component.size_bytes != pool.value_bytes()) {
          return changed(
                     fmt::format(
                         "{} has {} bytes in the image and {} here, and opaque bytes cannot be converted: "
                         "give the new type another name",
                         component.name, component.size_bytes, pool.value_bytes()))
              .error;
        }
        share.values = component.values;
        return std::nullopt;
      case ImageForm::Encoded:
        share.decoded = rule.codec->values();
        for (std::size_t at = 0; at < component.indices.size(); ++at) {
          if (share.decoded->read(component.value(at))) continue;
          return invalid(fmt::format("the game's function does not read {} of entity index {}",
                                     component.name, component.indices[at]))
              .error;
        }
        return std::nullopt;
    }
    return std::nullopt;
  }

  Fault map_fields(Share& share, const ComponentDescriptor* descriptor) {
    const ImageComponent& component = *share.component;
    const std::vector<ImageField> fields =
        descriptor != nullptr ? fields_of(*descriptor) : std::vector<ImageField>();
    const std::size_t size = descriptor != nullptr ? descriptor->size_bytes : 0;
    if (auto fault = check_bools(component)) return fault;
    if (descriptor != nullptr && component.descriptor_hash != descriptor->hash && component.fields == fields)
      notes_.push_back(
          fmt::format("{} has another range, kind or enum in the schema: its numbers are what they were",
                      component.name));
    // The layouts themselves are compared, not their hashes, which also cover what does not matter here.
    if (component.fields == fields && component.size_bytes == size) {
      share.values = component.values;
      return std::nullopt;
    }
    const auto runs = map(component, fields);
    if (!runs.ok()) return runs.error();
    std::vector<std::byte> blank(size);
    write_default(fields, blank);
    share.own_values.resize(size * component.indices.size());
    for (std::size_t at = 0; at < component.indices.size() && size > 0; ++at) {
      std::byte* const target = share.own_values.data() + at * size;
      std::memcpy(target, blank.data(), size);
      for (const CopyRun& run : *runs)
        std::memcpy(target + run.target, component.value(at).data() + run.source, run.bytes);
    }
    share.values = share.own_values;
    return std::nullopt;
  }

  Result<std::vector<CopyRun>, ImageError> map(const ImageComponent& component,
                                               const std::vector<ImageField>& fields) {
    std::map<std::string_view, const ImageField*> saved;
    for (const ImageField& field : component.fields) saved.emplace(field.path, &field);
    std::vector<CopyRun> runs;
    for (const ImageField& field : fields) {
      const auto found = saved.find(field.path);
      if (found == saved.end()) {
        notes_.push_back(fmt::format("{}.{} is new: it has its default", component.name, field.path));
        continue;
      }
      if (found->second->type != field.type) {
        return changed(fmt::format("{}.{} is {} in the image and {} here: give the new field another name",
                                   component.name, field.path, shoal::name_of(found->second->type),
                                   shoal::name_of(field.type)));
      }
      runs.push_back({found->second->offset_bytes, field.offset_bytes, size_of(field.type)});
      saved.erase(found);
    }
    for (const auto& [path, field] : saved)
      notes_.push_back(fmt::format("{}.{} is gone: its values were dropped", component.name, path));
    return merged(std::move(runs));
  }

  // Any other byte in a bool is undefined behaviour for whoever reads it.
  Fault check_bools(const ImageComponent& component) const {
    for (const ImageField& field : component.fields) {
      if (field.type != FieldType::Bool) continue;
      for (std::size_t at = 0; at < component.indices.size(); ++at) {
        if (std::to_integer<unsigned>(component.value(at)[field.offset_bytes]) <= 1) continue;
        return invalid(fmt::format("{}.{} of entity index {} is neither true nor false", component.name,
                                   field.path, component.indices[at]))
            .error;
      }
    }
    return std::nullopt;
  }

  void change() {
    registry_.restore_entities(content_.entities);
    for (Share& share : shares_) {
      StorageBase& pool = registry_.storage(share.type);
      if (share.decoded != nullptr) {
        pool.adopt(share.component->indices,
                   [&](std::byte* place, std::size_t at) { share.decoded->move_to(place, at); });
      } else {
        pool.adopt(share.component->indices, share.values.data());
      }
    }
    registry_.rebuild_groups();
  }

  void fire() {
    for (const Share& share : shares_) {
      StorageBase& pool = registry_.storage(share.type);
      if (pool.on_construct().empty()) continue;
      std::vector<Entity> entities;  // listeners may change the pool
      for (std::size_t at = 0; at < pool.size(); ++at) entities.push_back(pool.entity_at(at));
      for (const Entity entity : entities) pool.publish_construct(entity);  // of those who still have it
    }
  }

  Registry& registry_;
  ImageContent& content_;
  const ImageTypes& types_;
  const LoadOptions options_;
  std::size_t entities_ = 0;
  std::vector<std::string> notes_;
  std::vector<Share> shares_;
};

}  // namespace

Result<LoadedImage, ImageError> install(Registry& registry, ImageContent content, const ImageTypes& types,
                                        LoadOptions options) {
  SHOAL_ASSERT(registry.frozen(), "a load before freeze(): register all component types, freeze, then load");
  SHOAL_ASSERT(registry.alive_count() == 0, "a load into a world that is not empty: clear() it first");
  return Installer(registry, content, types, options).run();
}

}  // namespace shoal
