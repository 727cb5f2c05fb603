#include "shared/game/systems.hpp"

#include "shared/game/ai.hpp"
#include "shared/game/combat.hpp"
#include "shared/game/effects.hpp"
#include "shared/game/movement.hpp"
#include "shared/game/population.hpp"

namespace shoal::demo {

void register_systems(Systems& systems) {
  systems.add("index_bodies", index_bodies);
  systems.add("think", think);
  systems.add("fire_weapons", fire_weapons);
  systems.add("move", move);
  systems.add("drop_to_ground", drop_to_ground);
  systems.add("hit_bodies", hit_bodies);
  systems.add("burn", burn);
  systems.add("regenerate_health", regenerate_health);
  systems.add("take_pickups", take_pickups);
  systems.add("end_expired_effects", end_expired_effects);
  systems.add("bury_the_dead", bury_the_dead);
  systems.add("end_old_lives", end_old_lives);
  systems.add("restore_population", restore_population);
}

}  // namespace shoal::demo
