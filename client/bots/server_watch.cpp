#include "client/bots/server_watch.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace shoal {
namespace {

constexpr auto kPatience = std::chrono::seconds(2);
constexpr auto kBetween = std::chrono::seconds(1);
// The whole answer is some kilobytes.
constexpr std::size_t kMaxAnswerBytes = 1 << 20;

const nlohmann::json* find(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

bool is_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() && port > 0 && port <= 65535;
}

}  // namespace

Result<std::string, std::string> admin_url(std::string_view text) {
  std::string scheme = "http://";
  for (const std::string_view known : {"http://", "https://"}) {
    if (!text.starts_with(known)) continue;
    scheme = known;
    text.remove_prefix(known.size());
  }
  while (text.ends_with('/')) text.remove_suffix(1);
  const std::size_t bracket = text.starts_with('[') ? text.find(']') : std::string_view::npos;
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view host = text.substr(0, colon);
  const bool is_odd = host.empty() || text.find_first_of("/?#@ ") != std::string_view::npos ||
                      (text.starts_with('[') && bracket == std::string_view::npos);
  if (is_odd || (colon != std::string_view::npos && !is_port(text.substr(colon + 1))))
    return Failure{std::string("neither HOST:PORT nor http://HOST:PORT; an IPv6 address stands in brackets")};
  if (colon != std::string_view::npos) return scheme + std::string(text);
  return fmt::format("{}{}:{}", scheme, host, kDefaultAdminPort);
}

Result<ServerReading, std::string> read_stats(const std::string& text) {
  const auto stats = nlohmann::json::parse(text, nullptr, false);
  if (!stats.is_object()) return Failure{std::string("the answer is no JSON object")};
  const auto* tick = find(stats, "tick_ms");
  if (tick == nullptr || !tick->is_object()) return Failure{std::string("tick_ms is not in the answer")};
  ServerReading reading;
  const auto take = [](const nlohmann::json& object, const char* key, auto& target) {
    const auto* value = find(object, key);
    if (value == nullptr || !value->is_number()) return false;
    target = value->template get<std::decay_t<decltype(target)>>();
    return true;
  };
  if (!take(*tick, "p50", reading.tick_p50_ms) || !take(*tick, "p99", reading.tick_p99_ms) ||
      !take(*tick, "max", reading.tick_max_ms) || !take(stats, "overruns", reading.overruns) ||
      !take(stats, "tick_rate", reading.tick_rate_hz))
    return Failure{
        std::string("tick_rate, tick_ms.p50, tick_ms.p99, tick_ms.max or overruns is not in the answer")};
  // A server that does not tell of its newest ticks tells of all.
  reading.recent_tick_p50_ms = reading.tick_p50_ms;
  reading.recent_tick_p99_ms = reading.tick_p99_ms;
  if (const auto* recent = find(stats, "recent_tick_ms"); recent != nullptr && recent->is_object()) {
    take(*recent, "p50", reading.recent_tick_p50_ms);
    take(*recent, "p99", reading.recent_tick_p99_ms);
  }
  return reading;
}

ServerWatch::~ServerWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Result<ServerReading, std::string> ServerWatch::ask() {
  const Time now = clock_.now();
  std::string body;
  int status = 0;
  try {
    httplib::Client client(url_);
    client.set_connection_timeout(kPatience);
    client.set_read_timeout(kPatience);
    client.set_write_timeout(kPatience);
    const auto answer = client.Get("/stats.json", [&](const char* bytes, std::size_t size) {
      body.append(bytes, size);
      return body.size() <= kMaxAnswerBytes;
    });
    if (!answer) return Failure{fmt::format("no answer: {}", httplib::to_string(answer.error()))};
    status = answer->status;
  } catch (const std::exception& error) {
    return Failure{std::string(error.what())};
  }
  if (status != 200) return Failure{fmt::format("/stats.json is answered with HTTP {}", status)};
  auto reading = read_stats(body);
  if (!reading) return reading;
  reading->at = now;
  const std::lock_guard lock(mutex_);
  latest_ = *reading;
  return reading;
}

void ServerWatch::start() {
  thread_ = std::thread([this] { run(); });
}

void ServerWatch::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kBetween, [this] { return is_ending_; })) {
    lock.unlock();
    // A server that ends does not answer any more: what it said last stays.
    (void)ask();
    lock.lock();
  }
}

std::optional<ServerReading> ServerWatch::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

}  // namespace shoal
