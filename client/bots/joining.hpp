// What the bots show at the door, and to whom: made of the files and keys that the options name.
#pragma once

#include "client/bots/options.hpp"
#include "shared/base/random.hpp"
#include "shared/base/time.hpp"

namespace shoal {

/// Sets the swarm's server key and credentials. False after logging what is wrong. The references outlive the swarm.
bool prepare_joining(BotOptions& options, Entropy& entropy, const WallClock& wall_clock);

}  // namespace shoal
