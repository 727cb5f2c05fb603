#include "server/service/service.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "shared/base/fault.hpp"
#include "shared/base/log.hpp"
#include "shared/config/process.hpp"

namespace shoal {
namespace {

/// After the end every client that missed the news is told again for this long.
constexpr Duration kFarewell = milliseconds(300);
constexpr Duration kLongestWait = milliseconds(50);
constexpr std::string_view kWhyItDrains = "the server restarts";

}  // namespace

Service::Service(Server& server, UdpPort& port, const Clock& clock, const ServiceConfig& config)
    : server_(server),
      port_(port),
      clock_(clock),
      config_(config),
      schedule_(clock.now(), config.tick_rate_hz),
      watchdog_(clock, config.watchdog, [this] { return describe_doing(); }) {}

ServiceEnd Service::run() {
  std::optional<ServiceEnd> end;
  while (!end) {
    step();
    end = look_around();
  }
  // What parts do at the end takes the time that it takes.
  watchdog_.stop();
  say_farewell();
  enter(ServicePhase::Ended);
  return *end;
}

std::optional<ServiceEnd> Service::look_around() {
  if (!first_join_ && server_.counters().joined > 0) first_join_ = clock_.now();
  const int signals = stop_signals();
  if (signals > 1) {
    const bool players_had_time = phase_ == ServicePhase::Draining || terminate_signals() == signals;
    if (players_had_time) {
      // Two at once: those who are sent away are to come back all the same.
      if (phase_ != ServicePhase::Draining) server_.begin_drain({}, kWhyItDrains);
      return ServiceEnd::CutShort;
    }
    return server_.all_compared() ? ServiceEnd::Compared : ServiceEnd::NotCompared;
  }
  if (phase_ == ServicePhase::Comparing) {
    if (server_.all_compared()) return ServiceEnd::Compared;
    return is_overdue() ? std::optional(ServiceEnd::NotCompared) : std::nullopt;
  }
  const bool is_time =
      config_.seconds.count() > 0 && first_join_ && clock_.now() - *first_join_ >= config_.seconds;
  if (is_time || signals > terminate_signals()) {
    begin_comparing();
  } else if (phase_ != ServicePhase::Draining && (terminate_signals() > 0 || drain_is_asked_)) {
    begin_drain();
  } else if (phase_ == ServicePhase::Draining) {
    const bool is_over = server_.session_count() == 0 || clock_.now() - drained_at_ >= config_.drain_time;
    if (is_over) return ServiceEnd::Drained;
  }
  return std::nullopt;
}

void Service::begin_drain() {
  log_info("draining at tick {}: {} players have {:.1f} s", server_.tick().value, server_.session_count(),
           to_seconds(config_.drain_time));
  server_.begin_drain(config_.drain_time, kWhyItDrains);
  drained_at_ = clock_.now();
  enter(ServicePhase::Draining);
}

void Service::begin_comparing() {
  log_info("freezing the world at tick {}: comparing {} mirrors", server_.tick().value,
           server_.session_count());
  server_.freeze();
  frozen_at_ = clock_.now();
  enter(ServicePhase::Comparing);
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
  watchdog_.beat();
  const Time now = clock_.now();
  progress_.set("waiting for datagrams");
  if (now < schedule_.next_deadline() && !server_.has_joiners_waiting())
    port_.wait(std::min<Duration>(schedule_.next_deadline() - now, kLongestWait));
  progress_.set("datagrams and messages");
  server_.poll();
  for (ServicePart* part : parts_) {
    progress_.set(part->name());
    part->between_ticks(clock_.now());
  }
  for (std::uint32_t due = schedule_.take_due(clock_.now()); due > 0; --due) tick();
}

std::string Service::describe_doing() const {
  const char* const in_tick = server_.progress().doing();
  std::string words = in_tick != nullptr ? in_tick : progress_.doing() != nullptr ? progress_.doing() : "?";
  const char* between = ": ";
  server_.schedule().for_each_running(
      [&](const std::string& system) { words += std::exchange(between, ", ") + system; });
  return words;
}

void Service::tick() {
  watchdog_.beat();
  const Time began = clock_.now();
  progress_.set("the tick");
  server_.run_tick();
  while (fault("tick-hangs") && server_.tick().value >= 60) port_.wait(seconds(1));
  TickMoment moment{.tick = server_.tick(), .began = began, .took = clock_.now() - began};
  moment.overran = moment.took > schedule_.period();
  measures_.tick_us.add(static_cast<std::uint64_t>(moment.took.count() / 1000));
  measures_.recent_us.add(static_cast<std::uint64_t>(moment.took.count() / 1000));
  if (moment.overran) ++measures_.overruns;
  if (phase_ == ServicePhase::Starting) enter(ServicePhase::Running);
  for (ServicePart* part : parts_) {
    progress_.set(part->name());
    part->after_tick(moment);
  }
  progress_.set("datagrams and messages");
  server_.poll();
}

void Service::enter(ServicePhase phase) {
  phase_ = phase;
  for (ServicePart* part : parts_) {
    progress_.set(part->name());
    part->on_phase(phase);
  }
}

void Service::say_farewell() {
  server_.shut_down();
  for (const Time end = clock_.now() + kFarewell; clock_.now() < end;) {
    port_.wait(milliseconds(10));
    server_.poll();
  }
}

}  // namespace shoal
