// What a run of the bots came to: the "bots" object of the report, and the lines for people.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/bots/swarm.hpp"
#include "client/bots/timeline.hpp"
#include "client/bots/verdict.hpp"

namespace shoal {

/// What is told of a run beside the swarm's own numbers.
struct RunRecord {
  SwarmSummary summary;
  std::string version;
  std::string started_at;  // RFC 3339, UTC
  Duration length{};
  /// As said by file, environment and command line: name without dashes, value.
  std::vector<std::pair<std::string, std::string>> options;
  std::string_view link = "none";  // the profile's word
  LinkFaults faults;               // what held in the end, each way
  Stages stages;
  std::vector<LimitCheck> checks;
  std::vector<std::string> failures;  // empty: passed
  std::optional<ServerReading> server;
  Timeline timeline;
};

/// A JSON object; docs/report.md says what each number means.
std::string bots_report(const RunRecord& run);

/// How far a run is.
struct Progress {
  Duration elapsed{};
  Duration length{};  // 0: without an end
};
/// "12 of 60 s"
std::string describe(const Progress& progress);

/// One line about the present, for logs and pipes.
std::string status_line(const SwarmSummary& summary, const SwarmSummary& before, Duration between,
                        const Progress& progress);
/// The same as a small table, for a terminal.
std::string status_table(const SwarmSummary& summary, const SwarmSummary& before, Duration between,
                         const Progress& progress);
/// What is wrong with the load generator itself, with the remedy; empty when nothing is.
std::string lateness_warning(const SwarmSummary& summary);
/// The verdict at the end.
std::string closing_line(const RunRecord& run);

}  // namespace shoal
