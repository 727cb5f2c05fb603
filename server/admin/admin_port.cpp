#include "server/admin/admin_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server/admin/metrics.hpp"
#include "server/admin/query.hpp"
#include "server/admin/status_json.hpp"
#include "shared/config/process.hpp"

namespace shoal {
namespace {

constexpr Duration kAnswerDeadline = seconds(1);
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

HttpReply no_status_yet() {
  return text_reply(503, "the server has not finished its first tick yet: ask again in a moment");
}

HttpReply not_offered(std::string_view what) {
  return text_reply(501, fmt::format("this server's program does not offer {}", what));
}

// A web page whose name was made to lead to this machine says its own name.
bool is_this_machine(std::string_view host) {
  if (host.empty()) return true;
  if (const auto address = parse_endpoint(host, 0)) return is_loopback(*address);
  return host.substr(0, host.find(':')) == "localhost";
}

}  // namespace

Result<std::unique_ptr<AdminPort>, HttpServer::Error> AdminPort::open(const AdminConfig& config,
                                                                      const StatusBoard& board,
                                                                      const Clock& clock,
                                                                      AdminActions actions) {
  std::unique_ptr<AdminPort> port(new AdminPort(config, board, clock, std::move(actions)));
  auto http = HttpServer::start(
      config.address, clock, [raw = port.get()](const HttpRequest& request) { return raw->answer(request); });
  if (!http) return Failure{http.error()};
  port->http_ = std::move(*http);
  return port;
}

AdminPort::AdminPort(const AdminConfig& config, const StatusBoard& board, const Clock& clock,
                     AdminActions actions)
    : config_(config), board_(board), clock_(clock), actions_(std::move(actions)) {
  if (config.token) guard_.emplace(*config.token);
}

AdminPort::~AdminPort() {
  queue_.close();
}

std::span<const AdminPort::Route> AdminPort::routes() {
  static constexpr Route kRoutes[] = {
      {"/", false, "this page", &AdminPort::index},
      {"/metrics", false, "metrics for Prometheus", &AdminPort::metrics},
      {"/healthz", false, "200 while the tick is alive", &AdminPort::healthz},
      {"/readyz", false, "200 while players may join", &AdminPort::readyz},
      {"/stats.json", false, "what the report holds, now", &AdminPort::stats},
      {"/players.json", false, "who plays, and how well the path to each is", &AdminPort::players},
      {"/why", false, "?client=N&entity=INDEX[:GENERATION] – what a client has of an entity, or why not",
       &AdminPort::why},
      {"/kick", true, "?client=N – end a player's session", &AdminPort::kick},
      {"/ban", true, "?address=A or ?player=ID – until the server ends", &AdminPort::ban},
      {"/announce", true, "the body is shown to all players", &AdminPort::announce},
      {"/drain", true, "take no more players, and end when all are told", &AdminPort::drain},
      {"/log-level", true, "?level=debug – from now on", &AdminPort::set_level},
  };
  return kRoutes;
}

HttpReply AdminPort::answer(const HttpRequest& request) {
  HttpReply reply = route(request);
  const std::lock_guard lock(replies_mutex_);
  ++replies_[reply.status];
  return reply;
}

HttpReply AdminPort::route(const HttpRequest& request) {
  if (is_loopback(config_.address) && !is_this_machine(request.host))
    return text_reply(403,
                      "a loopback address answers for this machine's own names alone: ask for localhost");
  const auto all = routes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Route& one) { return one.path == request.path; });
  if (found == all.end()) return text_reply(404, "there is no such page: GET / lists them");
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  if (found->is_command ? request.method != "POST" : !is_read) {
    HttpReply reply =
        text_reply(405, fmt::format("{} takes {} alone", found->path, found->is_command ? "POST" : "GET"));
    reply.headers.emplace_back("Allow", found->is_command ? "POST" : "GET, HEAD");
    return reply;
  }
  if (found->is_command) {
    if (auto refusal = why_not(request)) return *std::move(refusal);
  }
  return (this->*found->page)(request);
}

