#include "server/admin/status_collector.hpp"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

constexpr Duration kBetweenStatuses = milliseconds(250);
constexpr Duration kBetweenPlayers = seconds(1);

// Fractions of the period, densest where it begins to hurt.
std::vector<double> tick_bounds(Duration period) {
  std::vector<double> bounds;
  for (const double share : {1.0 / 256, 1.0 / 64, 1.0 / 32, 1.0 / 16, 1.0 / 8, 3.0 / 16, 1.0 / 4, 3.0 / 8,
                             1.0 / 2, 5.0 / 8, 3.0 / 4, 7.0 / 8, 1.0, 1.5, 2.0, 4.0, 16.0})
    bounds.push_back(share * to_seconds(period));
  return bounds;
}

// With shares of the budget among them, so that "near the budget" is a bound and no guess between two.
std::vector<double> bandwidth_bounds(std::uint64_t budget_bytes_per_second) {
  std::vector<double> bounds{1000,  2500,  5000,  10e3,  25e3, 50e3,  75e3, 100e3,
                             150e3, 200e3, 250e3, 500e3, 1e6,  2.5e6, 10e6};
  if (budget_bytes_per_second > 0) {
    for (const double share : {0.5, 0.75, 0.9, 1.0})
      bounds.push_back(share * static_cast<double>(budget_bytes_per_second));
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  return bounds;
}

double per_second(std::uint64_t later, std::uint64_t earlier, Duration between) {
  return static_cast<double>(later - earlier) / to_seconds(between);
}

}  // namespace

StatusCollector::StatusCollector(const Server& server, const Clock& clock, const ServerLimits& limits,
                                 Sources sources, StatusBoard& board)
    : server_(server),
      clock_(clock),
      limits_(limits),
      sources_(std::move(sources)),
      board_(board),
      tick_seconds_(tick_bounds(limits.period())),
      phase_seconds_(kTickPhases, BucketHistogram(tick_bounds(limits.period()))),
      client_bytes_per_second_(bandwidth_bounds(limits.client_bytes_per_second)),
      client_rtt_seconds_({0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2}),
      client_jitter_seconds_({0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1}),
      client_loss_({0, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1}),
      client_wait_seconds_({0, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30}),
      players_(std::make_shared<const std::vector<PlayerStatus>>()) {
  for (const auto& system : server.schedule().systems()) {
    systems_.push_back({system.name, BucketHistogram(tick_bounds(limits.period()))});
    system_runs_.push_back(system.runs);
  }
}

void StatusCollector::set_phase(std::string_view phase, bool takes_players) {
  phase_ = phase;
  takes_players_ = takes_players;
  is_phase_new_ = true;
}

void StatusCollector::end(std::string_view phase) {
  set_phase(phase, false);
  is_over_ = true;
  publish(clock_.now());
}

void StatusCollector::after_tick(Duration took) {
  const Time now = clock_.now();
  board_.beat(now);
  tick_seconds_.add(to_seconds(took));
  for (std::size_t i = 0; i < kTickPhases; ++i) phase_seconds_[i].add(to_seconds(server_.phase_times()[i]));
  count_systems();
  if (!is_phase_new_ && now - published_ < kBetweenStatuses) return;
  if (now - players_seen_ >= kBetweenPlayers) look_at_players(now);
  publish(now);
}

void StatusCollector::publish(Time now) {
  auto status = make(now);
  if (!board_.publish(status)) return;
  published_ = now;
  is_phase_new_ = false;
}

void StatusCollector::count_systems() {
  const auto systems = server_.schedule().systems();
  for (std::size_t i = 0; i < systems_.size(); ++i) {
    if (std::exchange(system_runs_[i], systems[i].runs) == systems[i].runs) continue;  // frozen
    systems_[i].seconds.add(to_seconds(systems[i].last));
  }
}

void StatusCollector::look_at_players(Time now) {
  const Time seen_before = std::exchange(players_seen_, now);
  const Duration between = now - seen_before;
  auto players = std::make_shared<std::vector<PlayerStatus>>();
  players->reserve(server_.session_count());
  traffic_now_.clear();
  server_.for_each_session_status([&](const SessionStatus& session) {
    const auto before = traffic_before_.find(session.number.value);
    traffic_now_.emplace(session.number.value, session.traffic);
    PlayerStatus& player = players->emplace_back(PlayerStatus{.session = session});
    // Its first second is not over; of a player who is back under the same number, the session's.
    if (before == traffic_before_.end() || session.joined_at >= seen_before) return;
    const SessionTraffic& then = before->second;
    player.sent_bytes_per_second = per_second(session.traffic.sent_bytes, then.sent_bytes, between);
    player.received_bytes_per_second =
        per_second(session.traffic.received_bytes, then.received_bytes, between);
    client_bytes_per_second_.add(player.sent_bytes_per_second);
    const std::uint64_t lost = session.traffic.lost - then.lost;
    const std::uint64_t settled = lost + session.traffic.acknowledged - then.acknowledged;
    if (settled > 0) {
      player.loss = static_cast<double>(lost) / static_cast<double>(settled);
      client_loss_.add(player.loss);
    }
    if (session.rtt > Duration{0}) {
      client_rtt_seconds_.add(to_seconds(session.rtt));
      client_jitter_seconds_.add(to_seconds(session.jitter));
    }
    client_wait_seconds_.add(to_seconds(limits_.period()) * session.longest_wait_ticks);
  });
  traffic_before_.swap(traffic_now_);
  players_ = std::move(players);
  message_memory_bytes_ = server_.message_memory_bytes();
}

std::shared_ptr<const ServerStatus> StatusCollector::make(Time now) {
  auto status = std::make_shared<ServerStatus>();
  status->made = now;
  status->tick = server_.tick();
  status->phase = phase_;
  status->takes_players = takes_players_;
  status->is_over = is_over_;
  status->player_count = server_.session_count();
  status->limits = limits_;
  status->measures =
      measure(server_, limits_.tick_rate_hz, sources_.measures(), server_.replicated_entity_count());
  status->skipped_ticks = sources_.skipped_ticks();
  status->stalls = sources_.stalls();
  status->absent_players = server_.absent_count();
  status->tick_seconds = tick_seconds_;
  status->phase_seconds = phase_seconds_;
  status->systems = systems_;
  status->client_bytes_per_second = client_bytes_per_second_;
  status->client_rtt_seconds = client_rtt_seconds_;
  status->client_jitter_seconds = client_jitter_seconds_;
  status->client_loss = client_loss_;
  status->client_wait_seconds = client_wait_seconds_;
  status->players = players_;
  const Registry& registry = server_.registry();
  for (std::uint16_t i = 0; i < registry.component_count(); ++i) {
    const StorageBase& pool = registry.storage(ComponentType{i});
    status->pools.push_back({pool.name(), pool.size(), pool.memory_bytes()});
  }
  status->chunks = server_.chunks().size();
  status->squares = server_.chunks().square_count();
  status->chunk_memory_bytes = server_.chunks().memory_bytes();
  status->message_memory_bytes = message_memory_bytes_;
  status->resent_message_units = server_.resent_message_units();
  status->binding_bits = server_.chunks().shares().binding_bits;
  status->component_bits = server_.chunks().shares().component_bits;
  for (const auto& component : server_.table().components())
    status->component_names.push_back(component.name);
  status->port = sources_.port();
  if (sources_.saves) status->saves = sources_.saves();
  return status;
}

}  // namespace shoal
