// Entities and worlds from JSON text.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/ecs/hierarchy.hpp"
#include "shared/image/image_content.hpp"
#include "shared/image/json.hpp"
#include "shared/image/value_json.hpp"

namespace shoal {
namespace {

constexpr std::uint32_t kGreatestIndex = 0xFFFFFFFE;

ImageError error_at(std::string_view text, const JsonFault& fault) {
  return {ImageFault::BadText, fmt::format("line {}: {}: {}", line_of(text, *fault.value),
                                           fault.path.empty() ? "the document" : fault.path, fault.what)};
}
JsonFault fault_at(const JsonValue& value, std::string path, std::string what) {
  return {&value, std::move(path), std::move(what)};
}
std::optional<JsonFault> wrong_kind(const JsonValue& value, JsonValue::Kind wanted, const std::string& path) {
  if (value.kind == wanted) return std::nullopt;
  return fault_at(value, path, fmt::format("{} is expected, not {}", name_of(wanted), name_of(value.kind)));
}
std::optional<JsonFault> unknown_member(const JsonValue& object, const std::string& path,
                                        std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.members()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return fault_at(value, path.empty() ? name : path + '.' + name, "nothing of this name belongs here");
  }
  return std::nullopt;
}

// How the registry holds a component that the text names.
struct Target {
  const StorageBase* pool;
  ImageRule rule;
  std::vector<ImageField> fields;
  FieldTree tree;
};

class Targets {
 public:
  Targets(const Registry& registry, const ImageTypes& types) : registry_(registry), types_(types) {}

  /// Null if the registry does not know the name.
  Result<const Target*, std::string> find(const std::string& name) {
    const auto known = targets_.find(name);
    if (known != targets_.end()) return known->second.get();
    const auto type = registry_.find_component(name);
    if (!type) return static_cast<const Target*>(nullptr);
    const StorageBase& pool = registry_.storage(*type);
    const auto rule = rule_of(pool, types_);
    if (!rule.ok()) return Failure{rule.error().text};
    if (rule->form == ImageTypes::Form::LeftOut)
      return Failure{std::string("it is left out here (ImageTypes)")};
    auto fields = rule->descriptor != nullptr ? fields_of(*rule->descriptor) : std::vector<ImageField>();
    FieldTree tree(fields);
    auto& target = targets_[name];
    target = std::make_unique<Target>(Target{&pool, *rule, std::move(fields), std::move(tree)});
    return target.get();
  }

 private:
  const Registry& registry_;
  const ImageTypes& types_;
  std::map<std::string, std::unique_ptr<Target>> targets_;
};

// The value's bytes; what the text does not name is as in `value`, which has the size of the type (0: Encoded).
std::optional<JsonFault> read_value(const Target& target, const JsonValue& source, const std::string& path,
                                    std::vector<std::byte>& value) {
  if (target.rule.form == ImageTypes::Form::Fields) return target.tree.read(source, path, value);
  const auto bytes =
      source.kind == JsonValue::Kind::String ? bytes_of_hexadecimal(source.text) : std::nullopt;
  if (!bytes) return fault_at(source, path, "bytes in hexadecimal are expected");
  if (target.rule.form == ImageTypes::Form::Opaque && bytes->size() != value.size())
    return fault_at(source, path, fmt::format("{} bytes are expected, not {}", value.size(), bytes->size()));
  value = *bytes;
  return std::nullopt;
}
std::vector<std::byte> default_value(const Target& target) {
  std::vector<std::byte> value;
  if (target.rule.form == ImageTypes::Form::Encoded) return value;
  value.resize(target.pool->value_bytes());
  write_default(target.fields, value);
  return value;
}

// --- a world

class WorldReader {
 public:
  WorldReader(const Registry& registry, const ImageTypes& types, LoadOptions options)
      : targets_(registry, types), reserved_(registry.entity_table().reserved()), options_(options) {}

  std::optional<JsonFault> read(const JsonValue& root) {
    if (auto wrong = wrong_kind(root, JsonValue::Kind::Object, "")) return wrong;
    if (auto wrong = unknown_member(
            root, "",
            {"generations", "free_queue", "reserved", "reserved_free", "entities", "orders", "sections"}))
      return wrong;
    const JsonValue* entities = root.find("entities");
    if (entities == nullptr) return fault_at(root, "", "the list \"entities\" is missing");
    if (auto wrong = wrong_kind(*entities, JsonValue::Kind::Array, "entities")) return wrong;
    if (auto wrong = read_handles(*entities)) return wrong;
    if (auto wrong = read_table(root, *entities)) return wrong;
    for (std::size_t i = 0; i < entities->items.size(); ++i) {
      if (auto wrong = read_components(entities->items[i], handles_[i], fmt::format("entities[{}]", i)))
        return wrong;
    }
    if (auto wrong = read_orders(root.find("orders"))) return wrong;
    return read_sections(root.find("sections"));
  }

