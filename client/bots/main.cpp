// shoal-bots: wires the real clock, the real randomness and UDP ports to a swarm of bots.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "client/bots/display.hpp"
#include "client/bots/html_report.hpp"
#include "client/bots/joining.hpp"
#include "client/bots/options.hpp"
#include "client/bots/report.hpp"
#include "client/bots/server_watch.hpp"
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

constexpr Duration kStep = milliseconds(2);

bool write_report(const std::string& path, const std::string& text) {
  const auto why_not = write_text_file(path, text);
  if (why_not) log_error("cannot write {}: {}", path, *why_not);
  return !why_not;
}

// False after telling what is wrong with the file.
bool load_stages(BotOptions& options) {
  const auto text = read_text_file(options.stages);
  if (!text.ok()) {
    log_error("--stages {}: cannot read it: {}", options.stages, text.error());
    return false;
  }
  auto stages = read_stages(*text, options.stages);
  if (!stages.ok()) {
    log_lines(LogLevel::Error, stages.error());
    return false;
  }
  options.swarm.stages = std::move(*stages);
  return true;
}

// The watch over the server's admin port, when it is wanted. Null in the error: it is wanted and nobody answers.
Result<std::unique_ptr<ServerWatch>, std::string> open_watch(const BotOptions& options, const Clock& clock) {
  const bool is_needed = options.limits.tick_p99_ms.has_value();
  if (options.admin.empty() && !is_needed) return std::unique_ptr<ServerWatch>();
  const std::string where =
      options.admin.empty() ? fmt::format("127.0.0.1:{}", kDefaultAdminPort) : options.admin;
  const auto url = admin_url(where);
  if (!url) return Failure{fmt::format("--admin {}: {}", where, url.error())};
  auto watch = std::make_unique<ServerWatch>(*url, clock);
  const auto first = watch->ask();
  if (!first) {
    return Failure{fmt::format(
        "--admin {}: {}. {} Start the server with its admin port there (shoal-server --admin), or {}", where,
        first.error(),
        is_needed ? "--max-tick-p99-ms needs the server's own measure of its ticks."
                  : "The server's ticks cannot be shown.",
        is_needed ? "leave that limit out" : "leave --admin out")};
  }
  watch->start();
  return watch;
}

std::vector<std::pair<std::string, std::string>> said_options(const OptionTable& table) {
  std::vector<std::pair<std::string, std::string>> said;
  for (const Option& option : table.options()) {
    if (option.is_said()) said.emplace_back(option.name, option.current());
  }
  return said;
}

// What the server said last, unless that is so long ago that it says little about the whole run.
std::optional<double> tick_p99_of(const std::optional<ServerReading>& server, Time now) {
  constexpr Duration kFresh = seconds(15);
  if (!server || now - server->at > kFresh) return std::nullopt;
  return server->tick_p99_ms;
}

bool write_reports(const BotOptions& options, const RunRecord& run) {
  const std::string report = bots_report(run);
  return (options.report.empty() || write_report(options.report, report)) &&
         (options.html.empty() || write_report(options.html, html_report(report)));
}

// Until nobody plays any more. False: there was no port for a bot.
bool play(const BotOptions& options, const Clock& clock, Swarm& swarm, const ServerWatch* watch,
          const std::string& port_error, Timeline& timeline) {
  Duration length = options.seconds;
  if (length.count() == 0) length = options.swarm.stages.length();
  const bool ends_itself = length.count() > 0 && !options.until_server_ends;
  const int stop_after_signals = options.until_server_ends ? 2 : 1;
  TimelineRecorder recorder(clock, swarm);
  Display display(recorder.started(), length);
  while (!swarm.is_over()) {
    swarm.run();
    if (!port_error.empty()) {
      log_error("no port for bot {}: {}", swarm.size(), port_error);
      return false;
    }
    if (recorder.is_due()) {
      const auto server = watch == nullptr ? std::nullopt : watch->latest();
      display.refresh(clock.now(), recorder.take(server));
    }
    const bool is_time = ends_itself && clock.now() - recorder.started() >= length;
    if (is_time || stop_signals() >= stop_after_signals) swarm.leave();
    std::this_thread::sleep_for(kStep);
  }
  timeline = recorder.timeline();
  return true;
}

void say_verdict(const RunRecord& run, const Swarm& swarm) {
  if (!swarm.first_trouble().empty()) log_warn("first trouble: {}", swarm.first_trouble());
  if (const std::string warning = lateness_warning(run.summary); !warning.empty()) log_warn("{}", warning);
  for (const LimitCheck& check : run.checks)
    log(check.finding == Finding::Within ? LogLevel::Info : LogLevel::Error, "{}", describe(check));
  log(run.failures.empty() ? LogLevel::Info : LogLevel::Error, "{}", closing_line(run));
}

int work(const OptionTable& table, BotOptions& options) {
  if (!options.stages.empty() && !load_stages(options)) return 2;
  if (options.check_stages) {
    std::printf("%u %g\n", options.swarm.stages.most_bots(), to_seconds(options.swarm.stages.length()));
    return 0;
  }
  const auto server = resolve_endpoint(options.server, 7777);
  if (!server.ok()) {
    log_error("--server {}: {}", options.server, server.error());
    return 2;
  }
  options.swarm.server = *server;
  SystemEntropy entropy;
  SystemWallClock wall_clock;
  if (!prepare_joining(options, entropy, wall_clock)) return 2;
  RunRecord run;
  run.options = said_options(table);  // before the link's figures look like said ones
  settle_link(table, options);
  for (const std::string* path : {&options.report, &options.html}) {
    if (!path->empty() && !write_report(*path, "")) return 2;  // better now than after the run
  }
  SteadyClock clock;
  const auto watch = open_watch(options, clock);
  if (!watch) {
    log_error("{}", watch.error());
    return 2;
  }
  catch_stop_signals();
  ignore_broken_pipes();
  std::string port_error;
  const auto open_port = [&]() -> std::unique_ptr<DatagramPort> {
    auto port = UdpPort::open({.local = server->is_ipv4() ? Endpoint::ipv4(0, 0, 0, 0, 0) : Endpoint{},
                               .socket_buffer_bytes = 1u << 20,
                               .only_peer = *server});
    if (port.ok()) return std::move(*port);
    port_error = port.error();
    return nullptr;
  };
  Swarm swarm(options.swarm, clock, entropy, open_port);
  run.version = kVersion;
  run.started_at = rfc3339(wall_clock.unix_seconds());
  run.link = to_string(options.link);
  run.faults = options.swarm.faults;
  run.stages = options.swarm.stages;
  const Time started = clock.now();
  if (!play(options, clock, swarm, watch->get(), port_error, run.timeline)) return 2;
  run.length = clock.now() - started;
  run.summary = swarm.summary();
  if (*watch) run.server = (*watch)->latest();
  run.checks = check_limits(options.limits, run.summary, tick_p99_of(run.server, clock.now()));
  run.failures = failures(run.summary, options.limits, run.checks, options.until_server_ends);
  say_verdict(run, swarm);
  if (!write_reports(options, run)) return 2;
  return run.failures.empty() ? 0 : 1;
}

int run_main(int argc, char** argv) {
  BotOptions options;
  OptionTable table = bot_option_table(options);
  return run_program(
      table, argc, argv, environ, options.log_level,
      [&] {
        const auto why_not = contradiction(table, options);
        if (!why_not) return work(table, options);
        log_error("{}", *why_not);
        return 2;
      },
      &options.log_format);
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  return shoal::run_main(argc, argv);
}
