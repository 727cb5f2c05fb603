#include "client/bots/options.hpp"

#include <fmt/format.h>

#include "shared/config/program.hpp"
#include "shared/config/version.hpp"

namespace shoal {
namespace {

std::vector<std::pair<std::string, Scenario>> scenario_choices() {
  std::vector<std::pair<std::string, Scenario>> choices;
  for (const auto& [word, scenario] : kScenarios) choices.emplace_back(word, scenario);
  return choices;
}

}  // namespace

OptionTable bot_option_table(BotOptions& options) {
  options.swarm.reconnect_for = seconds(60);
  OptionTable table(
      {.program = "shoal-bots",
       .summary = "many clients in one process: each joins, plays, and checks its mirror block by block",
       .version = kVersion});
  table.section("bots");
  table.add("server", &options.server, {.help = "server as HOST:PORT"});
  table.add("bots", &options.swarm.bots, {.help = "how many", .min = 1, .max = kMaxBots});
  table.add("scenario", &options.swarm.scenario, scenario_choices(),
            {.help = "what the bots do; docs/scenarios.md describes each"});
  table.add("stages", &options.stages,
            {.help = "TOML file that says how many bots play, what they do, and from when to when; takes "
                     "the place of --bots and --scenario"});
  table.add("check-stages", &options.check_stages,
            {.help = "read the file of --stages, print its largest number of bots and its length in "
                     "seconds (0: without an end), and leave"});
  table.add(
      "square-size", &options.swarm.square_size,
      {.help = "the server's --square-size, for the border scenario", .min = 1, .max = 1e6, .unit = "m"});
  table.add("seed", &options.swarm.seed, {.help = "of the bots' decisions and of the link faults"});
  table.add("joins-per-second", &options.swarm.joins_per_second,
            {.help = "how fast the bots join", .min = 0.1, .max = 10000});

  table.section("joining");
  table.add(
      "server-key", &options.server_key,
      {.help = "the server's public key, as it logs it: whoever answers with another one gets nothing"});
  table.add("password-file", &options.password_file, {.help = "its first line is the server's password"});
  table.add("ticket-key", &options.ticket_key,
            {.help = "file with the matchmaker's secret key: each bot gets a ticket of its own"});
  table.add("audience", &options.audience,
            {.help = "the server's --audience, for those tickets; none: what --server-key says"});

  table.section("link");
  LinkFaults& link = options.swarm.faults;
  table.add("loss", &link.loss_percent,
            {.help = "percent of datagrams lost, each way", .min = 0, .max = 100});
  table.add("latency", &options.latency_ms, {.help = "milliseconds, each way", .min = 0, .max = 10000});
  table.add("jitter", &options.jitter_ms,
            {.help = "milliseconds by which the latency varies", .min = 0, .max = 10000});
  table.add("duplicate", &link.duplicate_percent,
            {.help = "percent of datagrams doubled, each way", .min = 0, .max = 100});
  table.add("reorder", &link.reorder_percent,
            {.help = "percent of datagrams overtaken, each way", .min = 0, .max = 100});
  table.add("corrupt", &link.corrupt_percent,
            {.help = "percent of datagrams damaged, each way", .min = 0, .max = 100});

  table.section("run");
  table.add("seconds", &options.seconds,
            {.help = "leave after this long; 0: stay until the stages, the server or Ctrl-C end it"});
  table.add(
      "reconnect", &options.swarm.reconnect_for,
      {.help = "for so long a bot that lost its session tries to come back, waiting longer each time; 0: "
               "not at all. A lost session counts as lost all the same",
       .min = 0,
       .max = 86'400});
  table.add("report", &options.report, {.help = "write what the run came to into this JSON file"});
  table.add("until-server-ends", &options.until_server_ends,
            {.help = "ignore the first Ctrl-C: the server will freeze the world and compare"});
  add_log_level_option(table, &options.log_level);
  return table;
}

std::optional<std::string> contradiction(const OptionTable& table, const BotOptions& options) {
  if (options.check_stages && options.stages.empty())
    return "--check-stages: which file? Give it with --stages FILE";
  if (!options.password_file.empty() && !options.ticket_key.empty())
    return "--password-file and --ticket-key contradict each other: a server asks for one of them. Leave one "
           "out";
  if (!options.ticket_key.empty() && options.audience.empty() && options.server_key.empty())
    return "--ticket-key: tickets for which server? Say its --audience, or its --server-key";
  if (!options.audience.empty() && options.ticket_key.empty())
    return "--audience says nothing without --ticket-key: add that, or leave --audience out";
  if (options.stages.empty()) return std::nullopt;
  for (const Option& option : table.options()) {
    if (option.name != "bots" && option.name != "scenario") continue;
    // A default that --print-config wrote into a file says nothing.
    const bool is_said = option.source > OptionSource::File || option.current() != option.default_text;
    if (is_said)
      return fmt::format(
          "{} ({}) and --stages contradict each other: the stages say how many bots play and what they do. "
          "Leave one of them out",
          option.flag(), option.origin);
  }
  return std::nullopt;
}

}  // namespace shoal
