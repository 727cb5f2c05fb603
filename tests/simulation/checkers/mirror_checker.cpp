#include "tests/simulation/checkers/mirror_checker.hpp"

#include <fmt/core.h>

#include <cmath>

#include "schema/components.hpp"
#include "shared/ecs/affiliation.hpp"
#include "shared/ecs/local.hpp"
#include "shared/wire/quantise.hpp"

namespace shoal::simulation {
namespace {

std::string name(Entity entity) {
  return fmt::format("{}:{}", entity.index, entity.generation);
}

bool should_exist(const Registry& world, Entity entity) {
  return world.alive(entity) && !world.all_of<Local>(entity);
}

std::string compare_values(const Registry& world, const Registry& mirror, Entity entity,
                           const ReplicatedComponent& component) {
  const StorageBase& original = world.storage(*world.find_component(component.wire_id));
  const StorageBase& copy = mirror.storage(*mirror.find_component(component.wire_id));
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
      // A reference counts where the mirror has its entity; it may keep the id of one that died or left.
      const Entity expected{a[0], a[1]};
      const Entity found{b[0], b[1]};
      const bool counts = should_exist(world, expected) && mirror.alive(expected);
      if (counts ? found == expected : !mirror.alive(found)) continue;
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

enum class Sight { Never, Perhaps, Always };

class Rules {
 public:
  Rules(const Registry& world, const ComponentTable& table, const Expectation& expectation)
      : world_(world), table_(table), expectation_(expectation) {}

  Sight sight(Entity entity, Audience audience) const {
    if (!should_exist(world_, entity)) return Sight::Never;
    const auto yes_if = [](bool seen) { return seen ? Sight::Always : Sight::Never; };
    switch (audience) {
      case Audience::Team: {
        const auto* team = world_.try_get<const OnTeam>(entity);
        const auto* own =
            world_.alive(expectation_.player) ? world_.try_get<const OnTeam>(expectation_.player) : nullptr;
        return yes_if(has_any(entity, audience) && team && own && team->team == own->team);
      }
      case Audience::Owner: {
        const auto* owned = world_.try_get<const OwnedBy>(entity);
        return yes_if(has_any(entity, audience) && owned && world_.alive(expectation_.player) &&
                      owned->player == expectation_.player);
      }
      case Audience::Everyone:
        break;
    }
    if (!has_any(entity, Audience::Everyone) &&
        (has_any(entity, Audience::Team) || has_any(entity, Audience::Owner)))
      return Sight::Never;
    const auto* position = world_.try_get<const demo::Position>(entity);
    if (!position || expectation_.interest.radius <= 0) return Sight::Always;
    // From the entity to the square in which it is, across the square, and to where the viewer was looked for last.
    const double distance =
        std::hypot(position->x - expectation_.centre.x, position->y - expectation_.centre.y);
    const InterestConfig& interest = expectation_.interest;
    const double slack = 1.5 * (interest.square_hysteresis() + interest.centre_step()) + 0.1;
    if (distance < interest.radius - slack) return Sight::Always;
    if (distance > interest.radius + interest.radius_hysteresis() + 1.5 * interest.square_size + slack)
      return Sight::Never;
    return Sight::Perhaps;
  }

 private:
  bool has_any(Entity entity, Audience audience) const {
    for (const auto& component : table_.components()) {
      if (component.audience != audience) continue;
      if (world_.storage(*world_.find_component(component.wire_id)).contains(entity)) return true;
    }
    return false;
  }

  const Registry& world_;
  const ComponentTable& table_;
  const Expectation& expectation_;
};

std::string compare_entity(const Registry& world, const Registry& mirror, const ComponentTable& table,
                           const Rules& rules, Entity entity) {
  bool must = false;
  bool may = false;
  for (const Audience audience : {Audience::Everyone, Audience::Team, Audience::Owner}) {
    const Sight sight = rules.sight(entity, audience);
    must = must || sight == Sight::Always;
    may = may || sight != Sight::Never;
  }
  if (!mirror.alive(entity)) return must ? fmt::format("entity {} is missing", name(entity)) : std::string();
  if (!may) return fmt::format("ghost {}", name(entity));
  for (const Audience audience : {Audience::Everyone, Audience::Team, Audience::Owner}) {
    const Sight sight = rules.sight(entity, audience);
    std::string difference;
    std::string leak;
    for (const auto& component : table.components()) {
      if (component.audience != audience) continue;
      if (difference.empty()) difference = compare_values(world, mirror, entity, component);
      if (leak.empty() && mirror.storage(*mirror.find_component(component.wire_id)).contains(entity))
        leak = fmt::format("entity {}: {} is not for this client", name(entity), component.name);
    }
    if (sight == Sight::Always && !difference.empty()) return difference;
    if (sight == Sight::Never && !leak.empty()) return leak;
    // On the border it is seen whole or not at all.
    if (sight == Sight::Perhaps && !difference.empty() && !leak.empty()) return difference;
  }
  return {};
}

}  // namespace

std::string first_difference(const Registry& world, const Registry& mirror, const ComponentTable& table,
                             const Expectation& expectation) {
  const Rules rules(world, table, expectation);
  std::string difference;
  const auto compare = [&](Entity entity) {
    if (difference.empty()) difference = compare_entity(world, mirror, table, rules, entity);
  };
  world.for_each_entity(compare);
  mirror.for_each_entity(compare);
  return difference;
}

namespace {

// Where a client that does not catch up hangs: the first chunk that it does not have, as both sides see it.
std::string first_missing_chunk(const Simulation& simulation, const SimulatedClient& actor,
                                const Mirror& mirror) {
  std::string missing;
  simulation.server().for_each_view([&](PlayerNumber, const Endpoint& peer, const ClientView& view) {
    if (!actor.is_at(peer)) return;
    if (view.pending_drops() > 0)
      missing += fmt::format("{} chunks that left are not acknowledged; ", view.pending_drops());
    view.for_each_chunk([&](ChunkIndex index, ChunkId id, Epoch epoch, std::optional<Tick> baseline) {
      const Tick current = simulation.server().chunks()[index].current().tick();
      const ChunkVersion* shown = mirror.shown(id);
      if (!missing.empty() || (shown && shown->tick() == current)) return;
      missing =
          fmt::format("chunk {} in epoch {} is at {}, baseline is {}, shown is {}", id.value, epoch.value,
                      current.value, baseline ? std::to_string(baseline->value) : "nothing",
                      shown ? std::to_string(shown->tick().value) : "nothing");
    });
  });
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
    if (client.state() != ClientState::Connected || !actor.mirror()) continue;
    const Server& server = simulation.server();
    Expectation expectation{client.controlled(), {}, simulation.plan().interest};
    bool has_session = false;
    server.for_each_view([&](PlayerNumber player, const Endpoint& peer, const ClientView& view) {
      if (!actor.is_at(peer)) return;
      has_session = true;
      expectation.player = server.player_entity(player);
      expectation.centre = view.interest().centre();
      if (!server.registry().all_of<demo::Position>(expectation.player)) return;
      const auto& position = server.registry().get<const demo::Position>(expectation.player);
      expectation.centre = {position.x, position.y};
    });
    // The server gave it up, behind a link that was cut, and it has not noticed yet.
    if (!has_session && server.counters().timed_out > 0) continue;
    if (const auto difference =
            first_difference(server.registry(), *client.registry(), server.table(), expectation);
        !difference.empty()) {
      return fail(fmt::format("client {}: {}; {}", i, difference,
                              first_missing_chunk(simulation, actor, *client.mirror())));
    }
    if (client.comparison() != Comparison::Exact) {
      return fail(
          fmt::format("client {}: the digests {}", i,
                      client.comparison() == Comparison::None
                          ? "were never compared: " + first_missing_chunk(simulation, actor, *client.mirror())
                          : std::string("differ")));
    }
  }
}

}  // namespace shoal::simulation
