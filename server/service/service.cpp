#include "server/service/service.hpp"

#include <algorithm>

#include "shared/base/fault.hpp"
#include "shared/base/log.hpp"
#include "shared/config/process.hpp"

namespace shoal {
namespace {

/// After the end every client that missed the news is told again for this long.
constexpr Duration kFarewell = milliseconds(300);
constexpr Duration kLongestWait = milliseconds(50);

}  // namespace

Service::Service(Server& server, UdpPort& port, const Clock& clock, const ServiceConfig& config)
    : server_(server),
      port_(port),
      clock_(clock),
      config_(config),
      schedule_(clock.now(), config.tick_rate_hz) {}

void Service::run() {
  while (!server_.is_frozen() || !(server_.all_compared() || is_overdue())) {
    step();
    if (!first_join_ && server_.counters().joined > 0) first_join_ = clock_.now();
    const bool is_time =
        config_.seconds.count() > 0 && first_join_ && clock_.now() - *first_join_ >= config_.seconds;
    if ((is_time || stop_signals() > 0) && !server_.is_frozen()) {
      log_info("freezing the world at tick {}: comparing {} mirrors", server_.tick().value,
               server_.session_count());
      server_.freeze();
      frozen_at_ = clock_.now();
      enter(ServicePhase::Comparing);
    }
    if (stop_signals() > 1) break;
  }
  everyone_compared_ = server_.all_compared();
  say_farewell();
  enter(ServicePhase::Ended);
}

TickMeasures Service::measures() const {
  TickMeasures result = measures_;
  result.overruns += schedule_.skipped();
  return result;
}

bool Service::is_overdue() const {
  // Twice: clients get their digest at the deadline, and answer after a round trip.
  return clock_.now() - frozen_at_ > 2 * config_.freeze_deadline + seconds(1);
}

void Service::step() {
  const Time now = clock_.now();
  if (now < schedule_.next_deadline())
    port_.wait(std::min<Duration>(schedule_.next_deadline() - now, kLongestWait));
  server_.poll();
  for (ServicePart* part : parts_) part->between_ticks(clock_.now());
  for (std::uint32_t due = schedule_.take_due(clock_.now()); due > 0; --due) tick();
}

void Service::tick() {
  const Time began = clock_.now();
  server_.run_tick();
  while (fault("tick-hangs") && server_.tick().value >= 60) port_.wait(seconds(1));
  TickMoment moment{.tick = server_.tick(), .began = began, .took = clock_.now() - began};
  moment.overran = moment.took > schedule_.period();
  measures_.tick_us.add(static_cast<std::uint64_t>(moment.took.count() / 1000));
  measures_.recent_us.add(static_cast<std::uint64_t>(moment.took.count() / 1000));
  if (moment.overran) ++measures_.overruns;
  if (phase_ == ServicePhase::Starting) enter(ServicePhase::Running);
  for (ServicePart* part : parts_) part->after_tick(moment);
  server_.poll();
}

void Service::enter(ServicePhase phase) {
  phase_ = phase;
  for (ServicePart* part : parts_) part->on_phase(phase);
}

void Service::say_farewell() {
  server_.shut_down();
  for (const Time end = clock_.now() + kFarewell; clock_.now() < end;) {
    port_.wait(milliseconds(10));
    server_.poll();
  }
}

}  // namespace shoal
