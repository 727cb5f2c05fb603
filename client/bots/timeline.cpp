#include "client/bots/timeline.hpp"

#include <cmath>
#include <limits>

namespace shoal {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

double mean(double a, double b) {
  if (std::isnan(a)) return b;
  return std::isnan(b) ? a : (a + b) / 2;
}

// `b` is the later one.
TimelineSample merged(const TimelineSample& a, const TimelineSample& b) {
  TimelineSample result = b;
  result.kbit_p50 = mean(a.kbit_p50, b.kbit_p50);
  result.kbit_p99 = std::fmax(a.kbit_p99, b.kbit_p99);
  result.age_p50_ms = mean(a.age_p50_ms, b.age_p50_ms);
  result.age_p99_ms = std::fmax(a.age_p99_ms, b.age_p99_ms);
  result.updates_per_second = mean(a.updates_per_second, b.updates_per_second);
  result.tick_p50_ms = mean(a.tick_p50_ms, b.tick_p50_ms);
  result.tick_p99_ms = std::fmax(a.tick_p99_ms, b.tick_p99_ms);
  result.events_per_second = mean(a.events_per_second, b.events_per_second);
  return result;
}

double quantile(const Histogram& histogram, double quantile) {
  return histogram.count() == 0 ? kUnknown : static_cast<double>(histogram.quantile(quantile)) / 1000;
}

}  // namespace

void Timeline::add(const TimelineSample& sample) {
  half_ = half_ ? merged(*half_, sample) : sample;
  if (++merged_ < seconds_per_sample_) return;
  samples_.push_back(*half_);
  half_.reset();
  merged_ = 0;
  if (samples_.size() < kMaxSamples) return;
  for (std::size_t i = 0; i + 1 < samples_.size(); i += 2)
    samples_[i / 2] = merged(samples_[i], samples_[i + 1]);
  samples_.resize(kMaxSamples / 2);
  seconds_per_sample_ *= 2;
}

Histogram TimelineRecorder::bandwidth(double between_seconds) {
  Histogram bits;
  bots_.resize(swarm_.size());
  for (std::size_t i = 0; i < bots_.size(); ++i) {
    const Client& client = swarm_.client(i);
    BotBefore& before = bots_[i];
    const bool is_connected = client.state() == ClientState::Connected;
    const std::uint64_t bytes = client.transport_counters().received_bytes;
    if (is_connected && before.was_connected)
      bits.add(static_cast<std::uint64_t>(static_cast<double>(bytes - before.received_bytes) * 8 /
                                          between_seconds));
    before = {is_connected, bytes};
  }
  return bits;
}

const SwarmSummary& TimelineRecorder::take(const std::optional<ServerReading>& server) {
  const Time now = clock_.now();
  const double between = to_seconds(now - last_);
  SwarmSummary summary = swarm_.summary();
  const Histogram bits = bandwidth(between);
  const Histogram age = summary.update_age_us.since(before_.update_age_us);
  const auto rate = [&](std::uint64_t later, std::uint64_t earlier) {
    return static_cast<double>(later - earlier) / between;
  };
  timeline_.add({
      .at_seconds = to_seconds(now - started_),
      .connected = static_cast<double>(summary.connected_now),
      .kbit_p50 = quantile(bits, 0.5),
      .kbit_p99 = quantile(bits, 0.99),
      .age_p50_ms = quantile(age, 0.5),
      .age_p99_ms = quantile(age, 0.99),
      .updates_per_second = rate(summary.entity_updates, before_.entity_updates),
      .events_per_second = rate(summary.events, before_.events),
      .mismatches = static_cast<double>(summary.mismatches),
      .resyncs = static_cast<double>(summary.resyncs),
      .lost = static_cast<double>(summary.lost),
      .refused = static_cast<double>(summary.refused),
      .tick_p50_ms = server ? server->recent_tick_p50_ms : kUnknown,
      .tick_p99_ms = server ? server->recent_tick_p99_ms : kUnknown,
      .overruns = server ? static_cast<double>(server->overruns) : kUnknown,
  });
  before_ = std::move(summary);
  last_ = now;
  return before_;
}

}  // namespace shoal
