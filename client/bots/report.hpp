// What a run of the bots came to: the "bots" object of the report, and the lines for people.
#pragma once

#include <string>

#include "client/bots/swarm.hpp"

namespace shoal {

/// A JSON object; docs/report.md says what each number means.
std::string bots_report(const SwarmSummary& summary);

/// One line about the present, for logs and pipes.
std::string status_line(const SwarmSummary& summary, const SwarmSummary& before, Duration between);
/// The same as a small table, for a terminal.
std::string status_table(const SwarmSummary& summary, const SwarmSummary& before, Duration between,
                         Duration elapsed);
/// What is wrong with the load generator itself, with the remedy; empty when nothing is.
std::string lateness_warning(const SwarmSummary& summary);
/// The verdict at the end.
std::string closing_line(const SwarmSummary& summary);

}  // namespace shoal
