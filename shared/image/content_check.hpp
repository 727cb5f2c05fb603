// What must be so before content may become a registry's state. Each function says what is wrong, or nothing.
#pragma once

#include <optional>
#include <string>

#include "shared/ecs/hierarchy.hpp"
#include "shared/image/image_content.hpp"

namespace shoal {

/// Generations are possible ones; the queue has each free index once.
std::optional<std::string> fault_of(const EntityTableState& state);

/// By index: who is alive. REQUIRES: no fault_of.
std::vector<bool> living_of(const EntityTableState& state);

/// Counts fit each other, indices are of the living, each once, fields lie in the value. Not whether the values are
/// of the type that the registry has.
std::optional<std::string> fault_of(const ImageComponent& component, const std::vector<bool>& living);

/// Both of the above, of all. What says the rest of a component's values is who knows its type.
std::optional<std::string> fault_of(const ImageContent& content);

/// Links are mutual, name nodes of living entities, and nobody is its own ancestor. `nodes` in the order of
/// `indices`. Linear.
std::optional<std::string> hierarchy_fault(std::span<const std::uint32_t> indices,
                                           std::span<const Node> nodes, const EntityTableState& entities);

}  // namespace shoal
