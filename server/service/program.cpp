// Wires the real clock, the real randomness, files and a UDP port to a Server.
#include "server/service/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "server/fleet/fleet_part.hpp"
#include "server/report.hpp"
#include "server/saves/open_saves.hpp"
#include "server/saves/world_saver.hpp"
#include "server/service/admin_part.hpp"
#include "server/service/health_probe.hpp"
#include "server/service/service.hpp"
#include "shared/base/log.hpp"
#include "shared/base/log_lines.hpp"
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
constexpr int kWorldNotSaved = 4;  // the exit code

bool write_file(const std::string& path, const std::string& text) {
  const auto why_not = write_text_file(path, text);
  if (why_not) log_error("cannot write {}: {}", path, *why_not);
  return !why_not;
}

// The bans of the list, read again when SIGHUP asks for it, and beside them those of the admin port.
class Bans final : public ServicePart {
 public:
  Bans(Server& server, const std::string& path, BanList listed)
      : server_(server), path_(path), listed_(std::move(listed)) {
    apply();
  }

  void between_ticks(Time) override {
    if (!take_reload_request()) return;
    if (path_.empty()) return log_info("SIGHUP: without --ban-list there is nothing to read again");
    auto list = read_ban_list(path_);
    if (!list) return log_error("{}; the bans stay as they are", list.error());
    log_info("ban list read again: {} entries", list->size());
    listed_ = *std::move(list);
    apply();
  }
  void add(const AddressRange& range) {
    told_.ranges.push_back(range);
    apply();
  }
  void add(const PlayerId& player) {
    told_.players.insert(player);
    apply();
  }

 private:
  void apply() {
    BanList all = listed_;
    all.ranges.insert(all.ranges.end(), told_.ranges.begin(), told_.ranges.end());
    all.players.insert(told_.players.begin(), told_.players.end());
    server_.set_bans(std::move(all));
  }

  Server& server_;
  const std::string& path_;
  BanList listed_;
  BanList told_;
};

AdminActions admin_actions(Server& server, Service& service, Bans& bans) {
  AdminActions actions;
  actions.kick = [&server](PlayerNumber number) { return server.kick(number, "by the operator"); };
  actions.ban_address = [&bans](const AddressRange& range) { bans.add(range); };
  actions.ban_player = [&bans](const PlayerId& player) { bans.add(player); };
  actions.announce = [&server](std::string_view text) { server.announce(text); };
  actions.drain = [&service] { service.request_drain(); };
  actions.set_log_level = set_log_level;
  actions.explain = [&server](PlayerNumber number, std::uint32_t index,
                              std::optional<std::uint32_t> generation) {
    return server.explain(number, index, generation);
  };
  return actions;
}

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

SaveFigures save_figures(const SaveStatus& status, const Clock& clock, Duration interval) {
  return {.saves = status.saves,
          .failures = status.failures,
          .late = status.late,
          .bytes = status.bytes,
          .newest_bytes = status.last_bytes,
          .newest_copy = status.last_copy,
          .newest_write = status.last_write,
          .age = clock.now() - status.newest.value_or(status.began),
          .interval = interval};
}

int exit_code(ServiceEnd end) {
  switch (end) {
    case ServiceEnd::Compared:
    case ServiceEnd::Drained:
      return 0;
    case ServiceEnd::NotCompared:
      return 1;
    case ServiceEnd::CutShort:
      return 3;
  }
  return 1;
}

// What the operator said, where the default would do something else.
struct NamedOptions {
  bool identity = false;
  bool admin = false;
};

ServerConfig server_config(const ServerOptions& options, const Joining& joining, const Saves* saves,
                           const WallClock& wall_clock) {
  ServerConfig config = options.server;
  config.threads = thread_count(options.threads);
  config.client_bytes_per_second = bytes_of_kbit(options.client_budget_kbit);
  config.full_state_bytes_per_second = bytes_of_kbit(options.join_budget_kbit);
  config.admission = joining.admission;
  config.identity = joining.identity.key;
  config.wall_clock = &wall_clock;
  if (saves != nullptr && saves->loaded) {
    config.resumed = ResumedWorld{.registry = saves->twin.get(),
                                  .tick = saves->loaded->tick,
                                  .newest_player = saves->loaded->newest_player};
  }
  return config;
}

