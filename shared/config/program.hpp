// What every program of shoal does before its work begins: read its options, show help, set the log.
#pragma once

#include <functional>

#include "shared/base/log.hpp"
#include "shared/config/option_table.hpp"

namespace shoal {

/// Adds --log-level to the section at hand.
void add_log_level_option(OptionTable& table, LogLevel* target);
/// Adds --log-format.
void add_log_format_option(OptionTable& table, LogFormat* target);

/// Reads all sources of options and calls `work` with its targets set. Returns the exit code: that of `work`, 0 after
/// printing help or the version, 2 when an option is wrong. `log_level` is the target of add_log_level_option, `log_format` that of
/// add_log_format_option; null: text.
int run_program(OptionTable& table, int argc, const char* const* argv, const char* const* environment,
                const LogLevel& log_level, const std::function<int()>& work,
                const LogFormat* log_format = nullptr);

}  // namespace shoal
