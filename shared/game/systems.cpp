#include "shared/game/systems.hpp"

#include "shared/game/ai.hpp"
#include "shared/game/combat.hpp"
#include "shared/game/effects.hpp"
#include "shared/game/movement.hpp"
#include "shared/game/population.hpp"

namespace shoal::demo {

void register_systems(Schedule& schedule) {
  schedule.add("index_bodies", index_bodies);
  schedule.add("think", think);
  schedule.add("fire_weapons", fire_weapons);
  schedule.add("move", move);
  schedule.add("drop_to_ground", drop_to_ground);
  schedule.add("hit_bodies", hit_bodies);
  schedule.add("burn", burn);
  schedule.add("regenerate_health", regenerate_health);
  schedule.add("take_pickups", take_pickups);
  schedule.add("end_expired_effects", end_expired_effects);
  schedule.add("bury_the_dead", bury_the_dead);
  schedule.add("end_old_lives", end_old_lives);
  schedule.add("restore_population", restore_population);
}

}  // namespace shoal::demo
