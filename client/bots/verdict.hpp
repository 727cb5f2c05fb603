// Whether a run was good enough: the limits that its options set, and what must hold of every run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/bots/swarm.hpp"

namespace shoal {

/// None: without a limit.
struct RunLimits {
  std::optional<double> tick_p99_ms;
  std::optional<double> update_age_p99_ms;
  std::optional<double> kbit_per_second;  // of the p99 bot
  std::optional<double> mismatches;
  std::optional<double> lost;

  bool any() const { return tick_p99_ms || update_age_p99_ms || kbit_per_second || mismatches || lost; }
};

enum class Finding {
  Within,  // at the limit, too
  Broken,
  Unknown,  // nothing was measured: the run does not pass, since nobody knows
};
std::string_view to_string(Finding finding);

struct LimitCheck {
  std::string_view option;  // "max-lost"
  std::string_view what;    // "sessions lost"
  std::string_view unit;    // "ms"; empty for counts
  double limit = 0;
  std::optional<double> value;
  Finding finding = Finding::Unknown;
};

/// One for each limit that is set. `tick_p99_ms` is what the server said to the end; none when it did not.
std::vector<LimitCheck> check_limits(const RunLimits& limits, const SwarmSummary& summary,
                                     std::optional<double> tick_p99_ms);

/// "update age p99: 212 ms, BROKEN: --max-update-age-p99-ms 150"
std::string describe(const LimitCheck& check);

/// Why the run does not pass, one sentence each; empty when it does. A limit on mismatches or lost sessions takes the
/// place of the rule that there be none. `must_compare`: somebody's mirror was to be compared at the end.
std::vector<std::string> failures(const SwarmSummary& summary, const RunLimits& limits,
                                  const std::vector<LimitCheck>& checks, bool must_compare);

}  // namespace shoal
