// The descriptors of shoal's own components. They are in no schema, since they are not replicated.
#pragma once

#include <span>

#include "shared/wire/component_descriptor.hpp"

namespace shoal {

/// Of shoal.Node, shoal.OnTeam, shoal.OwnedBy.
std::span<const ComponentDescriptor> own_component_descriptors();

}  // namespace shoal
