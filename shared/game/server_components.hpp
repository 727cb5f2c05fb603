// Components that only the server needs. They are not in the schema, so no descriptor names them and no
// client ever sees them.
#pragma once

#include "shared/base/tick.hpp"

namespace shoal::demo {

/// Creatures, pickups and projectiles end by themselves.
struct Lifetime {
  Tick ends;
};

/// When a creature decides next, and until when it walks or rests while it sees nobody.
struct Brain {
  Tick decides;
  Tick idles_until;
};

struct Weapon {
  Tick ready;
  bool trigger = false;
};

// How long the tag of the same name, or the effect, lasts.
struct BurningTimer {
  Tick ends;
};
struct InvulnerableTimer {
  Tick ends;
};
struct HasteTimer {
  Tick ends;
};

/// With a `Position`, a `Team` and the tag `Local`: around here this team comes to life.
struct SpawnPoint {};

}  // namespace shoal::demo
