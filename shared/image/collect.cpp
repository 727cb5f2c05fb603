// A registry as the content of an image.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "shared/base/assert.hpp"
#include "shared/ecs/hierarchy.hpp"
#include "shared/image/image_content.hpp"

namespace shoal {
namespace {

[[noreturn]] void misuse(const StorageBase& pool, const char* what) {
  assertion_failed("image types", fmt::format("{}: {}", pool.name(), what).c_str(), __FILE__, __LINE__);
}

ImageError not_listed(const StorageBase& pool) {
  const char* const remedy = pool.copyable_as_bytes()
                                 ? "declare it in the schema, or say add_opaque, add_encoded or leave_out"
                                 : "it is not trivially copyable: say add_encoded or leave_out";
  return {ImageFault::NotListed,
          fmt::format("nothing says how images hold {} ({} bytes a value): {} (ImageTypes)", pool.name(),
                      pool.value_bytes(), remedy)};
}

// Which indices are of Local entities; empty if none is.
std::vector<bool> locals_of(const Registry& registry) {
  const auto indices = registry.storage<Local>().indices();
  std::vector<bool> is_local;
  if (indices.empty()) return is_local;
  is_local.resize(registry.entity_table().index_end());
  for (const std::uint32_t index : indices) is_local[index] = true;
  return is_local;
}

EntityTableState entities_without(const Registry& registry, const std::vector<bool>& is_local) {
  EntityTableState state = registry.entity_table().state();
  for (std::uint32_t index = 0; index < is_local.size(); ++index) {
    if (!is_local[index]) continue;
    std::uint32_t& generation = state.generations[index];
    if (generation == Entity::kMaxGeneration) {
      generation = 0;
    } else {
      ++generation;
      (index < state.reserved ? state.reserved_free : state.free_queue).push_back(index);
    }
  }
  std::sort(state.reserved_free.begin(), state.reserved_free.end());
  return state;
}

// The nodes as they would be if each Local entity had been destroyed by itself: what was under it is a root. By
// position in the pool; those of Locals stay in, without links.
std::vector<Node> nodes_without(const Storage<Node>& pool, const std::vector<bool>& is_local) {
  std::vector<Node> nodes(pool.values().begin(), pool.values().end());
  const auto node_of = [&](Entity entity) -> Node& { return nodes[pool.position(entity.index)]; };
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    if (!is_local[pool.indices()[at]]) continue;
    Node& node = nodes[at];
    for (Entity child = node.first_child; !child.is_null();) {
      Node& orphan = node_of(child);
      child = std::exchange(orphan.next, kNullEntity);
      orphan.parent = orphan.previous = kNullEntity;
    }
    if (!node.parent.is_null()) {
      Node& parent = node_of(node.parent);
      (node.previous.is_null() ? parent.first_child : node_of(node.previous).next) = node.next;
      (node.next.is_null() ? parent.last_child : node_of(node.next).previous) = node.previous;
      --parent.child_count;
    }
    node = Node{};
  }
  return nodes;
}

class Collector {
 public:
  Collector(const Registry& registry, const ImageTypes& types)
      : registry_(registry), types_(types), is_local_(locals_of(registry)) {}

  Result<ImageContent, ImageError> collect() {
    ImageContent content;
    content.entities = entities_without(registry_, is_local_);
    for (std::size_t type = 0; type < registry_.component_count(); ++type) {
      const StorageBase& pool = registry_.storage(ComponentType{static_cast<std::uint16_t>(type)});
      if (&pool == &registry_.storage<Local>()) continue;
      const auto rule = rule_of(pool, types_);
      if (!rule.ok()) return Failure{rule.error()};
      if (rule->form == ImageTypes::Form::LeftOut) continue;
      ImageComponent component = component_of(pool, *rule);
      if (!component.indices.empty()) content.components.push_back(std::move(component));
    }
    return content;
  }

