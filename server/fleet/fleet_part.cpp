#include "server/fleet/fleet_part.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "shared/base/log.hpp"
#include "shared/config/option.hpp"
#include "shared/config/version.hpp"

namespace shoal {
namespace {

/// No tick for this long: it hangs.
constexpr Duration kStuck = seconds(2);
constexpr Duration kShutdownTime = seconds(2);
constexpr Duration kStopSignalTime = seconds(60);

// What the cluster takes as a label's value: at most 63 letters, digits, '-', '_' and '.', the first and the last a
// letter or a digit.
bool is_label_value(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= 63 && is_plain(text.front()) && is_plain(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_plain(c) || c == '-' || c == '_' || c == '.'; });
}

std::string_view variable(const char* const* environment, std::string_view name) {
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
      return entry.substr(name.size() + 1);
  }
  return {};
}

}  // namespace

Result<std::optional<FleetConfig>, std::string> fleet_config(const FleetOptions& options,
                                                             const char* const* environment,
                                                             std::uint32_t max_players,
                                                             const std::string& server_key) {
  const std::string_view port = variable(environment, kAgonesPortVariable);
  if (options.mode == FleetMode::Off || (options.mode == FleetMode::Auto && port.empty()))
    return std::optional<FleetConfig>();
  FleetConfig config;
  if (!port.empty()) {
    const auto number = parse_unsigned(port, {1, 65535});
    if (!number) {
      return Failure{fmt::format("{} is {}, which is no port: Agones sets it; --fleet off does without",
                                 kAgonesPortVariable, in_quotes(port))};
    }
    config.port = static_cast<std::uint16_t>(*number);
  }
  config.plan.max_players = max_players;
  config.plan.allocate_on_join = options.allocate_on_join;
  config.plan.reserve = options.reserve;
  config.plan.labels.emplace_back("version", kVersion);
  if (!options.map.empty()) {
    if (!is_label_value(options.map)) {
      return Failure{
          fmt::format("--fleet-map {}: at most 63 letters, digits, '-', '_' and '.', the first and the "
                      "last a letter or a digit, as a label's value is",
                      in_quotes(options.map))};
    }
    config.plan.labels.emplace_back("map", options.map);
  }
  config.plan.annotations.emplace_back("server-key", server_key);
  return std::optional(std::move(config));
}

FleetPart::FleetPart(const FleetConfig& config, const Server& server, const Clock& clock,
                     std::function<void()> request_drain)
    : server_(server),
      clock_(clock),
      request_drain_(std::move(request_drain)),
      sdk_(
          config.port, config.plan, [this] { return is_alive(); }, clock) {
  log_info("fleet: Agones' side-car is expected on port {}", config.port);
}

bool FleetPart::is_alive() const {
  if (is_over_.load()) return true;  // nothing ticks any more, as it should be
  const std::int64_t last = last_tick_ns_.load();
  return last >= 0 && clock_.now() - Time{Duration(last)} < kStuck;
}

void FleetPart::after_tick(const TickMoment&) {
  last_tick_ns_.store(clock_.now().since_zero.count());
  const auto players = static_cast<std::uint32_t>(server_.session_count());
  if (status_.has_ticked && status_.players == players) return;
  status_.has_ticked = true;
  status_.players = players;
  sdk_.post(status_);
}

void FleetPart::on_phase(ServicePhase phase) {
  if (phase == ServicePhase::Ended) is_over_.store(true);
}

void FleetPart::between_ticks(Time) {
  if (has_asked_ || !sdk_.wants_end()) return;
  has_asked_ = true;
  request_drain_();
}

void FleetPart::finish(const std::function<bool()>& is_stopped) {
  status_.is_over = true;
  sdk_.post(status_);
  if (!sdk_.wait(kShutdownTime, [this] { return sdk_.has_shut_down(); }))
    return log_warn("fleet: Agones' side-car took no shutdown; it may linger");
  if (is_stopped()) return;
  log_info("fleet: waiting for SIGTERM");
  if (!sdk_.wait(kStopSignalTime, is_stopped))
    log_warn("fleet: no SIGTERM came within {} s; ending without", kStopSignalTime / seconds(1));
}

}  // namespace shoal