  ImageContent content() {
    for (auto& [name, built] : components_) {
      built.component.indices = built.component.own_indices;
      built.component.values = built.component.own_values;
      built.component.value_ends = built.component.own_value_ends;
      content_.components.push_back(std::move(built.component));
    }
    return std::move(content_);
  }
  std::vector<std::string> skipped() const { return {skipped_.begin(), skipped_.end()}; }

 private:
  struct Built {
    const Target* target;
    ImageComponent component;
    std::map<std::uint32_t, std::vector<std::byte>> values;  // by index: rising until an order says otherwise
  };

  std::optional<JsonFault> read_handles(const JsonValue& entities) {
    for (std::size_t i = 0; i < entities.items.size(); ++i) {
      const JsonValue& item = entities.items[i];
      const std::string path = fmt::format("entities[{}]", i);
      if (auto wrong = wrong_kind(item, JsonValue::Kind::Object, path)) return wrong;
      if (auto wrong = unknown_member(item, path, {"entity", "components"})) return wrong;
      const JsonValue* handle = item.find("entity");
      const auto entity = handle != nullptr ? entity_of(*handle) : std::nullopt;
      if (!entity || entity->generation == 0 || entity->generation > Entity::kMaxGeneration)
        return fault_at(handle != nullptr ? *handle : item, path + ".entity",
                        "an entity such as \"7:2\" is expected");
      handles_.push_back(*entity);
    }
    return std::nullopt;
  }

  std::optional<JsonFault> read_table(const JsonValue& root, const JsonValue& entities) {
    const JsonValue* generations = root.find("generations");
    if (generations == nullptr) {
      for (const char* name : {"free_queue", "reserved", "reserved_free"}) {
        if (const JsonValue* value = root.find(name); value != nullptr)
          return fault_at(*value, name, "it means nothing without \"generations\"");
      }
      return make_young_table(entities);
    }
    EntityTableState& table = content_.entities;
    if (auto wrong = read_numbers(generations, "generations", Entity::kMaxGeneration, table.generations))
      return wrong;
    if (auto wrong = read_numbers(root.find("free_queue"), "free_queue", kGreatestIndex, table.free_queue))
      return wrong;
    if (auto wrong =
            read_numbers(root.find("reserved_free"), "reserved_free", kGreatestIndex, table.reserved_free))
      return wrong;
    if (const JsonValue* reserved = root.find("reserved"); reserved != nullptr) {
      const auto count = unsigned_of(*reserved, kGreatestIndex);
      if (!count) return fault_at(*reserved, "reserved", "a number of indices is expected");
      table.reserved = static_cast<std::uint32_t>(*count);
    }
    return compare_with_table(*generations, entities);
  }

  // Without a table in the text: who is not listed has not lived yet, and comes by rising index.
  std::optional<JsonFault> make_young_table(const JsonValue& entities) {
    EntityTableState& table = content_.entities;
    table.reserved = reserved_;
    table.generations.assign(reserved_, 1);
    std::vector<bool> listed(reserved_);
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const std::uint32_t index = handles_[i].index;
      const JsonValue& handle = *entities.items[i].find("entity");
      const std::string path = fmt::format("entities[{}].entity", i);
      // A world of few entities with a great index is a mistake, and would need memory for all below it.
      if (index >= kMaxYoungIndex) return fault_at(handle, path, "an index this great needs \"generations\"");
      if (index >= listed.size()) {
        listed.resize(index + std::size_t{1});
        table.generations.resize(listed.size(), 1);
      }
      if (listed[index]) return fault_at(handle, path, "the index is listed twice");
      listed[index] = true;
      table.generations[index] = handles_[i].generation;
    }
    for (std::uint32_t index = 0; index < listed.size(); ++index) {
      if (!listed[index]) (index < reserved_ ? table.reserved_free : table.free_queue).push_back(index);
    }
    return std::nullopt;
  }

