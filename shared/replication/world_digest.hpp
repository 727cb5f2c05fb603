// The last word of a run: one number for everything that a client should see, computed from a *registry*, by
// the server from its own and by the client from its mirror. It shares nothing with chunks, deltas and their
// hashes, so that a fault in those cannot hide here.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "shared/ecs/registry.hpp"
#include "shared/replication/component_table.hpp"

namespace shoal {

struct WorldDigest {
  std::uint64_t hash = 0;  // sum over entities and their components: order does not matter
  std::uint32_t entities = 0;

  friend bool operator==(const WorldDigest&, const WorldDigest&) = default;
};

/// Of which audiences an entity's components are seen: one bit per Audience.
using AudienceMask = std::uint8_t;
constexpr AudienceMask audience_bit(Audience audience) {
  return static_cast<AudienceMask>(1u << static_cast<unsigned>(audience));
}
inline constexpr AudienceMask kAllAudiences = (1u << kAudiences) - 1;

/// Tells what is seen of an entity that is alive and not Local; 0: not even that it exists.
using VisibleAudiences = std::function<AudienceMask(Entity)>;

/// Over every alive entity that is not `Local` and that `visible` shows: its id, and which components of those
/// audiences it has, with their quantised values. A reference counts only where its entity is seen, too; others
/// read as null. O(world).
WorldDigest digest_world(const Registry& registry, const ComponentTable& table,
                         const VisibleAudiences& visible);
/// Of everything, as a mirror computes it.
WorldDigest digest_world(const Registry& registry, const ComponentTable& table);

}  // namespace shoal
