// What a run of the server came to, as the "server" object of the report.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/server.hpp"
#include "shared/base/histogram.hpp"
#include "shared/base/time.hpp"

namespace shoal {

/// Durations of the newest ticks: what a histogram over the whole run does not tell.
class RecentTicks {
 public:
  static constexpr std::size_t kTicks = 256;

  void add(std::uint64_t duration_us) { ring_[added_++ % kTicks] = duration_us; }
  /// As Histogram::quantile, exact; 0 before the first tick.
  std::uint64_t quantile(double quantile) const {
    const std::size_t count = std::min(added_, kTicks);
    if (count == 0) return 0;
    auto sorted = ring_;
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
    const auto rank = static_cast<std::size_t>(std::ceil(quantile * static_cast<double>(count)));
    return sorted[std::clamp<std::size_t>(rank, 1, count) - 1];
  }

 private:
  std::array<std::uint64_t, kTicks> ring_{};
  std::size_t added_ = 0;
};

struct TickMeasures {
  Histogram tick_us;           // duration of each tick
  RecentTicks recent_us;       // of the newest ones
  std::uint64_t overruns = 0;  // ticks that took longer than their period, and those that were skipped
};

struct ProcessMeasures {
  Duration cpu_time{};
  std::uint64_t peak_rss_bytes = 0;
};

struct SystemMeasure {
  std::string_view name;  // lives as long as the server
  std::uint64_t runs = 0;
  Duration total{};
};

/// Everything that the report holds, as plain values: for other threads than the tick's, too.
struct ServerMeasures {
  std::uint32_t tick_rate_hz = 0;
  std::uint64_t ticks = 0;
  std::uint64_t tick_us_p50 = 0;
  std::uint64_t tick_us_p99 = 0;
  std::uint64_t tick_us_max = 0;
  std::uint64_t recent_tick_us_p50 = 0;
  std::uint64_t recent_tick_us_p99 = 0;
  std::uint64_t recent_tick_us_max = 0;
  std::uint64_t overruns = 0;
  std::size_t entities = 0;  // replicated
  ReplicationCounters replication;
  ServerCounters counters;
  TransportCounters transport;
  std::vector<SystemMeasure> systems;
};

/// `entities`: as Server::replicated_entities(), or what the caller knows of it.
ServerMeasures measure(const Server& server, std::uint32_t tick_rate_hz, const TickMeasures& ticks,
                       std::size_t entities);

/// A JSON object; docs/report.md says what each number means.
std::string server_report(const ServerMeasures& measures, const ProcessMeasures& process);

}  // namespace shoal