  // Who is listed lives by the table, and the other way round. What the table itself has wrong, install says.
  std::optional<JsonFault> compare_with_table(const JsonValue& generations, const JsonValue& entities) {
    const EntityTableState& table = content_.entities;
    std::vector<bool> listed(table.generations.size()), free(table.generations.size());
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      const std::uint32_t index = handles_[i].index;
      const JsonValue& handle = *entities.items[i].find("entity");
      const std::string path = fmt::format("entities[{}].entity", i);
      if (index >= table.generations.size() || table.generations[index] != handles_[i].generation)
        return fault_at(handle, path, "\"generations\" says otherwise of this index");
      if (listed[index]) return fault_at(handle, path, "the index is listed twice");
      listed[index] = true;
    }
    for (const auto* list : {&table.free_queue, &table.reserved_free}) {
      for (const std::uint32_t index : *list) {
        if (index < free.size()) free[index] = true;
      }
    }
    for (std::uint32_t index = 0; index < listed.size(); ++index) {
      if (listed[index] == (!free[index] && table.generations[index] != 0)) continue;
      return fault_at(generations, fmt::format("generations[{}]", index),
                      listed[index] ? "the index is free, and listed in \"entities\""
                                    : "the index is not free, and not listed in \"entities\"");
    }
    return std::nullopt;
  }

  std::optional<JsonFault> read_numbers(const JsonValue* source, const std::string& path,
                                        std::uint32_t greatest, std::vector<std::uint32_t>& target) {
    if (source == nullptr) return std::nullopt;
    const JsonValue& list = *source;
    if (auto wrong = wrong_kind(list, JsonValue::Kind::Array, path)) return wrong;
    for (std::size_t i = 0; i < list.items.size(); ++i) {
      const auto number = unsigned_of(list.items[i], greatest);
      if (!number)
        return fault_at(list.items[i], fmt::format("{}[{}]", path, i),
                        fmt::format("a whole number from 0 to {} is expected", greatest));
      target.push_back(static_cast<std::uint32_t>(*number));
    }
    return std::nullopt;
  }

  std::optional<JsonFault> read_components(const JsonValue& item, Entity entity, const std::string& path) {
    const JsonValue* components = item.find("components");
    if (components == nullptr) return std::nullopt;
    if (auto wrong = wrong_kind(*components, JsonValue::Kind::Object, path + ".components")) return wrong;
    for (const auto& [name, value] : components->members()) {
      const std::string value_path = fmt::format("{}.components.{}", path, name);
      const auto target = targets_.find(name);
      if (!target.ok()) return fault_at(value, value_path, target.error());
      if (*target == nullptr) {
        if (options_.unknown_components == UnknownComponents::Skip) {
          skipped_.insert(fmt::format("{} is not registered here: its entities came without it", name));
          continue;
        }
        return fault_at(
            value, value_path,
            "no component of this name is registered; register it or load with UnknownComponents::Skip");
      }
      Built& built = component_for(**target);
      std::vector<std::byte> bytes = default_value(**target);
      if (auto wrong = read_value(**target, value, value_path, bytes)) return wrong;
      built.values.emplace(entity.index, std::move(bytes));
    }
    return std::nullopt;
  }

  Built& component_for(const Target& target) {
    const auto [place, is_new] =
        components_.try_emplace(std::string(target.pool->name()), Built{&target, {}, {}});
    if (is_new) {
      ImageComponent& component = place->second.component;
      component.name = target.pool->name();
      component.form = static_cast<ImageForm>(target.rule.form);
      component.descriptor_hash = target.rule.descriptor != nullptr ? target.rule.descriptor->hash : 0;
      component.fields = target.fields;
      component.size_bytes =
          component.form == ImageForm::Encoded ? 0 : static_cast<std::uint32_t>(target.pool->value_bytes());
    }
    return place->second;
  }

  std::optional<JsonFault> read_orders(const JsonValue* orders) {
    if (orders != nullptr) {
      if (auto wrong = wrong_kind(*orders, JsonValue::Kind::Object, "orders")) return wrong;
      for (const auto& [name, order] : orders->members()) {
        const auto found = components_.find(name);
        if (found == components_.end()) {
          if (options_.unknown_components == UnknownComponents::Skip) continue;
          return fault_at(order, "orders." + name, "no entity has such a component");
        }
        auto& indices = found->second.component.own_indices;
        if (auto wrong = read_numbers(&order, "orders." + name, kGreatestIndex, indices)) return wrong;
        std::vector<std::uint32_t> sorted = indices;
        std::sort(sorted.begin(), sorted.end());
        const auto& values = found->second.values;
        if (!std::equal(sorted.begin(), sorted.end(), values.begin(), values.end(),
                        [](std::uint32_t index, const auto& value) { return index == value.first; }))
          return fault_at(
              order, "orders." + name,
              "it is not each entity with the component once; without the order they come by rising index");
      }
    }
    for (auto& [name, built] : components_) {
      ImageComponent& component = built.component;
      if (component.own_indices.empty()) {
        for (const auto& [index, value] : built.values) component.own_indices.push_back(index);
      }
      for (const std::uint32_t index : component.own_indices) {
        const std::vector<std::byte>& value = built.values.find(index)->second;
        component.own_values.insert(component.own_values.end(), value.begin(), value.end());
        if (component.form == ImageForm::Encoded)
          component.own_value_ends.push_back(static_cast<std::uint32_t>(component.own_values.size()));
      }
    }
    return std::nullopt;
  }

  std::optional<JsonFault> read_sections(const JsonValue* sections) {
    if (sections == nullptr) return std::nullopt;
    if (auto wrong = wrong_kind(*sections, JsonValue::Kind::Object, "sections")) return wrong;
    for (const auto& [name, value] : sections->members()) {
      auto bytes = value.kind == JsonValue::Kind::String ? bytes_of_hexadecimal(value.text) : std::nullopt;
      if (!bytes) return fault_at(value, "sections." + name, "bytes in hexadecimal are expected");
      content_.sections.push_back({name, *std::move(bytes)});
    }
    return std::nullopt;
  }

  static constexpr std::uint32_t kMaxYoungIndex = 1u << 20;

  Targets targets_;
  const std::uint32_t reserved_;
  const LoadOptions options_;
  ImageContent content_;
  std::vector<Entity> handles_;
  std::map<std::string, Built> components_;
  std::set<std::string> skipped_;
};

