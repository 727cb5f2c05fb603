// The demo's rules as one ordered list.
#pragma once

#include "shared/ecs/schedule.hpp"

namespace shoal::demo {

/// Adds every system of the demo in the order in which a tick runs them, after the inputs of that tick were
/// applied. REQUIRES of the registry that they run on: create_world.
void register_systems(Schedule& schedule);

}  // namespace shoal::demo
