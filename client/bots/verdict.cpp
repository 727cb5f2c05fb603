#include "client/bots/verdict.hpp"

#include <fmt/format.h>

namespace shoal {
namespace {

// 12, 0.25, 1234: no more digits than people read.
std::string short_number(double value) {
  return value >= 100 || value == static_cast<double>(static_cast<std::int64_t>(value))
             ? fmt::format("{:.0f}", value)
             : fmt::format("{:.2f}", value);
}

std::string with_unit(double value, std::string_view unit) {
  return fmt::format("{}{}{}", short_number(value), unit.empty() ? "" : " ", unit);
}

std::optional<double> quantile(const Histogram& histogram, double quantile, double divisor) {
  if (histogram.count() == 0) return std::nullopt;
  return static_cast<double>(histogram.quantile(quantile)) / divisor;
}

}  // namespace

std::string_view to_string(Finding finding) {
  switch (finding) {
    case Finding::Within:
      return "within";
    case Finding::Broken:
      return "broken";
    case Finding::Unknown:
      return "unknown";
  }
  return "unknown";
}

std::vector<LimitCheck> check_limits(const RunLimits& limits, const SwarmSummary& summary,
                                     std::optional<double> tick_p99_ms) {
  std::vector<LimitCheck> checks;
  const auto check = [&](std::string_view option, std::string_view what, std::string_view unit,
                         std::optional<double> limit, std::optional<double> value) {
    if (!limit) return;
    const Finding finding = !value ? Finding::Unknown : *value <= *limit ? Finding::Within : Finding::Broken;
    checks.push_back({option, what, unit, *limit, value, finding});
  };
  check("max-tick-p99-ms", "tick p99", "ms", limits.tick_p99_ms, tick_p99_ms);
  check("max-update-age-p99-ms", "update age p99", "ms", limits.update_age_p99_ms,
        quantile(summary.update_age_us, 0.99, 1000));
  check("max-kbit-per-second", "bandwidth of the p99 bot", "kbit/s", limits.kbit_per_second,
        quantile(summary.bits_per_second, 0.99, 1000));
  check("max-mismatches", "mismatches", "", limits.mismatches, static_cast<double>(summary.mismatches));
  check("max-lost", "sessions lost", "", limits.lost, static_cast<double>(summary.lost));
  return checks;
}

std::string describe(const LimitCheck& check) {
  const std::string limit = fmt::format("--{} {}", check.option, short_number(check.limit));
  if (!check.value) return fmt::format("{}: UNKNOWN, nothing was measured for {}", check.what, limit);
  return fmt::format("{}: {}, {} {}", check.what, with_unit(*check.value, check.unit),
                     check.finding == Finding::Within ? "within" : "BROKEN:", limit);
}

std::vector<std::string> failures(const SwarmSummary& summary, const RunLimits& limits,
                                  const std::vector<LimitCheck>& checks, bool must_compare) {
  std::vector<std::string> reasons;
  const auto say = [&](bool is_wrong, std::string reason) {
    if (is_wrong) reasons.push_back(std::move(reason));
  };
  for (const LimitCheck& check : checks) say(check.finding != Finding::Within, describe(check));
  say(summary.connected == 0, "no bot was ever connected");
  const std::uint32_t missing = summary.requested - std::min(summary.requested, summary.connected);
  say(summary.connected > 0 && missing > 0,
      fmt::format("{} of {} bots never had a session", missing, summary.requested));
  say(summary.refused > 0, fmt::format("{} bots were refused", summary.refused));
  say(!limits.lost && summary.lost > 0, fmt::format("{} sessions were lost", summary.lost));
  say(!limits.mismatches && summary.mismatches > 0, fmt::format("{} mismatches", summary.mismatches));
  say(summary.different > 0,
      fmt::format("{} mirrors differ from the server's world at the end", summary.different));
  say(must_compare && summary.expected == 0, "no bot was in session at the end: no mirror was compared");
  const std::uint32_t uncompared =
      summary.expected - std::min(summary.expected, summary.exact + summary.different);
  say(must_compare && uncompared > 0,
      fmt::format("{} of {} mirrors were not compared at the end", uncompared, summary.expected));
  return reasons;
}

}  // namespace shoal