// --- single entities

// One component of one entity, ready to be set.
struct Setting {
  const Target* target;  // null: `removed` goes
  ComponentType removed;
  std::vector<std::byte> value;
  std::unique_ptr<ValueCodec::Values> decoded;
};
struct Patch {
  Entity entity;  // null: a new one
  bool is_new = false;
  std::vector<Setting> settings;
};

class PatchReader {
 public:
  PatchReader(const Registry& registry, const ImageTypes& types)
      : registry_(registry), targets_(registry, types) {}

  std::optional<JsonFault> read(const JsonValue& root) {
    if (root.kind != JsonValue::Kind::Array) return read_one(root, "");
    for (std::size_t i = 0; i < root.items.size(); ++i) {
      if (auto wrong = read_one(root.items[i], fmt::format("[{}]", i))) return wrong;
    }
    return std::nullopt;
  }
  std::vector<Patch> take() { return std::move(patches_); }

 private:
  std::optional<JsonFault> read_one(const JsonValue& source, const std::string& path) {
    if (auto wrong = wrong_kind(source, JsonValue::Kind::Object, path)) return wrong;
    if (auto wrong = unknown_member(source, path, {"entity", "components"})) return wrong;
    Patch patch;
    if (auto wrong = read_entity(source, path, patch)) return wrong;
    if (const JsonValue* components = source.find("components"); components != nullptr) {
      const std::string components_path = path.empty() ? "components" : path + ".components";
      if (auto wrong = wrong_kind(*components, JsonValue::Kind::Object, components_path)) return wrong;
      for (const auto& [name, value] : components->members()) {
        if (auto wrong = read_setting(name, value, components_path + '.' + name, patch)) return wrong;
      }
    }
    patches_.push_back(std::move(patch));
    return std::nullopt;
  }

  std::optional<JsonFault> read_entity(const JsonValue& source, const std::string& path, Patch& patch) {
    const std::string entity_path = path.empty() ? "entity" : path + ".entity";
    const JsonValue* handle = source.find("entity");
    if (handle == nullptr) {
      patch.is_new = true;
    } else {
      const auto entity = entity_of(*handle);
      if (!entity || entity->is_null())
        return fault_at(*handle, entity_path, "an entity such as \"7:2\" is expected");
      if (!seen_.insert(entity->index).second)
        return fault_at(*handle, entity_path, "this index is there twice");
      patch.entity = *entity;
      patch.is_new = !registry_.alive(*entity);
      if (registry_.dying(*entity)) return fault_at(*handle, entity_path, "the entity is dying");
      if (patch.is_new) {
        if (!registry_.entity_at(entity->index).is_null())
          return fault_at(*handle, entity_path, "the index belongs to an entity of another generation now");
        if (entity->index >= registry_.max_entities() || entity->generation == 0 ||
            entity->generation > Entity::kMaxGeneration)
          return fault_at(*handle, entity_path, "there is no such entity, and none can be made with this id");
      }
    }
    const EntityTable& table = registry_.entity_table();
    if (patch.is_new && (patch.entity.is_null() || patch.entity.index >= table.reserved())) ++created_;
    if (created_ > table.room())
      return fault_at(source, path, "no more entities can be made; raise RegistryLimits::max_entities");
    return std::nullopt;
  }

