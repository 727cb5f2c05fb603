#include "shared/ecs/schedule_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/assert.hpp"

namespace shoal {
namespace {

using Nodes = std::span<const SystemNode* const>;
/// Per system those that have to come before it, by before() and after().
using Earlier = std::vector<std::vector<std::uint32_t>>;

[[noreturn]] void refuse(const std::string& message) {
  assertion_failed("the order of the systems", message.c_str(), __FILE__, __LINE__);
}

std::uint32_t number_of(Nodes nodes, const SystemNode& asking, const char* relation, std::string_view name) {
  std::string known;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->name == name) return i;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", nodes[i]->name);
  }
  refuse(fmt::format("the system \"{}\" is to run {} \"{}\", which there is not; systems are: {}",
                     asking.name, relation, name, known));
}

Earlier stated_order(Nodes nodes) {
  Earlier earlier(nodes.size());
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    for (const auto& name : nodes[i]->after) earlier[i].push_back(number_of(nodes, *nodes[i], "after", name));
    for (const auto& name : nodes[i]->before)
      earlier[number_of(nodes, *nodes[i], "before", name)].push_back(i);
  }
  return earlier;
}

// Everyone who is left waits for somebody who is left: going back from one to the next comes round.
[[noreturn]] void refuse_circle(Nodes nodes, const Earlier& earlier, const std::vector<bool>& placed) {
  std::vector<std::uint32_t> way;
  auto at = static_cast<std::uint32_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
  while (std::find(way.begin(), way.end(), at) == way.end()) {
    way.push_back(at);
    at = *std::find_if(earlier[at].begin(), earlier[at].end(),
                       [&](std::uint32_t other) { return !placed[other]; });
  }
  way.erase(way.begin(), std::find(way.begin(), way.end(), at));
  way.push_back(at);
  std::string names;
  for (auto i = way.rbegin(); i != way.rend(); ++i) {
    names += fmt::format("{}\"{}\"", names.empty() ? "" : " before ", nodes[*i]->name);
  }
  refuse(fmt::format("before and after go round in a circle: {}; take one of them away", names));
}

/// The first in the order of registration that waits for nobody, again and again.
std::vector<std::uint32_t> sorted(Nodes nodes, const Earlier& earlier) {
  std::vector<std::uint32_t> order;
  std::vector<bool> placed(nodes.size(), false);
  while (order.size() < nodes.size()) {
    std::uint32_t next = 0;
    const auto waits = [&](std::uint32_t i) {
      return placed[i] || std::any_of(earlier[i].begin(), earlier[i].end(),
                                      [&](std::uint32_t other) { return !placed[other]; });
    };
    while (next < nodes.size() && waits(next)) ++next;
    if (next == nodes.size()) refuse_circle(nodes, earlier, placed);
    placed[next] = true;
    order.push_back(next);
  }
  return order;
}

bool contains(const std::vector<std::uint32_t>& numbers, std::uint32_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

std::string in_dot(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string label_of(const SystemNode& node, const Registry& registry) {
  std::string label = in_dot(node.name);
  if (node.access.everything() == AccessMode::Write) label += "\\neverything, alone";
  if (node.access.everything() == AccessMode::Read) label += "\\nreads everything";
  for (const AccessMode mode : {AccessMode::Write, AccessMode::Read}) {
    std::string names;
    for (const AccessItem& item : node.access.items()) {
      if (item.mode == mode) names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(item, registry));
    }
    if (!names.empty())
      label += fmt::format("\\n{} {}", mode == AccessMode::Write ? "writes" : "reads", in_dot(names));
  }
  return label;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

}  // namespace

ScheduleOrder order_of(Nodes nodes, const Registry& registry) {
  const Earlier earlier = stated_order(nodes);
  ScheduleOrder order;
  for (const std::uint32_t system : sorted(nodes, earlier)) {
    const bool fits =
        !order.stages.empty() &&
        std::none_of(order.stages.back().begin(), order.stages.back().end(), [&](std::uint32_t other) {
          return contains(earlier[system], other) ||
                 !conflicts(nodes[other]->access, nodes[system]->access, registry).empty();
        });
    if (!fits) order.stages.emplace_back();
    order.stages.back().push_back(system);
  }
  return order;
}

std::string to_dot(Nodes nodes, const ScheduleOrder& order, const Registry& registry) {
  const Earlier earlier = stated_order(nodes);
  std::string text = "digraph schedule {\n  rankdir=LR;\n  node [shape=box];\n";
  std::vector<std::uint32_t> sequence;
  for (std::size_t stage = 0; stage < order.stages.size(); ++stage) {
    text += fmt::format("  subgraph cluster_{} {{\n    label=\"stage {}\";\n", stage, stage);
    for (const std::uint32_t system : order.stages[stage]) {
      text += fmt::format("    s{} [label=\"{}\"];\n", system, label_of(*nodes[system], registry));
      sequence.push_back(system);
    }
    text += "  }\n";
  }
  // reached[i]: who comes before system i by any way of arrows.
  std::vector<std::vector<bool>> reached(nodes.size(), std::vector<bool>(nodes.size(), false));
  for (std::size_t j = 0; j < sequence.size(); ++j) {
    // The nearest first: an arrow from further back may follow from theirs.
    for (std::size_t i = j; i-- > 0;) {
      const std::uint32_t from = sequence[i], to = sequence[j];
      if (reached[to][from]) continue;
      const bool stated = contains(earlier[to], from);
      const auto reasons = conflicts(nodes[from]->access, nodes[to]->access, registry);
      if (!stated && reasons.empty()) continue;
      const std::string why = reasons.empty() ? "stated" : joined(reasons);
      text += fmt::format("  s{} -> s{} [label=\"{}\"{}];\n", from, to, in_dot(why),
                          stated ? ", style=bold" : "");
      reached[to][from] = true;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (reached[from][k]) reached[to][k] = true;
      }
    }
  }
  return text + "}\n";
}

}  // namespace shoal
