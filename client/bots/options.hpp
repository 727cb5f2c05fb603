// The options of shoal-bots: one table for file, environment, command line and help.
#pragma once

#include <optional>
#include <string>

#include "client/bots/link_profile.hpp"
#include "client/bots/swarm.hpp"
#include "client/bots/verdict.hpp"
#include "shared/base/log.hpp"
#include "shared/config/option_table.hpp"

namespace shoal {

struct BotOptions {
  std::string server = "127.0.0.1:7777";
  SwarmConfig swarm;
  std::string server_key;     // 64 hexadecimal digits; empty: whoever answers is believed
  std::string password_file;  // path
  std::string ticket_key;     // path of the matchmaker's key file
  std::string audience;
  std::string stages;  // path of a file
  bool check_stages = false;
  Duration seconds{};
  LinkProfile link = LinkProfile::None;
  double latency_ms = 0;
  double jitter_ms = 0;
  RunLimits limits;
  std::string admin;  // HOST:PORT or a URL; empty: nobody asks the server
  std::string report;
  std::string html;
  bool until_server_ends = false;
  LogLevel log_level = LogLevel::Info;
  LogFormat log_format = LogFormat::Text;
};

/// `options` outlives the table.
OptionTable bot_option_table(BotOptions& options);

/// The complaint if the options contradict each other: stages say themselves how many bots there are and what they do,
/// and bots show one kind of credentials. REQUIRES: the table was parsed.
std::optional<std::string> contradiction(const OptionTable& table, const BotOptions& options);

/// Puts the figures of --link where no option of its own says another one, and all of them into `swarm.faults`.
/// REQUIRES: the table was parsed.
void settle_link(const OptionTable& table, BotOptions& options);
std::string_view to_string(LinkProfile profile);

}  // namespace shoal
