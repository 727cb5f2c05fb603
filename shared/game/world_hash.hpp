// A number for the whole state of a demo world: two worlds with one hash went the same way.
#pragma once

#include <cstdint>

#include "shared/ecs/registry.hpp"

namespace shoal::demo {

/// Over all entities by rising index, `Local` ones too, with generations, component sets and the values of
/// every field, bit by bit, of the schema's components and the server's own. Padding does not count.
/// O(world).
std::uint64_t world_hash(const Registry& registry);

}  // namespace shoal::demo