// Its tickets are not taken (Admission): nobody is told of the server, and asks for one, before it is over.
void pass_the_second_of_the_start(const WallClock& wall_clock) {
  const std::int64_t start = wall_clock.unix_seconds();
  while (wall_clock.unix_seconds() == start) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

// What the run says of itself when it is over; false when the report could not be written.
bool tell_end(const ServerOptions& options, const Server& server, const Service& service, ServiceEnd end) {
  const auto& counters = server.counters();
  log_info("ended at tick {}{}: {} players came, {} mirrors exact, {} different", server.tick().value,
           end == ServiceEnd::CutShort ? ", before players had left" : "", counters.joined,
           counters.digests_exact, counters.digests_different);
  if (options.report.empty()) return true;
  const ServerMeasures measures =
      measure(server, options.server.tick_rate_hz, service.measures(), server.replicated_entities());
  return write_file(options.report, server_report(measures, {process_cpu_time(), peak_rss_bytes()}));
}

int serve(const ServerProgram& program, const ServerOptions& options, const NamedOptions& named) {
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
  auto joining = prepare_joining(options.joining, named.identity, entropy);
  if (!joining) return 2;
  catch_stop_signals();
  ignore_broken_pipes();
  catch_reload_signal();
  std::unique_ptr<Saves> saves;
  if (!options.saves.folder.empty()) {
    ignore_file_size_signal();
    auto opened = open_saves(options.saves, *game, options.server.max_entities,
                             fmt::format("{} {}", kProgramName, kVersion));
    if (!opened) {
      log_lines(LogLevel::Error, opened.error());
      return 2;
    }
    saves = std::move(*opened);
  }
  SystemWallClock wall_clock;
  SteadyClock clock;
  const ServerConfig config = server_config(options, *joining, saves.get(), wall_clock);
  Server server(*game, **port, clock, entropy, config);
  if (saves && saves->loaded) server.restore_players(saves->loaded->players);
  Bans bans(server, options.joining.ban_list, std::move(joining->bans));
  const auto fleet_plan =
      fleet_config(options.fleet, environ, config.max_sessions, to_string(server.public_key()));
  if (!fleet_plan) {
    log_error("{}", fleet_plan.error());
    return 2;
  }
  if (options.joining.mode == JoinMode::Ticket) pass_the_second_of_the_start(wall_clock);
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
                   .freeze_deadline = options.server.freeze_deadline,
                   .drain_time = options.drain_time,
                   .watchdog = {.limit = options.watchdog_limit, .abort_after = options.watchdog_abort}});
  service.add(bans);
  auto admin = AdminPart::open(options, named.admin, server, service, **port, clock,
                               admin_actions(server, service, bans));
  if (!admin) {
    log_error("{}", admin.error());
    return 2;
  }
  if (*admin) service.add(**admin);
  // Before the saver: when the world has ended, it is to know that before the last save is waited for.
  std::optional<FleetPart> fleet;
  if (*fleet_plan) service.add(fleet.emplace(**fleet_plan, server, clock, [&] { service.request_drain(); }));
  std::optional<WorldSaver> saver;
  if (saves) service.add(saver.emplace(server, *game, *saves, clock, options.saves.interval));
  if (saver && *admin)
    (*admin)->show_saves([&] { return save_figures(saver->status(), clock, options.saves.interval); });
  const ServiceEnd end = service.run();
  if (fleet) fleet->finish([] { return stop_signals() > 0; });
  if (!tell_end(options, server, service, end)) return 2;
  if (server.counters().digests_different > 0) return 1;
  if (saver && !saver->status().last_failure.empty()) return kWorldNotSaved;
  return exit_code(end);
}

}  // namespace

int run_server(int argc, char** argv, const ServerProgram& program) {
  ServerOptions options;
  options.joining.identity = default_identity_file(environ);
  OptionTable table = server_option_table(options, program.max_entities);
  return run_program(
      table, argc, argv, environ, options.log_level,
      [&] {
        const auto is_said = [&](std::string_view name) {
          const auto& all = table.options();
          return std::find_if(all.begin(), all.end(), [&](const Option& one) { return one.name == name; })
              ->is_said();
        };
        return serve(program, options, {.identity = is_said("identity"), .admin = is_said("admin")});
      },
      &options.log_format);
}

}  // namespace shoal