std::optional<HttpReply> AdminPort::why_not(const HttpRequest& request) {
  if (!guard_) return text_reply(403, "this server takes no commands: start it with --admin-token-file FILE");
  switch (guard_->check(request.authorization, request.remote, clock_.now())) {
    case AdminGuard::Verdict::Good:
      return std::nullopt;
    case AdminGuard::Verdict::Missing: {
      HttpReply reply = text_reply(401, "commands need the header `Authorization: Bearer TOKEN`");
      reply.headers.emplace_back("WWW-Authenticate", "Bearer");
      return reply;
    }
    case AdminGuard::Verdict::Wrong:
      log_warn("admin: {} from {} with a wrong token", request.path, request.remote);
      return text_reply(403,
                        "that is not the token: it is the first line of the server's --admin-token-file");
    case AdminGuard::Verdict::TooMany: {
      HttpReply reply = text_reply(429, "too many wrong tokens from this address: wait some seconds");
      reply.headers.emplace_back("Retry-After", fmt::format("{:.0f}", to_seconds(AdminGuard::kForgiveAfter)));
      return reply;
    }
  }
  return text_reply(403, "no");
}

HttpReply AdminPort::on_tick(TickQueue::Work work) {
  auto reply = queue_.run(std::move(work), kAnswerDeadline);
  if (reply) return *std::move(reply);
  return text_reply(503, "the tick did not answer in time: /healthz says whether it is alive");
}

bool AdminPort::is_tick_alive() const {
  const Duration patience = std::max<Duration>(kLeastPatience, config_.patience_periods * config_.period);
  const auto status = board_.newest();
  return status != nullptr && (status->is_over || clock_.now() - board_.last_beat() <= patience);
}

// --- reading -----------------------------------------------------------------------------------------------

HttpReply AdminPort::index(const HttpRequest&) {
  std::string rows;
  for (const Route& one : routes()) {
    const std::string name =
        one.is_command ? fmt::format("POST {}", one.path) : fmt::format("<a href=\"{0}\">{0}</a>", one.path);
    rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name, one.what);
  }
  return {
      200,
      fmt::format("<!doctype html>\n<meta charset=\"utf-8\">\n<title>shoal-server</title>\n"
                  "<style>body{{font:16px sans-serif;margin:3em}}td{{padding:.2em 1.5em .2em 0}}</style>\n"
                  "<h1>shoal-server</h1>\n<table>\n{}</table>\n<p>Commands need a token.</p>\n",
                  rows),
      "text/html; charset=utf-8"};
}

HttpReply AdminPort::metrics(const HttpRequest&) {
  const auto status = board_.newest();
  if (!status) return no_status_yet();
  ScrapeMoment moment;
  moment.cpu_time = process_cpu_time();
  moment.rss_bytes = rss_bytes();
  moment.peak_rss_bytes = peak_rss_bytes();
  if (!status->is_over) moment.since_last_tick = std::max(Duration{0}, clock_.now() - board_.last_beat());
  moment.is_ready = status->is_ready() && is_tick_alive();
  moment.admin_token_failures = guard_ ? guard_->failures() : 0;
  {
    const std::lock_guard lock(replies_mutex_);
    moment.admin_replies = replies_;
    moment.admin_replies.try_emplace(200);  // this one is not counted yet
  }
  return {200, metrics_text(*status, moment), std::string(kMetricsType)};
}

HttpReply AdminPort::healthz(const HttpRequest&) {
  if (board_.newest() == nullptr) return no_status_yet();
  if (is_tick_alive()) return text_reply(200, "ok");
  return text_reply(503, fmt::format("no tick for {:.1f} s: a system hangs, or the machine does",
                                     to_seconds(clock_.now() - board_.last_beat())));
}

HttpReply AdminPort::readyz(const HttpRequest& request) {
  const auto status = board_.newest();
  if (!status || !is_tick_alive()) return healthz(request);
  if (!status->takes_players)
    return text_reply(503, fmt::format("no players are taken: the server is {}", status->phase));
  if (status->is_full())
    return text_reply(
        503, fmt::format("full: {} of {} players", status->player_count, status->limits.max_players));
  return text_reply(200, "ready");
}

HttpReply AdminPort::stats(const HttpRequest&) {
  const auto status = board_.newest();
  if (!status) return no_status_yet();
  return {200, server_report(status->measures, {process_cpu_time(), peak_rss_bytes()}), std::string(kJson)};
}

HttpReply AdminPort::players(const HttpRequest&) {
  const auto status = board_.newest();
  return status ? HttpReply{200, players_json(*status), std::string(kJson)} : no_status_yet();
}

