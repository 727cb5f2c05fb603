// shoal-bots: wires the real clock, the real randomness and UDP ports to a swarm of bots.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <thread>

#include "client/bots/options.hpp"
#include "client/bots/report.hpp"
#include "shared/config/process.hpp"
#include "shared/config/program.hpp"
#include "shared/config/text_file.hpp"
#include "shared/net/key_file.hpp"
#include "shared/net/password_file.hpp"
#include "shared/net/ticket.hpp"
#include "shared/net/udp_port.hpp"

extern "C" char** environ;

namespace shoal {
namespace {

constexpr Duration kStep = milliseconds(2);

// Shows the swarm while it runs: a table in place where someone looks at a terminal, else a line now and
// then.
class Display {
 public:
  Display(const Clock& clock, const Swarm& swarm)
      : clock_(clock),
        swarm_(swarm),
        is_terminal_(isatty(STDERR_FILENO) != 0),
        started_(clock.now()),
        last_(started_) {}

  void refresh() {
    const Time now = clock_.now();
    const Duration between = now - last_;
    if (between < (is_terminal_ ? seconds(1) : seconds(5))) return;
    const SwarmSummary summary = swarm_.summary();
    if (is_terminal_) {
      const std::string table = status_table(summary, before_, between, now - started_);
      if (lines_ > 0) std::fprintf(stderr, "\033[%dA\033[J", lines_);
      std::fputs(table.c_str(), stderr);
      lines_ = static_cast<int>(std::count(table.begin(), table.end(), '\n'));
    } else {
      log_info("{}", status_line(summary, before_, between));
    }
    before_ = summary;
    last_ = now;
  }

 private:
  const Clock& clock_;
  const Swarm& swarm_;
  bool is_terminal_;
  Time started_;
  Time last_;
  SwarmSummary before_;
  int lines_ = 0;
};

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
    std::fputs((stages.error() + "\n").c_str(), stderr);
    return false;
  }
  options.swarm.stages = std::move(*stages);
  return true;
}

// What the bots show, and to whom. False after telling what is wrong.
bool prepare_joining(BotOptions& options, Entropy& entropy, const WallClock& wall_clock) {
  if (!options.server_key.empty()) {
    options.swarm.server_key = parse_public_key(options.server_key);
    if (!options.swarm.server_key) {
      log_error("--server-key: a public key is 64 hexadecimal digits, as the server logs them");
      return false;
    }
  } else if (!options.password_file.empty() || !options.ticket_key.empty()) {
    log_warn("without --server-key whoever answers gets the {}",
             options.ticket_key.empty() ? "password" : "tickets");
  }
  if (!options.password_file.empty()) {
    const auto read = read_password_file(options.password_file);
    if (!read) {
      log_error("--password-file: {}", read.error());
      return false;
    }
    const auto bytes = std::as_bytes(std::span(read->password));
    options.swarm.credentials = [shown = std::vector<std::byte>(bytes.begin(), bytes.end())](std::size_t) {
      return Credentials{CredentialKind::Password, shown};
    };
  }
  if (!options.ticket_key.empty()) {
    const auto key = read_key_file(options.ticket_key, kTicketSigningKey);
    if (!key) {
      log_error("--ticket-key: {}", key.error());
      return false;
    }
    if (options.audience.size() > kMaxTicketNameBytes) {
      log_error("--audience: a name in tickets has at most {} bytes", kMaxTicketNameBytes);
      return false;
    }
    const std::string audience =
        options.audience.empty() ? to_string(*options.swarm.server_key) : options.audience;
    // Bots of another process are other players.
    const std::uint64_t run = entropy.next();
    options.swarm.credentials = [issuer = SignatureKey(*key), audience, run, &entropy,
                                 &wall_clock](std::size_t bot) {
      constexpr std::int64_t kValidSeconds = 3600;
      return Credentials{CredentialKind::Ticket,
                         mint_ticket(issuer, fmt::format("bot-{:016x}-{}", run, bot), audience,
                                     wall_clock.unix_seconds(), kValidSeconds, entropy)};
    };
  }
  return true;
}

bool all_well(const SwarmSummary& summary, bool must_compare) {
  return summary.connected > 0 && summary.connected == summary.requested && summary.refused == 0 &&
         summary.lost == 0 && summary.mismatches == 0 && summary.different == 0 &&
         (!must_compare || (summary.expected > 0 && summary.exact == summary.expected));
}

int play(BotOptions& options) {
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
  options.swarm.faults.latency = from_milliseconds(options.latency_ms);
  options.swarm.faults.jitter = from_milliseconds(options.jitter_ms);
  if (!options.report.empty() && !write_report(options.report, ""))
    return 2;  // better now than after the run
  catch_stop_signals();
  SteadyClock clock;
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
  Display display(clock, swarm);
  const Time started = clock.now();
  const int stop_after_signals = options.until_server_ends ? 2 : 1;
  Duration length = options.seconds;
  if (length.count() == 0 && !options.until_server_ends) length = options.swarm.stages.length();
  while (!swarm.is_over()) {
    swarm.run();
    if (!port_error.empty()) {
      log_error("no port for bot {}: {}", swarm.size(), port_error);
      return 2;
    }
    display.refresh();
    const bool is_time = length.count() > 0 && clock.now() - started >= length;
    if (is_time || stop_signals() >= stop_after_signals) swarm.leave();
    std::this_thread::sleep_for(kStep);
  }
  const SwarmSummary summary = swarm.summary();
  if (!swarm.first_trouble().empty()) log_warn("first trouble: {}", swarm.first_trouble());
  if (const std::string warning = lateness_warning(summary); !warning.empty()) log_warn("{}", warning);
  log_info("{}", closing_line(summary));
  if (!options.report.empty() && !write_report(options.report, bots_report(summary))) return 2;
  return all_well(summary, options.until_server_ends) ? 0 : 1;
}

int run_main(int argc, char** argv) {
  BotOptions options;
  OptionTable table = bot_option_table(options);
  return run_program(table, argc, argv, environ, options.log_level, [&] {
    const auto why_not = contradiction(table, options);
    if (!why_not) return play(options);
    log_error("{}", *why_not);
    return 2;
  });
}

}  // namespace
}  // namespace shoal

int main(int argc, char** argv) {
  return shoal::run_main(argc, argv);
}
