#include "tests/simulation/checkers/life_checker.hpp"

#include <fmt/core.h>

namespace shoal::simulation {

void LifeChecker::after_step(const Simulation& simulation) {
  if (++steps_ % 8 != 0) return;  // looking at everything every step would be most of the time
  seen_.resize(simulation.clients().size());
  const Registry& world = simulation.server().registry();
  for (std::size_t i = 0; i < simulation.clients().size(); ++i) {
    const SimulatedClient& actor = *simulation.clients()[i];
    const Registry* mirror = actor.mirror() ? actor.client->registry() : nullptr;
    if (!mirror) continue;
    Seen& seen = seen_[i];
    if (seen.world != actor.worlds) seen = {actor.worlds, {}};
    mirror->for_each_entity([&](Entity entity) {
      const Entity original = world.entity_at(entity.index);
      if (!original.is_null() && original.generation < entity.generation) {
        fail(fmt::format("client {} shows {}:{}, the server is only at generation {}", i, entity.index,
                         entity.generation, original.generation));
      }
      if (entity.index >= seen.newest_generation.size()) seen.newest_generation.resize(entity.index + 1);
      std::uint32_t& newest = seen.newest_generation[entity.index];
      if (entity.generation < newest) {
        fail(fmt::format("client {} shows {}:{} after generation {}", i, entity.index, entity.generation,
                         newest));
      }
      newest = entity.generation;
    });
  }
}

}  // namespace shoal::simulation
