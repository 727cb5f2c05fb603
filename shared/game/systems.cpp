#include "shared/game/systems.hpp"

#include "shared/game/ai.hpp"
#include "shared/game/combat.hpp"
#include "shared/game/effects.hpp"
#include "shared/game/movement.hpp"
#include "shared/game/population.hpp"

namespace shoal::demo {

void register_systems(Schedule& schedule) {
  schedule.add("index_bodies", index_bodies);
  schedule.add_each("think", think).writes<Velocity>();
  schedule.add("fire_weapons", fire_weapons);
  schedule.add_each("move", move);
  schedule.add_each("drop_to_ground", drop_to_ground);
  schedule.add("hit_bodies", hit_bodies);
  schedule.add_each("burn", burn);
  schedule.add_each("regenerate_health", regenerate_health);
  schedule.add("take_pickups", take_pickups);
  schedule.add("end_expired_effects", end_expired_effects);
  schedule.add("bury_the_dead", bury_the_dead);
  schedule.add_each("end_old_lives", end_old_lives);
  schedule.add("restore_population", restore_population);
}

}  // namespace shoal::demo
