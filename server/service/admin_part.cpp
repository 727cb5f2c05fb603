#include "server/service/admin_part.hpp"

#include <fmt/format.h>

#include <utility>

#include "shared/base/log.hpp"
#include "shared/config/text_file.hpp"

namespace shoal {
namespace {

constexpr std::string_view kOff = "off";

ServerLimits limits_of(const ServerOptions& options) {
  return {.tick_rate_hz = options.server.tick_rate_hz,
          .max_players = options.server.max_sessions,
          .client_bytes_per_second = bytes_of_kbit(options.client_budget_kbit),
          .full_state_bytes_per_second = bytes_of_kbit(options.join_budget_kbit)};
}

std::string_view word_of(ServicePhase phase) {
  switch (phase) {
    case ServicePhase::Starting:
      return "starting";
    case ServicePhase::Running:
      return "running";
    case ServicePhase::Draining:
      return "draining";
    case ServicePhase::Comparing:
      return "comparing its mirrors";
    case ServicePhase::Ended:
      return "ending";
  }
  return {};
}

}  // namespace

AdminPart::AdminPart(const ServerLimits& limits, const Server& server, const Service& service,
                     const UdpPort& port, const Clock& clock)
    : collector_(server, clock, limits,
                 {.measures = [&service] { return service.measures(); },
                  .skipped_ticks = [&service] { return service.skipped_ticks(); },
                  .stalls = [&service] { return service.watchdog().stalls(); },
                  .port = [&port] { return port.counters(); }},
                 board_) {}

Result<std::unique_ptr<AdminPart>, std::string> AdminPart::open(const ServerOptions& options, bool is_named,
                                                                const Server& server, const Service& service,
                                                                const UdpPort& port, const Clock& clock,
                                                                AdminActions actions) {
  if (options.admin == kOff) return std::unique_ptr<AdminPart>();
  const auto address = parse_endpoint(options.admin, kDefaultAdminPort);
  if (!address) {
    return Failure{
        fmt::format("--admin {}: neither an address with a port, like 127.0.0.1:{}, nor the word {}",
                    options.admin, kDefaultAdminPort, kOff)};
  }
  AdminConfig config{.address = *address, .token = {}, .period = limits_of(options).period()};
  if (!options.admin_token_file.empty()) {
    const auto token = read_token_file(options.admin_token_file);
    if (!token) return Failure{"--admin-token-file: " + token.error()};
    config.token = *token;
  }
  std::unique_ptr<AdminPart> part(new AdminPart(limits_of(options), server, service, port, clock));
  auto opened = AdminPort::open(config, part->board_, clock, std::move(actions));
  if (!opened) {
    const HttpServer::Error& error = opened.error();
    if (error.is_in_use && !is_named) {
      log_warn(
          "{} is in use, perhaps by another server: this one has no admin port. --admin ADDRESS:PORT names "
          "another",
          options.admin);
      return std::unique_ptr<AdminPart>();
    }
    return Failure{fmt::format("--admin: {}{}", error.why,
                               error.is_in_use ? ": name another port, 0 for a free one, or off" : "")};
  }
  part->port_ = std::move(*opened);
  const Endpoint local = part->port_->local();
  log_info("admin port on http://{}, {}", to_string(local),
           config.token ? "commands need the token" : "read only, since there is no --admin-token-file");
  if (!is_loopback(local) && !config.token)
    log_info("others than this machine may read the admin port: keep it in a network of your own");
  if (!options.admin_port_file.empty()) {
    const auto why_not = write_text_file(options.admin_port_file, fmt::format("{}\n", local.port));
    if (why_not) return Failure{fmt::format("cannot write {}: {}", options.admin_port_file, *why_not)};
  }
  return part;
}

void AdminPart::on_phase(ServicePhase phase) {
  if (phase == ServicePhase::Ended) return collector_.end(word_of(phase));
  collector_.set_phase(word_of(phase), phase == ServicePhase::Running);
}

}  // namespace shoal
