#include "server/options.hpp"

#include "shared/config/program.hpp"
#include "shared/config/version.hpp"

namespace shoal {

OptionTable server_option_table(ServerOptions& options, std::uint32_t max_entities) {
  OptionTable table(
      {.program = "shoal-server",
       .summary = "authoritative, headless game server: ticks a world and replicates it to clients",
       .version = kVersion});
  table.section("network");
  table.add("bind", &options.bind, {.help = "address to listen on; :: for IPv6 and IPv4"});
  table.add("port", &options.port, {.help = "UDP port; 0 lets the system choose", .min = 0, .max = 65535});
  table.add("port-file", &options.port_file, {.help = "write the port here once it is open"});
  table.add("max-players", &options.server.max_sessions, {.help = "players at once", .min = 1, .max = 4096});
  table.add("time-out", &options.server.time_out,
            {.help = "a silent client is given up after this long", .min = 1, .max = 600});
  table.add("max-datagrams-per-tick", &options.server.max_datagrams_per_tick,
            {.help = "datagrams to one client in one tick, at most", .min = 1, .max = 1000});

  table.section("world");
  table.add("entities", &options.entities,
            {.help = "entities that the demo world keeps alive, players not counted",
             .min = 0,
             .max = max_entities});
  table.add("seed", &options.seed, {.help = "the same seed gives the same world"});
  table.add("tick-rate", &options.server.tick_rate_hz, {.help = "ticks per second", .min = 1, .max = 240});

  table.section("run");
  table.add(
      "seconds", &options.seconds,
      {.help =
           "freeze the world this long after the first player joined, compare all mirrors and end; 0: run "
           "until Ctrl-C"});
  table.add("compare-seconds", &options.server.freeze_deadline,
            {.help = "how long clients may take to catch up with the frozen world", .min = 0, .max = 600});
  table.add("report", &options.report, {.help = "write what the run came to into this JSON file"});
  add_log_level_option(table, &options.log_level);
  return table;
}

}  // namespace shoal
