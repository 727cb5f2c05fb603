// The order of the systems of a schedule and their stages, worked out once. Knows names and access, runs nothing.
//
// Thread rule: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shared/ecs/access.hpp"

namespace shoal {

/// What the order rests on.
struct SystemNode {
  std::string name;
  Access access;
  std::vector<std::string> before;
  std::vector<std::string> after;
};

struct ScheduleOrder {
  /// Numbers of systems, stage by stage, each in the order in which it comes.
  std::vector<std::vector<std::uint32_t>> stages;
};

/// The order of the nodes, changed only where `before` or `after` says so, cut into stages: a system goes into the
/// stage of the one before it unless it conflicts with somebody there or is to come after somebody there. Stops the
/// program when a name is unknown or the order goes round in a circle, which the message names whole.
ScheduleOrder order_of(std::span<const SystemNode* const> nodes, const Registry& registry);

/// The graph in the language of Graphviz: a box per system with its access, a cluster per stage, an arrow where one
/// system has to wait for another, with the components that are the reason. Arrows that follow from others are left out.
std::string to_dot(std::span<const SystemNode* const> nodes, const ScheduleOrder& order,
                   const Registry& registry);

}  // namespace shoal
