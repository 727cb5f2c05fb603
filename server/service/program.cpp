// Wires the real clock, the real randomness, files and a UDP port to a Server.
#include "server/service/program.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <thread>

#include "server/fleet/fleet_part.hpp"
#include "server/report.hpp"
#include "server/saves/open_saves.hpp"
#include "server/saves/world_saver.hpp"
#include "server/service/health_probe.hpp"
#include "server/service/service.hpp"
#include "shared/base/log.hpp"
#include "shared/config/process.hpp"
#include "shared/config/program.hpp"
#include "shared/config/text_file.hpp"
#include "shared/config/version.hpp"
#include "shared/net/udp_port.hpp"

extern "C" char** environ;

namespace shoal {
namespace {

constexpr std::size_t kRingDatagrams = 4096;
constexpr std::string_view kProgramName = "shoal-server";

bool write_file(const std::string& path, const std::string& text) {
  const auto why_not = write_text_file(path, text);
  if (why_not) log_error("cannot write {}: {}", path, *why_not);
  return !why_not;
}

// Reads the ban list again when SIGHUP asks for it.
class BanReloader final : public ServicePart {
 public:
  BanReloader(Server& server, const std::string& path) : server_(server), path_(path) {}

  void between_ticks(Time) override {
    if (!take_reload_request()) return;
    auto list = read_ban_list(path_);
    if (!list) return log_error("{}; the bans stay as they are", list.error());
    log_info("ban list read again: {} entries", list->size());
    server_.set_bans(*std::move(list));
  }

