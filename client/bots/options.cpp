#include "client/bots/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/config/program.hpp"
#include "shared/config/version.hpp"

namespace shoal {
namespace {

std::vector<std::pair<std::string, Scenario>> scenario_choices() {
  std::vector<std::pair<std::string, Scenario>> choices;
  for (const auto& [word, scenario] : kScenarios) choices.emplace_back(word, scenario);
  return choices;
}

std::vector<std::pair<std::string, LinkProfile>> link_choices() {
  std::vector<std::pair<std::string, LinkProfile>> choices;
  for (const NamedLink& link : kLinkProfiles) choices.emplace_back(link.word, link.profile);
  return choices;
}

}  // namespace

std::string_view to_string(LinkProfile profile) {
  for (const NamedLink& link : kLinkProfiles) {
    if (link.profile == profile) return link.word;
  }
  return "none";
}

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
  table.add("link", &options.link, link_choices(),
            {.help = "a link of everyday life: figures for all that follows, which single options replace; "
                     "docs/scenarios.md has them"});
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

  table.section("limits");
  table.add(
      "max-tick-p99-ms", &options.limits.tick_p99_ms,
      {.help = "most milliseconds that 99 of 100 of the server's ticks may take, as its admin port says",
       .min = 0});
  table.add("max-update-age-p99-ms", &options.limits.update_age_p99_ms,
            {.help = "most milliseconds that 99 of 100 updates may be old when they arrive", .min = 0});
  table.add("max-kbit-per-second", &options.limits.kbit_per_second,
            {.help = "most kbit per second that 99 of 100 bots may receive", .min = 0});
  table.add(
      "max-mismatches", &options.limits.mismatches,
      {.help = "most blocks that may decode to something else; none: the run fails at the first", .min = 0});
  table.add("max-lost", &options.limits.lost,
            {.help = "most sessions that may be lost; none: the run fails at the first", .min = 0});

  table.section("run");
  table.add("seconds", &options.seconds,
            {.help = "leave after this long; 0: stay until the stages, the server or Ctrl-C end it. With "
                     "--until-server-ends only the progress line goes by it"});
  table.add(
      "reconnect", &options.swarm.reconnect_for,
      {.help = "for so long a bot that lost its session tries to come back, waiting longer each time; 0: "
               "not at all. A lost session counts as lost all the same",
       .min = 0,
       .max = 86'400});
  table.add(
      "admin", &options.admin,
      {.help = "the server's admin port as HOST:PORT or URL: asked for its ticks once a second. Without "
               "it nobody asks, but --max-tick-p99-ms asks 127.0.0.1:7780"});
  table.add("report", &options.report, {.help = "write what the run came to into this JSON file"});
  table.add("html", &options.html, {.help = "write it as a page to look at, too, with plots over time"});
  table.add("until-server-ends", &options.until_server_ends,
            {.help = "ignore the first Ctrl-C: the server will freeze the world and compare"});
  add_log_level_option(table, &options.log_level);
  add_log_format_option(table, &options.log_format);
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
    if (option.is_said())
      return fmt::format(
          "{} ({}) and --stages contradict each other: the stages say how many bots play and what they do. "
          "Leave one of them out",
          option.flag(), option.origin);
  }
  return std::nullopt;
}

void settle_link(const OptionTable& table, BotOptions& options) {
  const auto profile = std::find_if(kLinkProfiles.begin(), kLinkProfiles.end(),
                                    [&](const NamedLink& named) { return named.profile == options.link; });
  const LinkFaults& named = profile->faults;
  LinkFaults& link = options.swarm.faults;
  const auto take = [&](std::string_view option, double& target, double value) {
    const auto& all = table.options();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Option& one) { return one.name == option; });
    if (options.link != LinkProfile::None && !found->is_said()) target = value;
  };
  take("loss", link.loss_percent, named.loss_percent);
  take("duplicate", link.duplicate_percent, named.duplicate_percent);
  take("reorder", link.reorder_percent, named.reorder_percent);
  take("corrupt", link.corrupt_percent, named.corrupt_percent);
  take("latency", options.latency_ms, to_milliseconds(named.latency));
  take("jitter", options.jitter_ms, to_milliseconds(named.jitter));
  link.latency = from_milliseconds(options.latency_ms);
  link.jitter = from_milliseconds(options.jitter_ms);
}

}  // namespace shoal
