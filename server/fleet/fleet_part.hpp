// The server as one of a fleet of Agones: what beside the tick tells the side-car how the server is, and hears when it
// is to end.
//
//   const auto config = fleet_config(options.fleet, environ, …);
//   FleetPart fleet(*config, server, clock, [&] { service.request_drain(); });
//   service.add(fleet);
//   service.run();
//   fleet.finish(…);   // shutdown, always, then SIGTERM
//
// 1. The tick waits for nothing here.
// 2. Health is reported only while ticks go by; a tick that hangs is a server that Agones replaces.
// Threads: the tick's.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "server/fleet/agones_sdk.hpp"
#include "server/options.hpp"
#include "server/server.hpp"
#include "server/service/service.hpp"
#include "shared/base/result.hpp"

namespace shoal {

/// Where Agones says the side-car's REST face is, and where it is unless it says.
inline constexpr const char* kAgonesPortVariable = "AGONES_SDK_HTTP_PORT";
inline constexpr std::uint16_t kAgonesPort = 9358;

struct FleetConfig {
  std::uint16_t port = kAgonesPort;
  AgonesPlanConfig plan;
};

/// None: this server is in no fleet. `environment` is a block like `environ`. `server_key`: for those who allocate, to
/// pass it on to clients. The error says which option or variable is wrong.
Result<std::optional<FleetConfig>, std::string> fleet_config(const FleetOptions& options,
                                                             const char* const* environment,
                                                             std::uint32_t max_players,
                                                             const std::string& server_key);

class FleetPart final : public ServicePart {
 public:
  /// References outlive the part. `request_drain` is called once, between two ticks, when Agones ends the server.
  FleetPart(const FleetConfig& config, const Server& server, const Clock& clock,
            std::function<void()> request_drain);

  const char* name() const override { return "the fleet's part"; }
  void after_tick(const TickMoment& moment) override;
  void between_ticks(Time now) override;
  void on_phase(ServicePhase phase) override;
  /// After the service ended: tells the side-car that the server is over, for at most two seconds, and unless
  /// `is_stopped`, a stop signal came, waits for one: Agones sends it when it has heard. At most a minute, and not at
  /// all when the side-car took no shutdown.
  void finish(const std::function<bool()>& is_stopped);

 private:
  bool is_alive() const;

  const Server& server_;
  const Clock& clock_;
  std::function<void()> request_drain_;
  bool has_asked_ = false;
  FleetStatus status_;
  std::atomic<std::int64_t> last_tick_ns_{-1};  // on the clock; −1: none yet
  std::atomic<bool> is_over_{false};
  AgonesSdk sdk_;  // last: its thread asks is_alive()
};

}  // namespace shoal
