#include "shared/image/content_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace shoal {

std::optional<std::string> fault_of(const EntityTableState& state) {
  for (std::size_t index = 0; index < state.generations.size(); ++index) {
    if (state.generations[index] > Entity::kMaxGeneration)
      return fmt::format("entity index {} has the generation {}, which is too great", index,
                         state.generations[index]);
  }
  if (state.reserved > state.generations.size())
    return fmt::format("{} indices are reserved, and only {} there", state.reserved,
                       state.generations.size());
  std::vector<bool> is_free(state.generations.size());
  for (const std::uint32_t index : state.free_queue) {
    if (index >= is_free.size())
      return fmt::format("the free queue has index {}, which never was in use", index);
    if (is_free[index]) return fmt::format("the free queue has index {} twice", index);
    if (state.generations[index] == 0)
      return fmt::format("the free queue has index {}, which is retired", index);
    if (index < state.reserved) return fmt::format("the free queue has index {}, which is reserved", index);
    is_free[index] = true;
  }
  for (const std::uint32_t index : state.reserved_free) {
    if (index >= state.reserved || is_free[index] || state.generations[index] == 0)
      return fmt::format("index {} is no reserved one that is free, or is listed twice as one", index);
    is_free[index] = true;
  }
  return std::nullopt;
}

std::vector<bool> living_of(const EntityTableState& state) {
  std::vector<bool> living(state.generations.size());
  for (std::size_t index = 0; index < living.size(); ++index) living[index] = state.generations[index] != 0;
  for (const std::uint32_t index : state.free_queue) living[index] = false;
  for (const std::uint32_t index : state.reserved_free) living[index] = false;
  return living;
}

std::optional<std::string> fault_of(const ImageComponent& component, const std::vector<bool>& living) {
  const std::string& name = component.name;
  std::vector<bool> seen(living.size());
  for (const std::uint32_t index : component.indices) {
    if (index >= living.size() || !living[index])
      return fmt::format("{} is on entity index {}, which is not alive", name, index);
    if (seen[index]) return fmt::format("{} is on entity index {} twice", name, index);
    seen[index] = true;
  }
  if (component.form == ImageForm::Encoded) {
    if (component.size_bytes != 0 || component.value_ends.size() != component.indices.size() ||
        (component.value_ends.empty() ? 0 : component.value_ends.back()) != component.values.size() ||
        !std::is_sorted(component.value_ends.begin(), component.value_ends.end()))
      return fmt::format("the values of {} are not one for each entity", name);
  } else if (!component.value_ends.empty() ||
             std::uint64_t{component.size_bytes} * component.indices.size() != component.values.size()) {
    return fmt::format("the values of {} are not one for each entity", name);
  }
  if (component.form != ImageForm::Fields && !component.fields.empty())
    return fmt::format("{} has fields and is not held by fields", name);
  std::set<std::string_view> paths;
  for (const ImageField& field : component.fields) {
    if (field.offset_bytes + std::uint64_t{size_of(field.type)} > component.size_bytes)
      return fmt::format("{}.{} lies beyond the value", name, field.path);
    if (!paths.insert(field.path).second) return fmt::format("{}.{} is there twice", name, field.path);
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(const ImageContent& content) {
  if (auto fault = fault_of(content.entities)) return fault;
  const std::vector<bool> living = living_of(content.entities);
  for (const ImageComponent& component : content.components) {
    if (auto fault = fault_of(component, living)) return fault;
  }
  return std::nullopt;
}

namespace {

class HierarchyCheck {
 public:
  HierarchyCheck(std::span<const std::uint32_t> indices, std::span<const Node> nodes,
                 const EntityTableState& entities)
      : indices_(indices),
        nodes_(nodes),
        entities_(entities),
        place_of_(entities.generations.size(), kNowhere) {
    for (std::size_t at = 0; at < indices.size(); ++at) place_of_[indices[at]] = at;
  }

  std::optional<std::string> run() {
    std::size_t reached = 0;
    std::vector<std::size_t> open;
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      const Node& node = nodes_[at];
      if (node.ending || node.when_destroyed > WhenDestroyed::DestroyChildren)
        return fault(at, "has a state that cannot be saved");
      if (!node.parent.is_null()) continue;
      if (!node.previous.is_null() || !node.next.is_null()) return fault(at, "is a root with siblings");
      open.push_back(at);
    }
    // Downwards from the roots: whom nobody reaches is part of a ring, or has a parent that does not know it.
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      ++reached;
      if (const char* wrong = push_children(at, open)) return fault(at, wrong);
    }
    if (reached != nodes_.size()) return "the hierarchy (shoal.Node) has entities that no root leads to";
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

  // Null if the list of children is right. Each step checks a node against the one before it, and a node has one
  // parent and one previous: so no walk visits a node twice.
  const char* push_children(std::size_t at, std::vector<std::size_t>& open) const {
    const Node& parent = nodes_[at];
    const Entity self = entity_of(at);
    Entity previous = kNullEntity;
    std::uint32_t count = 0;
    for (Entity child = parent.first_child; !child.is_null(); ++count) {
      const std::size_t place = find(child);
      if (place == kNowhere) return "has a child that has no node";
      const Node& node = nodes_[place];
      if (node.parent != self || node.previous != previous) return "has a child that does not know it";
      open.push_back(place);
      previous = child;
      child = node.next;
    }
    if (parent.last_child != previous || parent.child_count != count)
      return "does not know how many children it has";
    return nullptr;
  }
  Entity entity_of(std::size_t at) const { return {indices_[at], entities_.generations[indices_[at]]}; }
  std::size_t find(Entity entity) const {
    if (entity.index >= place_of_.size() || entities_.generations[entity.index] != entity.generation)
      return kNowhere;
    return place_of_[entity.index];
  }
  std::string fault(std::size_t at, const char* what) const {
    const Entity entity = entity_of(at);
    return fmt::format("in the hierarchy (shoal.Node) entity {}:{} {}", entity.index, entity.generation,
                       what);
  }

  std::span<const std::uint32_t> indices_;
  std::span<const Node> nodes_;
  const EntityTableState& entities_;
  std::vector<std::size_t> place_of_;
};

}  // namespace

std::optional<std::string> hierarchy_fault(std::span<const std::uint32_t> indices,
                                           std::span<const Node> nodes, const EntityTableState& entities) {
  return HierarchyCheck(indices, nodes, entities).run();
}

}  // namespace shoal
