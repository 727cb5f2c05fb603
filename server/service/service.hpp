// The life of a server's process: ticks at their deadlines, signals, and what goes on beside the tick. A Server knows
// neither time passing by itself nor signals nor files; this does.
//
//   Service service(server, port, clock, config);
//   service.add(saver);          // parts: what else a tick or a pause between ticks means to somebody
//   service.run();               // until a signal, request_drain() or the end of config.seconds
//
// SIGTERM, as `docker stop` sends it, drains: nobody is let in any more, clients are told when they are sent away, and play
// on until then or until the last one has left. SIGINT, from somebody at the terminal, freezes the world and compares all
// mirrors. A second one of either ends at once; clients are still told.
//
// 1. All calls of Server and of parts come from the thread that calls run(): the tick's. A part that has work for other
//    threads hands them copies.
// 2. Phases only go forward: Starting, Running, then perhaps Draining, perhaps Comparing, and Ended. After Ended no tick
//    follows and every client has been told: the world is as it stays.
// 3. A tick never waits for a part: parts do on the tick's thread only what is bounded and quick.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "server/report.hpp"
#include "server/server.hpp"
#include "server/service/watchdog.hpp"
#include "server/tick_schedule.hpp"
#include "shared/base/time.hpp"
#include "shared/net/udp_port.hpp"

namespace shoal {

enum class ServicePhase : std::uint8_t {
  Starting,   // no tick has run yet
  Running,    // players may join
  Draining,   // those who are here play on for a while, nobody joins
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
  /// For the watchdog's words: "the world's saver". Lives for ever.
  virtual const char* name() const { return "a part of the service"; }
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
  /// How long players may play on when the server drains.
  Duration drain_time = kDefaultDrainTime;
  WatchdogConfig watchdog{};
};

/// How it ended.
enum class ServiceEnd : std::uint8_t {
  Compared,     // every client told what its mirror shows
  NotCompared,  // some did not, in time or before a second signal
  Drained,
  CutShort,  // a second signal came while players had time left
};

class Service {
 public:
  /// References outlive the service.
  Service(Server& server, UdpPort& port, const Clock& clock, const ServiceConfig& config);

  /// Outlives run(). Before run().
  void add(ServicePart& part) { parts_.push_back(&part); }
  /// Ticks until a stop signal, request_drain() or the end of `seconds`; drains, or compares all mirrors; tells clients
  /// that the server ends.
  ServiceEnd run();
  /// As SIGTERM. From any thread, at any time.
  void request_drain() { drain_is_asked_ = true; }

  ServicePhase phase() const { return phase_; }
  /// Whether the tick's thread goes on. From any thread.
  bool is_alive() const { return watchdog_.is_alive(); }
  const Watchdog& watchdog() const { return watchdog_; }
  TickMeasures measures() const;
  /// Ticks that never ran, since the server was too far behind.
  std::uint64_t skipped_ticks() const { return schedule_.skipped(); }

 private:
  /// What signals and time ask for. An end: the run is over.
  std::optional<ServiceEnd> look_around();
  void begin_drain();
  void begin_comparing();
  bool is_overdue() const;
  void step();
  /// What the tick's thread is doing. From any thread.
  std::string describe_doing() const;
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
  Time drained_at_{};
  std::atomic<bool> drain_is_asked_{false};
  TickProgress progress_;  // beside the tick
  Watchdog watchdog_;      // last: its thread asks the others
};

}  // namespace shoal