 private:
  Server& server_;
  const std::string& path_;
};

// Without a world and without a port.
int print_schedule(Game& game) {
  Registry registry;
  game.register_components(registry);
  register_affiliation(registry);
  registry.freeze();
  Schedule schedule;
  game.register_systems(schedule);
  std::fputs(schedule.dot(registry).c_str(), stdout);
  return 0;
}

std::uint32_t thread_count(std::uint32_t asked) {
  // The machine may not know how many it has.
  return asked > 0 ? asked : std::max(1u, std::thread::hardware_concurrency());
}

// What the files say that decide who may join; none after telling what is wrong.
struct Joining {
  AdmissionConfig admission;
  ServerIdentity identity;
  BanList bans;
};
std::optional<Joining> prepare_joining(const JoiningOptions& options, bool identity_is_named,
                                       Entropy& entropy) {
  Joining result;
  auto config = joining_config(options);
  auto identity = server_identity(options.identity, identity_is_named, entropy);
  auto bans =
      options.ban_list.empty() ? Result<BanList, std::string>(BanList{}) : read_ban_list(options.ban_list);
  for (const std::string* why_not :
       {config ? nullptr : &config.error(), identity ? nullptr : &identity.error(),
        bans ? nullptr : &bans.error()}) {
    if (why_not == nullptr) continue;
    log_error("{}", *why_not);
    return std::nullopt;
  }
  for (const std::string& warning : config->warnings) log_warn("{}", warning);
  if (!identity->not_kept.empty()) {
    log_warn("{}: this run has a key of its own, and who pins it will not know the next run",
             identity->not_kept);
  } else if (identity->is_new) {
    log_info("a new identity is kept in {}: keep a copy where nobody else can read it", options.identity);
  }
  return Joining{std::move(config->admission), *std::move(identity), *std::move(bans)};
}

// For health checks, which want one line and an exit code.
int tell_health(const ServerOptions& options) {
  const auto target = health_probe_target(options.bind, options.port, options.port_file);
  SteadyClock clock;
  SystemEntropy entropy;
  const std::optional<std::string> why_not =
      target ? why_unhealthy(*target, clock, entropy) : std::optional(target.error());
  const std::string line = why_not ? fmt::format("unhealthy: {}\n", *why_not)
                                   : fmt::format("healthy: {} answers\n", to_string(*target));
  std::fputs(line.c_str(), why_not ? stderr : stdout);
  return why_not ? 1 : 0;
}

// `identity_is_named`: the operator said which file.
int serve(const ServerProgram& program, const ServerOptions& options, bool identity_is_named) {
  if (options.health) return tell_health(options);
  const std::unique_ptr<Game> game = program.make_game(options);
  if (options.print_schedule) return print_schedule(*game);
  auto address = parse_endpoint(options.bind, options.port);
  if (!address) {
    log_error("--bind {}: not an IPv4 or IPv6 address", options.bind);
    return 2;
  }
  if (!options.report.empty() && !write_file(options.report, "")) return 2;  // better now than after the run
  auto port = UdpPort::open({.local = *address, .ring_datagrams = kRingDatagrams});
  if (!port.ok()) {
    log_error("{}", port.error());
    return 2;
  }
  SystemEntropy entropy;
  auto joining = prepare_joining(options.joining, identity_is_named, entropy);
  if (!joining) return 2;
  catch_stop_signals();
  if (!options.joining.ban_list.empty()) catch_reload_signal();
  std::unique_ptr<Saves> saves;
  if (!options.saves.folder.empty()) {
    ignore_file_size_signal();
    auto opened = open_saves(options.saves, *game, options.server.max_entities,
                             fmt::format("{} {}", kProgramName, kVersion));
    if (!opened) {
      log_error("{}", opened.error());
      return 2;
    }
    saves = std::move(*opened);
  }
  const auto bytes_of = [](double kbit) { return static_cast<std::uint64_t>(kbit * 1000 / 8); };
  ServerConfig config = options.server;
  config.threads = thread_count(options.threads);
  config.client_bytes_per_second = bytes_of(options.client_budget_kbit);
  config.full_state_bytes_per_second = bytes_of(options.join_budget_kbit);
  SystemWallClock wall_clock;
  config.admission = std::move(joining->admission);
  config.identity = joining->identity.key;
  config.wall_clock = &wall_clock;
  if (saves && saves->loaded) {
    config.resumed = ResumedWorld{.registry = saves->twin.get(),
                                  .tick = saves->loaded->tick,
                                  .newest_player = saves->loaded->newest_player};
  }
  SteadyClock clock;
  Server server(*game, **port, clock, entropy, config);
  if (saves && saves->loaded) server.restore_players(saves->loaded->players);
  server.set_bans(std::move(joining->bans));
  const auto fleet_plan =
      fleet_config(options.fleet, environ, config.max_sessions, to_string(server.public_key()));
  if (!fleet_plan) {
    log_error("{}", fleet_plan.error());
    return 2;
  }
  log_info("listening on {} at {} Hz, {} entities, {} threads for systems", to_string((*port)->local()),
           options.server.tick_rate_hz, server.replicated_entities(), config.threads);
  log_info("server key: {}; clients pin it with --server-key", to_string(server.public_key()));
  log_info("{}", describe_joining(options.joining, server.public_key()));
  if (!options.port_file.empty() &&
      !write_file(options.port_file, fmt::format("{}\n", (*port)->local().port)))
    return 2;

  Service service(server, **port, clock,
                  {.tick_rate_hz = options.server.tick_rate_hz,
                   .seconds = options.seconds,
                   .freeze_deadline = options.server.freeze_deadline});
  BanReloader bans(server, options.joining.ban_list);
  if (!options.joining.ban_list.empty()) service.add(bans);
  std::optional<WorldSaver> saver;
  if (saves) service.add(saver.emplace(server, *game, *saves, clock, options.saves.interval));
  std::optional<FleetPart> fleet;
  if (*fleet_plan)
    service.add(fleet.emplace(**fleet_plan, server, clock, [] {
      if (stop_signals() == 0) std::raise(SIGTERM);
    }));
  service.run();
  if (fleet) fleet->finish([] { return stop_signals() > 0; });
  const auto& counters = server.counters();
  log_info("ended at tick {}: {} players came, {} mirrors exact, {} different", server.tick().value,
           counters.joined, counters.digests_exact, counters.digests_different);
  if (!options.report.empty()) {
    const ProcessMeasures process{process_cpu_time(), peak_rss_bytes()};
    if (!write_file(options.report, server_report(server, options.server, service.measures(), process)))
      return 2;
  }
  if (counters.digests_different > 0 || !service.everyone_compared()) return 1;
  return saver && !saver->status().last_failure.empty() ? 3 : 0;
}

}  // namespace

int run_server(int argc, char** argv, const ServerProgram& program) {
  ServerOptions options;
  options.joining.identity = default_identity_file(environ);
  OptionTable table = server_option_table(options, program.max_entities);
  return run_program(
      table, argc, argv, environ, options.log_level,
      [&] {
        const auto& all = table.options();
        const auto identity = std::find_if(all.begin(), all.end(),
                                           [](const Option& option) { return option.name == "identity"; });
        return serve(program, options, identity->is_said());
      },
      &options.log_format);
}

}  // namespace shoal
