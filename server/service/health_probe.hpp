// Asks the server on this machine whether it is alive, as a player would: a Hello to its UDP port. The tick's thread
// answers handshakes, so a tick that is stuck gives no answer, and neither does a process that only still exists.
//
// 1. Whatever a server of shoal says to a Hello is a sign of life: a challenge, or a refusal because it ends or speaks
//    another version. A full or draining server is not ill.
// 2. It takes no session and no place, and asks nobody but the port.
// Threads: one.
#pragma once

#include <optional>
#include <string>

#include "shared/base/random.hpp"
#include "shared/base/result.hpp"
#include "shared/base/time.hpp"
#include "shared/net/endpoint.hpp"

namespace shoal {

/// All of the probe; Docker and kubelets give a check little time.
inline constexpr Duration kHealthProbeTime = milliseconds(1800);

/// Where a server that listens at `bind` and `port` is reached from its own machine: an address that means every one
/// becomes the loopback. For port 0 the port is what the server wrote into `port_file`. The error says what is missing.
Result<Endpoint, std::string> health_probe_target(const std::string& bind, std::uint16_t port,
                                                  const std::string& port_file);

/// None: it answered. Else why it counts as unhealthy. Repeats a Hello that was lost, within `time` in all.
std::optional<std::string> why_unhealthy(const Endpoint& server, const Clock& clock, Entropy& entropy,
                                         Duration time = kHealthProbeTime);

}  // namespace shoal
