#include "client/bots/options.hpp"

#include "shared/config/program.hpp"
#include "shared/config/version.hpp"

namespace shoal {

OptionTable bot_option_table(BotOptions& options) {
  OptionTable table(
      {.program = "shoal-bots",
       .summary = "many clients in one process: each joins, plays, and checks its mirror block by block",
       .version = kVersion});
  table.section("bots");
  table.add("server", &options.server, {.help = "server as HOST:PORT"});
  table.add("bots", &options.swarm.bots, {.help = "how many", .min = 1, .max = 4096});
  table.add("scenario", &options.swarm.scenario, {{"wander", Scenario::Wander}},
            {.help = "what the bots do"});
  table.add("seed", &options.swarm.seed, {.help = "of the bots' decisions and of the link faults"});
  table.add("joins-per-second", &options.swarm.joins_per_second,
            {.help = "how fast the bots join", .min = 0.1, .max = 10000});

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
            {.help = "leave after this long; 0: stay until the server ends or Ctrl-C"});
  table.add("report", &options.report, {.help = "write what the run came to into this JSON file"});
  table.add("until-server-ends", &options.until_server_ends,
            {.help = "ignore the first Ctrl-C: the server will freeze the world and compare"});
  add_log_level_option(table, &options.log_level);
  return table;
}

}  // namespace shoal