  std::optional<JsonFault> read_setting(const std::string& name, const JsonValue& value,
                                        const std::string& path, Patch& patch) {
    const auto found = targets_.find(name);
    if (!found.ok()) return fault_at(value, path, found.error());
    const Target* target = *found;
    if (target == nullptr) return fault_at(value, path, "no component of this name is registered");
    const bool is_node = dynamic_cast<const Storage<Node>*>(target->pool) != nullptr;
    Setting setting{target, target->pool->type(), {}, nullptr};
    if (value.kind == JsonValue::Kind::Null) {
      setting.target = nullptr;
      patch.settings.push_back(std::move(setting));
      return std::nullopt;
    }
    const bool has = !patch.is_new && registry_.has(patch.entity, target->pool->type());
    setting.value = default_value(*target);
    if (has && target->rule.form == ImageTypes::Form::Fields && !setting.value.empty())
      std::memcpy(setting.value.data(), target->pool->find(patch.entity.index), setting.value.size());
    if (auto wrong = read_value(*target, value, path, setting.value)) return wrong;
    if (is_node) {
      const void* const present = has ? target->pool->find(patch.entity.index) : nullptr;
      if (present == nullptr || std::memcmp(present, setting.value.data(), setting.value.size()) != 0)
        return fault_at(value, path, "hierarchies are changed by attach() and detach(), not by their links");
      return std::nullopt;
    }
    if (target->rule.form == ImageTypes::Form::Encoded) {
      setting.decoded = target->rule.codec->values();
      if (!setting.decoded->read(setting.value))
        return fault_at(value, path, "the game's function does not read these bytes");
    }
    patch.settings.push_back(std::move(setting));
    return std::nullopt;
  }

  const Registry& registry_;
  Targets targets_;
  std::set<std::uint32_t> seen_;
  std::size_t created_ = 0;
  std::vector<Patch> patches_;
};

void apply(Registry& registry, Entity entity, Setting& setting) {
  // A listener of an earlier one may have ended it.
  if (!registry.alive(entity) || registry.dying(entity)) return;
  if (setting.target == nullptr) {
    registry.remove(entity, setting.removed);
    return;
  }
  if (setting.decoded != nullptr) {
    setting.decoded->give_to(registry, entity);
    return;
  }
  StorageBase& pool = registry.storage(setting.target->pool->type());
  if (pool.contains(entity)) {
    pool.replace_silently(entity, setting.value.data());
    pool.publish_update(entity);
  } else {
    pool.emplace_silently(entity, setting.value.data());
    pool.publish_construct(entity);
  }
}

}  // namespace

Result<LoadedImage, ImageError> load_world_json(Registry& registry, std::string_view text,
                                                const ImageTypes& types, LoadOptions options) {
  SHOAL_ASSERT(registry.frozen(), "a load before freeze(): register all component types, freeze, then load");
  const auto root = parse_json(text);
  if (!root.ok()) return Failure{root.error()};
  WorldReader reader(registry, types, options);
  if (const auto wrong = reader.read(*root)) return Failure{error_at(text, *wrong)};
  auto loaded = install(registry, reader.content(), types, options);
  if (loaded.ok()) {
    for (std::string& note : reader.skipped()) loaded->notes.push_back(std::move(note));
  }
  return loaded;
}

Result<std::vector<Entity>, ImageError> apply_json(Registry& registry, std::string_view text,
                                                   const ImageTypes& types) {
  SHOAL_ASSERT(registry.frozen(),
               "apply_json before freeze(): register all component types, freeze, then go");
  const auto root = parse_json(text);
  if (!root.ok()) return Failure{root.error()};
  PatchReader reader(registry, types);
  if (const auto wrong = reader.read(*root)) return Failure{error_at(text, *wrong)};
  std::vector<Patch> patches = reader.take();
  // Those with an id first: a new one might come to take its index.
  for (const Patch& patch : patches) {
    if (patch.is_new && !patch.entity.is_null()) registry.create_exact(patch.entity);
  }
  for (Patch& patch : patches) {
    if (patch.entity.is_null()) patch.entity = registry.create();
  }
  std::vector<Entity> entities;
  for (Patch& patch : patches) {
    for (Setting& setting : patch.settings) apply(registry, patch.entity, setting);
    entities.push_back(patch.entity);
  }
  return entities;
}

}  // namespace shoal
