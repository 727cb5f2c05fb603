// The life of a server's process: ticks at their deadlines, signals, and what goes on beside the tick. A Server knows
// neither time passing by itself nor signals nor files; this does.
//
//   Service service(server, port, clock, config);
//   service.add(saver);          // parts: what else a tick or a pause between ticks means to somebody
//   service.run();               // until a signal or the end of config.seconds
//
// 1. All calls of Server and of parts come from the thread that calls run(): the tick's. A part that has work for other
//    threads hands them copies.
// 2. Phases only go forward: Starting, Running, then Comparing or Ended.
// 3. A tick never waits for a part: parts do on the tick's thread only what is bounded and quick.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/report.hpp"
#include "server/server.hpp"
#include "server/tick_schedule.hpp"
#include "shared/base/time.hpp"
#include "shared/net/udp_port.hpp"

namespace shoal {

enum class ServicePhase : std::uint8_t {
  Starting,   // no tick has run yet
  Running,    // players may join
  Comparing,  // the world is frozen, mirrors are compared
  Ended,
};

/// What one tick came to.
struct TickMoment {
  Tick tick;
  Time began{};
  Duration took{};
  bool overran = false;  // took longer than its period
};

/// Something that lives beside the tick: saves, metrics, a watchdog.
class ServicePart {
 public:
  virtual ~ServicePart() = default;
  /// After each tick, before its successor.
  virtual void after_tick(const TickMoment& /*moment*/) {}
  /// Between two ticks, at least every 50 ms. Ticks that are due wait for it.
  virtual void between_ticks(Time /*now*/) {}
  virtual void on_phase(ServicePhase /*phase*/) {}
};

struct ServiceConfig {
  std::uint32_t tick_rate_hz = 30;
  /// From the first join on; then the world is frozen and compared. 0: until a signal.
  Duration seconds{};
  /// As in ServerConfig.
  Duration freeze_deadline = kDefaultFreezeDeadline;
};

class Service {
 public:
  /// References outlive the service.
  Service(Server& server, UdpPort& port, const Clock& clock, const ServiceConfig& config);

  /// Outlives run(). Before run().
  void add(ServicePart& part) { parts_.push_back(&part); }
  /// Ticks until a stop signal or the end of `seconds`, then compares all mirrors and tells clients that the server
  /// ends. A second signal ends it at once.
  void run();

  ServicePhase phase() const { return phase_; }
  /// False when the end came before every client had told what its mirror shows.
  bool everyone_compared() const { return everyone_compared_; }
  TickMeasures measures() const;
  /// Ticks that never ran, since the server was too far behind.
  std::uint64_t skipped_ticks() const { return schedule_.skipped(); }

 private:
  bool is_overdue() const;
  void step();
  void tick();
  void enter(ServicePhase phase);
  void say_farewell();

  Server& server_;
  UdpPort& port_;
  const Clock& clock_;
  ServiceConfig config_;
  TickSchedule schedule_;
  std::vector<ServicePart*> parts_;
  ServicePhase phase_ = ServicePhase::Starting;
  TickMeasures measures_;
  std::optional<Time> first_join_;
  Time frozen_at_{};
  bool everyone_compared_ = false;
};

}  // namespace shoal
