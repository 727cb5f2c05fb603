// The last word of a run: one number for everything that a client should see, computed from a *registry*, by
// the server from its own and by the client from its mirror. It shares nothing with chunks, deltas and their
// hashes, so that a fault in those cannot hide here.
#pragma once

#include <cstdint>

#include "shared/ecs/registry.hpp"
#include "shared/replication/component_table.hpp"

namespace shoal {

struct WorldDigest {
  std::uint64_t hash = 0;  // sum over entities: their order does not matter
  std::uint32_t entities = 0;

  friend bool operator==(const WorldDigest&, const WorldDigest&) = default;
};

/// Over every alive entity that is not `Local`: its id, which components of the table it has, their quantised
/// values. A reference counts only where its entity is alive and not Local; others read as null. O(world).
WorldDigest digest_world(const Registry& registry, const ComponentTable& table);

}  // namespace shoal
