// What a run of the server came to, as the "server" object of the report.
#pragma once

#include <cstdint>
#include <string>

#include "server/server.hpp"
#include "shared/base/histogram.hpp"
#include "shared/base/time.hpp"

namespace shoal {

struct TickMeasures {
  Histogram tick_us;           // duration of each tick
  std::uint64_t overruns = 0;  // ticks that took longer than their period, and those that were skipped
};

struct ProcessMeasures {
  Duration cpu_time{};
  std::uint64_t peak_rss_bytes = 0;
};

/// A JSON object; docs/report.md says what each number means.
std::string server_report(const Server& server, const ServerConfig& config, const TickMeasures& ticks,
                          const ProcessMeasures& process);

}  // namespace shoal
