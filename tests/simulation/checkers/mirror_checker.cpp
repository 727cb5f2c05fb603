#include "tests/simulation/checkers/mirror_checker.hpp"

#include <fmt/core.h>

#include "shared/ecs/local.hpp"
#include "shared/wire/quantise.hpp"

namespace shoal::simulation {
namespace {

std::string name(Entity entity) {
  return fmt::format("{}:{}", entity.index, entity.generation);
}

bool should_be_seen(const Registry& world, Entity entity) {
  return world.alive(entity) && !world.all_of<Local>(entity);
}

std::string compare_component(const Registry& world, Entity entity, const ReplicatedComponent& component,
                              const StorageBase& original, const StorageBase& copy) {
  const bool has = original.contains(entity);
  if (has != copy.contains(entity)) {
    return fmt::format("entity {}: {} is {}", name(entity), component.name,
                       has ? "missing" : "there, and should not be");
  }
  if (!has) return {};
  const auto* left = static_cast<const std::byte*>(original.find(entity.index));
  const auto* right = static_cast<const std::byte*>(copy.find(entity.index));
  for (const auto& field : component.fields) {
    std::uint32_t a[2] = {};
    std::uint32_t b[2] = {};
    quantise(field, left, a);
    quantise(field, right, b);
    if (field.type == FieldType::Entity) {
      // A reference counts where its entity can be seen; a mirror may keep the id of one that died.
      const Entity expected{a[0], a[1]};
      const Entity found{b[0], b[1]};
      const bool counts = should_be_seen(world, expected);
      if (counts ? found == expected : !should_be_seen(world, found)) continue;
      return fmt::format("entity {}: {}.{} refers to {}, expected {}", name(entity), component.name,
                         field.path, name(found), counts ? name(expected) : "nobody");
    }
    if (a[0] != b[0]) {
      return fmt::format("entity {}: {}.{} is {} steps, expected {}", name(entity), component.name,
                         field.path, b[0], a[0]);
    }
  }
  return {};
}

}  // namespace

std::string first_difference(const Registry& world, const Registry& mirror, const ComponentTable& table) {
  std::string difference;
  world.for_each_entity([&](Entity entity) {
    if (!difference.empty() || !should_be_seen(world, entity)) return;
    if (!mirror.alive(entity)) {
      difference = fmt::format("entity {} is missing", name(entity));
      return;
    }
    for (const auto& component : table.components()) {
      if (!difference.empty()) return;
      difference =
          compare_component(world, entity, component, world.storage(*world.find_component(component.wire_id)),
                            mirror.storage(*mirror.find_component(component.wire_id)));
    }
  });
  mirror.for_each_entity([&](Entity entity) {
    if (difference.empty() && !should_be_seen(world, entity))
      difference = fmt::format("ghost {}", name(entity));
  });
  return difference;
}

namespace {

// Where a client that does not catch up hangs: the first chunk that it does not have, as both sides see it.
std::string first_missing_chunk(const Simulation& simulation, const Endpoint& endpoint,
                                const Mirror& mirror) {
  std::string missing;
  simulation.server().for_each_view([&](PlayerNumber, const Endpoint& peer, const ClientView& view) {
    if (peer != endpoint) return;
    for (const auto& chunk : simulation.server().chunks().all()) {
      const auto baseline = view.baseline(chunk->id());
      if (!missing.empty() || baseline == chunk->current().tick()) continue;
      missing =
          fmt::format("chunk {} is at {}, acknowledged is {}; ", chunk->id().value,
                      chunk->current().tick().value, baseline ? std::to_string(baseline->value) : "nothing");
    }
  });
  for (const auto& chunk : simulation.server().chunks().all()) {
    const ChunkVersion* shown = mirror.shown(chunk->id());
    if ((shown && shown->tick() == chunk->current().tick())) continue;
    missing += fmt::format("chunk {} is at {}, shown is {}", chunk->id().value, chunk->current().tick().value,
                           shown ? std::to_string(shown->tick().value) : "nothing");
  }
  const auto& counters = mirror.counters();
  return fmt::format("{}; {} refused blocks, {} missing baselines, {} chunks wanted",
                     missing.empty() ? "every chunk is here" : missing, counters.refused_blocks,
                     counters.baseline_misses, mirror.wanted().size());
}

}  // namespace

void MirrorChecker::at_end(const Simulation& simulation) {
  for (std::size_t i = 0; i < simulation.clients().size(); ++i) {
    const SimulatedClient& actor = *simulation.clients()[i];
    const Client& client = *actor.client;
    // A client whose link was cut long enough is gone, and is not expected to know.
    if (client.state() != ClientState::Connected) continue;
    const Server& server = simulation.server();
    if (const auto difference = first_difference(server.registry(), *client.registry(), server.table());
        !difference.empty()) {
      return fail(fmt::format("client {}: {}", i, difference));
    }
    if (client.comparison() != Comparison::Exact) {
      return fail(fmt::format(
          "client {}: the digests {}", i,
          client.comparison() == Comparison::None
              ? "were never compared: " + first_missing_chunk(simulation, actor.endpoint, *client.mirror())
              : std::string("differ")));
    }
  }
}

}  // namespace shoal::simulation