HttpReply AdminPort::why(const HttpRequest& request) {
  if (!actions_.explain) return not_offered("explanations");
  const auto client = parse_number<std::uint32_t>(query_value(request.query, "client").value_or(""));
  const std::string entity = query_value(request.query, "entity").value_or("");
  const std::size_t colon = entity.find(':');
  const auto index = parse_number<std::uint32_t>(entity.substr(0, colon));
  std::optional<std::uint32_t> generation;
  if (colon != std::string::npos) generation = parse_number<std::uint32_t>(entity.substr(colon + 1));
  if (!client || !index || (colon != std::string::npos && !generation)) {
    return text_reply(400,
                      "ask /why?client=N&entity=INDEX or INDEX:GENERATION; /players.json has the numbers");
  }
  return on_tick([this, number = PlayerNumber{*client}, index = *index, generation] {
    const auto explanation = actions_.explain(number, index, generation);
    if (!explanation)
      return text_reply(404,
                        fmt::format("no player has the number {}: /players.json lists them", number.value));
    return HttpReply{200, explanation_json(number, *explanation), std::string(kJson)};
  });
}

// --- commands ----------------------------------------------------------------------------------------------

HttpReply AdminPort::kick(const HttpRequest& request) {
  if (!actions_.kick) return not_offered("to kick");
  const auto client = parse_number<std::uint32_t>(query_value(request.query, "client").value_or(""));
  if (!client) return text_reply(400, "say whom: /kick?client=N; /players.json has the numbers");
  return on_tick([this, number = PlayerNumber{*client}] {
    if (!actions_.kick(number))
      return text_reply(404,
                        fmt::format("no player has the number {}: /players.json lists them", number.value));
    log_info("admin: kicked player {}", number.value);
    return text_reply(200, fmt::format("kicked player {}", number.value));
  });
}

HttpReply AdminPort::ban(const HttpRequest& request) {
  if (!actions_.ban_address || !actions_.ban_player) return not_offered("to ban");
  const auto address = query_value(request.query, "address");
  const auto player = query_value(request.query, "player");
  const auto range = address ? parse_address_range(*address) : std::nullopt;
  const auto id = player ? parse_player_id(*player) : std::nullopt;
  if ((address && !range) || (player && !id) || range.has_value() == id.has_value()) {
    return text_reply(
        400,
        "say whom: /ban?address=203.0.113.7, a range like 198.51.100.0/24, or /ban?player= and 32 "
        "hexadecimal digits");
  }
  return on_tick([this, range, id, who = address ? *address : *player] {
    if (range) actions_.ban_address(*range);
    if (id) actions_.ban_player(*id);
    log_info("admin: banned {}", who);
    return text_reply(200, fmt::format("banned {} until the server ends; the ban list is for longer", who));
  });
}

HttpReply AdminPort::announce(const HttpRequest& request) {
  if (!actions_.announce) return not_offered("to announce");
  std::string words = request.body;
  while (words.ends_with('\n') || words.ends_with('\r')) words.pop_back();
  if (words.empty()) return text_reply(400, "say what: the request's body is the text");
  if (words.size() > kMaxDetailBytes)
    return text_reply(413, fmt::format("{} bytes are too many for one announcement: {} at most", words.size(),
                                       kMaxDetailBytes));
  return on_tick([this, text = std::move(words)] {
    actions_.announce(text);
    log_info("admin: announced {} bytes", text.size());
    return text_reply(200, "announced");
  });
}

HttpReply AdminPort::drain(const HttpRequest&) {
  if (!actions_.drain) return not_offered("to drain");
  return on_tick([this] {
    actions_.drain();
    log_info("admin: drain");
    return text_reply(202, "draining");
  });
}

HttpReply AdminPort::set_level(const HttpRequest& request) {
  if (!actions_.set_log_level) return not_offered("log levels");
  static constexpr std::pair<std::string_view, LogLevel> kLevels[] = {
      {"trace", LogLevel::Trace}, {"debug", LogLevel::Debug}, {"info", LogLevel::Info},
      {"warn", LogLevel::Warn},   {"error", LogLevel::Error}, {"off", LogLevel::Off}};
  const std::string word = query_value(request.query, "level").value_or("");
  for (const auto& [name, level] : kLevels) {
    if (name != word) continue;
    return on_tick([this, level = level, name = std::string(name)] {
      log_info("admin: log level {}", name);
      actions_.set_log_level(level);
      return text_reply(200, fmt::format("log level {}", name));
    });
  }
  return text_reply(400, "say which: /log-level?level=trace, debug, info, warn, error or off");
}

}  // namespace shoal
