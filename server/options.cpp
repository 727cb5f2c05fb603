#include "server/options.hpp"

#include "shared/config/program.hpp"
#include "shared/config/version.hpp"

namespace shoal {

OptionTable server_option_table(ServerOptions& options, std::uint32_t max_entities) {
  options.server.interest.radius = 64;
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

  table.add("client-budget", &options.client_budget_kbit,
            {.help = "kbit per second to one client, everything included; 0: without a limit",
             .min = 0,
             .max = 10'000'000});
  table.add(
      "join-budget", &options.join_budget_kbit,
      {.help =
           "kbit per second to all clients together for what they see for the first time; 0: without a limit",
       .min = 0,
       .max = 50'000'000});

  table.section("joining");
  JoiningOptions& joining = options.joining;
  table.add("join", &joining.mode,
            {{"open", JoinMode::Open}, {"password", JoinMode::Password}, {"ticket", JoinMode::Ticket}},
            {.help = "who may join: everyone, who knows the password, who has a ticket of the matchmaker; "
                     "docs/joining.md"});
  table.add(
      "identity", &joining.identity,
      {.help = "file with the server's secret key, by which clients know it again; made when there is none"});
  table.add("password-file", &joining.password_file, {.help = "its first line is the password"});
  table.add(
      "ticket-issuer", &joining.ticket_issuer,
      {.help = "public key of the matchmaker whose tickets are good, as shoal-ticket keygen prints it"});
  table.add("audience", &joining.audience,
            {.help = "the name that tickets for this server carry; none: its own public key"});
  table.add("ban-list", &joining.ban_list,
            {.help = "file of addresses, ranges and players that may not join; read again on SIGHUP"});
  table.add("sessions-per-address", &joining.sessions_per_address,
            {.help = "players at once from one IPv4 address or IPv6 /64; 0: without a limit",
             .min = 0,
             .max = 65536});
  table.add(
      "handshakes-per-address", &joining.handshakes_per_address,
      {.help =
           "attempts to join per second from one of them, four times as many at one go; 0: without a limit",
       .min = 0,
       .max = 1'000'000});
  table.add(
      "exempt-addresses", &joining.exempt_addresses,
      {.help =
           "addresses and ranges with commas between them that have no such limits; private: those that no "
           "router of the internet forwards. This machine never has"});

  table.add("return-time", &options.server.return_time,
            {.help = "whose session broke off finds its player again for so long; 0: not at all",
             .min = 0,
             .max = 86'400});

  table.section("interest");
  table.add("radius", &options.server.interest.radius,
            {.help = "how far players see, metres; 0: everything", .min = 0, .max = 1e9});
  table.add("square-size", &options.server.interest.square_size,
            {.help = "the ground is divided into squares of so many metres", .min = 1, .max = 1e9});

  table.section("world");
  table.add("entities", &options.entities,
            {.help = "entities that the demo world keeps alive, players not counted",
             .min = 0,
             .max = max_entities});
  table.add("seed", &options.seed, {.help = "the same seed gives the same world"});
  table.add("tick-rate", &options.server.tick_rate_hz, {.help = "ticks per second", .min = 1, .max = 240});

  table.section("saves");
  table.add("save-dir", &options.saves.folder,
            {.help = "folder where the world is saved, and from where it goes on at the next start; none: it "
                     "is not saved"});
  table.add("save-interval", &options.saves.interval,
            {.help = "the world is saved every so many seconds, and in the end; 0: in the end only",
             .min = 0,
             .max = 86'400});
  table.add("save-keep", &options.saves.keep,
            {.help = "the newest saves that are kept", .min = 1, .max = 10'000});

  table.section("systems");
  table.add("threads", &options.threads,
            {.help = "threads that run systems, the tick's among them; 0: one per processor",
             .min = 0,
             .max = 256});
  table.add("print-schedule", &options.print_schedule,
            {.help = "print the systems, their stages and why they wait as a graph for Graphviz, and end"});

  table.section("fleet");
  table.add(
      "fleet", &options.fleet.mode,
      {{"off", FleetMode::Off}, {"agones", FleetMode::Agones}, {"auto", FleetMode::Auto}},
      {.help = "tell Agones' side-car how the server is; auto: when AGONES_SDK_HTTP_PORT says where it is; "
               "docs/operations.md"});
  table.add("fleet-allocate-on-join", &options.fleet.allocate_on_join,
            {.help = "the first player who joins a Ready server makes it Allocated"});
  table.add(
      "fleet-reserve-seconds", &options.fleet.reserve,
      {.help =
           "an Allocated server whose last player has left is Reserved this long, then Ready again; 0: it "
           "stays Allocated",
       .min = 0,
       .max = 86400});
  table.add("fleet-map", &options.fleet.map,
            {.help = "the label agones.dev/sdk-map of this server; none: without it"});

  table.section("admin");
  table.add(
      "admin", &options.admin,
      {.help =
           "address and TCP port of health, metrics and commands over HTTP, docs/operations.md; port 0 lets "
           "the system choose; off: none"});
  table.add("admin-port-file", &options.admin_port_file,
            {.help = "write the admin port here once it is open"});
  table.add(
      "admin-token-file", &options.admin_token_file,
      {.help = "its first line is the token that commands need; without one the admin port is read only"});

  table.section("run");
  table.add(
      "seconds", &options.seconds,
      {.help =
           "freeze the world this long after the first player joined, compare all mirrors and end; 0: run "
           "until Ctrl-C"});
  table.add(
      "drain-seconds", &options.drain_time,
      {.help = "after SIGTERM nobody joins, and who plays is sent away after so long; docker stop kills "
               "after 10",
       .min = 0,
       .max = 86'400});
  table.add("watchdog-seconds", &options.watchdog_limit,
            {.help = "a tick that does not go on for so long is named in the log, with what it hangs in; 0: "
                     "nobody looks",
             .min = 0,
             .max = 86'400});
  table.add("watchdog-abort-seconds", &options.watchdog_abort,
            {.help = "one that does not go on for so long ends the process with a core, for who starts it "
                     "anew; 0: never",
             .min = 0,
             .max = 86'400});
  table.add("compare-seconds", &options.server.freeze_deadline,
            {.help = "how long clients may take to catch up with the frozen world", .min = 0, .max = 600});
  table.add(
      "health", &options.health,
      {.help = "ask the server that these options name on this machine whether it is alive, and end: exit "
               "code 0 when its port answers, 1 with why not"});
  table.add("report", &options.report, {.help = "write what the run came to into this JSON file"});
  add_log_level_option(table, &options.log_level);
  add_log_format_option(table, &options.log_format);
  return table;
}

}  // namespace shoal
