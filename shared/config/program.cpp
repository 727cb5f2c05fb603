#include "shared/config/program.hpp"

#include <cstdio>

#include "shared/config/text_file.hpp"

namespace shoal {

void add_log_level_option(OptionTable& table, LogLevel* target) {
  table.add("log-level", target,
            {{"trace", LogLevel::Trace},
             {"debug", LogLevel::Debug},
             {"info", LogLevel::Info},
             {"warn", LogLevel::Warn},
             {"error", LogLevel::Error},
             {"off", LogLevel::Off}},
            {.help = "what is logged to standard error"});
}

void add_log_format_option(OptionTable& table, LogFormat* target) {
  table.add("log-format", target, {{"text", LogFormat::Text}, {"json", LogFormat::Json}},
            {.help = "text for people, or one JSON object a line for machines"});
}

int run_program(OptionTable& table, int argc, const char* const* argv, const char* const* environment,
                const LogLevel& log_level, const std::function<int()>& work, const LogFormat* log_format) {
  const auto outcome = table.parse(argc, argv, environment_from(environment), read_text_file);
  if (!outcome.ok()) {
    std::fputs((outcome.error() + "\n").c_str(), stderr);
    return 2;
  }
  if (outcome->text_to_print) {
    std::fputs(outcome->text_to_print->c_str(), stdout);
    return 0;
  }
  set_log_level(log_level);
  if (log_format != nullptr) set_log_format(*log_format);
  for (const auto& warning : outcome->warnings) log_warn("{}", warning);
  return work();
}

}  // namespace shoal
