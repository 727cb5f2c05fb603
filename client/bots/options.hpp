// The options of shoal-bots: one table for file, environment, command line and help.
#pragma once

#include <string>

#include "client/bots/swarm.hpp"
#include "shared/base/log.hpp"
#include "shared/config/option_table.hpp"

namespace shoal {

struct BotOptions {
  std::string server = "127.0.0.1:7777";
  SwarmConfig swarm;
  Duration seconds{};
  double latency_ms = 0;
  double jitter_ms = 0;
  std::string report;
  bool until_server_ends = false;
  LogLevel log_level = LogLevel::Info;
};

/// `options` outlives the table.
OptionTable bot_option_table(BotOptions& options);

}  // namespace shoal
