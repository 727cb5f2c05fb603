// A copy of a whole world, quick enough for the tick's thread: whole pools at once, memcpy where the type allows
// it. So another thread can save, look through or play on with one instant of the world while the game goes on.
//
//   Registry shadow; register_components(shadow); shadow.freeze();     // once
//   shadow.log().set_enabled(false);                                   // nobody reads it
//   copy_world(world, shadow);                                         // between two ticks
//
// Thread rule: `from` may be read by others meanwhile, not changed; `to` belongs to the caller.
// Invariants:
// 1. Afterwards `to` has the same entities with the same values, in the same order in each pool, and will give out
//    the same handles as `from`: its free indices, their order and generations are those of `from`. (An owning group
//    that only `to` has takes its members to the front.)
// 2. No signal fires. What `to` held has ended; what it holds is new: its change bits and, if switched on, its
//    change log say so, by rising index first all ends, then all births. An entity in both was reset.
// 3. Resources and listeners stay what they were on both sides.
#pragma once

#include <string>

#include "shared/ecs/registry.hpp"

namespace shoal {

/// Why the two cannot be copied, by name: different component types, a type without a copy constructor, too few
/// entities allowed. Empty: they can. O(component types).
std::string copy_obstacle(const Registry& from, const Registry& to);

/// O(entities + values of both), without allocation once `to` has held as much. What a copy constructor throws
/// ends the program. REQUIRES: copy_obstacle is empty; both frozen, two registries; no signal of either runs.
void copy_world(const Registry& from, Registry& to);

}  // namespace shoal