 private:
  ImageComponent component_of(const StorageBase& pool, const ImageRule& rule) {
    ImageComponent component;
    component.name = pool.name();
    choose_positions(pool, component);
    switch (rule.form) {
      case ImageTypes::Form::Fields: {
        component.form = ImageForm::Fields;
        if (rule.descriptor == nullptr) break;  // a tag
        component.descriptor_hash = rule.descriptor->hash;
        component.fields = fields_of(*rule.descriptor);
        component.size_bytes = rule.descriptor->size_bytes;
        const auto runs = runs_of(component.fields);
        if (const auto* nodes = dynamic_cast<const Storage<Node>*>(&pool);
            nodes != nullptr && !is_local_.empty()) {
          const std::vector<Node> values = nodes_without(*nodes, is_local_);
          take_values(pool, std::as_bytes(std::span(values)).data(), runs, component);
        } else {
          take_values(pool, pool.value_run(), runs, component);
        }
        break;
      }
      case ImageTypes::Form::Opaque: {
        component.form = ImageForm::Opaque;
        component.size_bytes = static_cast<std::uint32_t>(pool.value_bytes());
        const CopyRun whole[] = {{0, 0, component.size_bytes}};
        take_values(pool, pool.value_run(), whole, component);
        break;
      }
      case ImageTypes::Form::Encoded:
        component.form = ImageForm::Encoded;
        for_each_position(pool, [&](std::size_t at) {
          rule.codec->write(pool.value_at(at), component.own_values);
          component.own_value_ends.push_back(static_cast<std::uint32_t>(component.own_values.size()));
        });
        component.values = component.own_values;
        component.value_ends = component.own_value_ends;
        break;
      case ImageTypes::Form::LeftOut:
        break;
    }
    return component;
  }

  template <class F>
  void for_each_position(const StorageBase& pool, F fn) const {
    for (std::size_t at = 0; at < pool.size(); ++at) {
      if (is_local_.empty() || !is_local_[pool.indices()[at]]) fn(at);
    }
  }

  void choose_positions(const StorageBase& pool, ImageComponent& component) const {
    component.indices = pool.indices();
    if (is_local_.empty()) return;
    for_each_position(pool, [&](std::size_t at) { component.own_indices.push_back(pool.indices()[at]); });
    component.indices = component.own_indices;
  }

  // From where they lie if every byte of them counts, else what the runs cover between zeros.
  // `source`: all of them, one behind the other; null: wherever each one lies.
  void take_values(const StorageBase& pool, const std::byte* source, std::span<const CopyRun> runs,
                   ImageComponent& component) const {
    const std::size_t size = component.size_bytes;
    if (source != nullptr && source == pool.value_run() && is_local_.empty() && is_whole(runs, size)) {
      component.values = {source, pool.size() * size};
      return;
    }
    component.own_values.resize(component.indices.size() * size);
    std::byte* target = component.own_values.data();
    for_each_position(pool, [&](std::size_t at) {
      const auto* const value =
          source != nullptr ? source + at * size : static_cast<const std::byte*>(pool.value_at(at));
      for (const CopyRun& run : runs) std::memcpy(target + run.target, value + run.source, run.bytes);
      target += size;
    });
    component.values = component.own_values;
  }

  const Registry& registry_;
  const ImageTypes& types_;
  const std::vector<bool> is_local_;
};

}  // namespace

Result<ImageRule, ImageError> rule_of(const StorageBase& pool, const ImageTypes& types) {
  const ImageTypes::Entry* entry = types.find(pool.name());
  if (entry == nullptr) {
    if (pool.value_bytes() == 0) return ImageRule{};
    return Failure{not_listed(pool)};
  }
  switch (entry->form) {
    case ImageTypes::Form::Fields:
      if (entry->descriptor->size_bytes != pool.value_bytes() || !pool.copyable_as_bytes())
        misuse(pool, "its descriptor is of another C++ type: take both from one schema");
      break;
    case ImageTypes::Form::Opaque:
      if (pool.value_bytes() == 0 || !pool.copyable_as_bytes())
        misuse(pool, "add_opaque is for trivially copyable types with values");
      break;
    case ImageTypes::Form::Encoded:
      if (!entry->codec->fits(pool)) misuse(pool, "add_encoded was given functions for another C++ type");
      break;
    case ImageTypes::Form::LeftOut:
      break;
  }
  return ImageRule{entry->form, entry->descriptor, entry->codec.get()};
}

Result<ImageContent, ImageError> collect(const Registry& registry, const ImageTypes& types) {
  SHOAL_ASSERT(registry.frozen(), "an image of a registry before freeze()");
  return Collector(registry, types).collect();
}

}  // namespace shoal
