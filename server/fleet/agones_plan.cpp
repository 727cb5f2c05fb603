#include "server/fleet/agones_plan.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "shared/base/log.hpp"

namespace shoal {
namespace {

constexpr Duration kLookEvery = seconds(1);
/// A side-car that does not answer is asked again after this long.
constexpr Duration kRetry = milliseconds(500);
constexpr Duration kRetryRefused = seconds(1);
/// A state that was asked for comes about within this time, or is asked for again.
constexpr Duration kStateTime = seconds(5);
constexpr Duration kCountEvery = milliseconds(250);
/// A side-car without counters may be replaced by one that has them.
constexpr Duration kCounterRetry = seconds(60);
constexpr Duration kComplainEvery = seconds(30);

constexpr std::string_view kNames[kAgonesCalls] = {
    "gameserver", "health", "ready", "allocate", "reserve", "shutdown", "label", "annotation", "counter"};

std::string_view name_of(AgonesCall call) {
  return kNames[static_cast<std::size_t>(call)];
}

bool is_one_of(std::string_view state, std::initializer_list<std::string_view> states) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

AgonesRequest post(AgonesCall call, std::string path, std::string body = "{}") {
  return {call, HttpMethod::Post, std::move(path), std::move(body)};
}

}  // namespace

bool AgonesPlan::may_call(AgonesCall call, Time now) const {
  return now >= not_before_[static_cast<std::size_t>(call)];
}

bool AgonesPlan::may_complain(std::optional<Time>& last, Time now) const {
  if (last && now - *last < kComplainEvery) return false;
  last = now;
  return true;
}

std::optional<AgonesRequest> AgonesPlan::next(Time now, const FleetStatus& status, bool is_alive) {
  if (now < silent_until_) return std::nullopt;
  if (status.is_over && !has_shut_down_ && may_call(AgonesCall::Shutdown, now))
    return post(AgonesCall::Shutdown, "/shutdown");
  const bool wants_health = !seen_ || seen_->wants_health;
  if (is_alive && wants_health && may_call(AgonesCall::Health, now))
    return post(AgonesCall::Health, "/health");
  if (may_call(AgonesCall::Look, now))
    return AgonesRequest{AgonesCall::Look, HttpMethod::Get, "/gameserver", {}};
  if (!seen_ || status.is_over) return std::nullopt;
  if (seen_->state == "Allocated" && status.players > 0) has_played_ = true;
  if (auto metadata = next_metadata()) return metadata;
  if (counted_ != status.players && may_call(AgonesCall::Count, now)) {
    count_asked_ = status.players;
    return AgonesRequest{AgonesCall::Count, HttpMethod::Patch,
                         fmt::format("/v1beta1/counters/{}", kPlayersCounter),
                         counter_body(status.players, config_.max_players)};
  }
  if (!status.has_ticked || wants_end_) return std::nullopt;
  return next_state(now, status);
}

std::optional<AgonesRequest> AgonesPlan::next_metadata() const {
  const auto put = [](AgonesCall call, const std::pair<std::string, std::string>& pair) {
    return AgonesRequest{call, HttpMethod::Put, fmt::format("/metadata/{}", name_of(call)),
                         key_value_body(pair.first, pair.second)};
  };
  if (labels_told_ < config_.labels.size()) return put(AgonesCall::Label, config_.labels[labels_told_]);
  if (annotations_told_ < config_.annotations.size())
    return put(AgonesCall::Annotation, config_.annotations[annotations_told_]);
  return std::nullopt;
}

std::optional<AgonesRequest> AgonesPlan::next_state(Time now, const FleetStatus& status) const {
  const std::string& state = seen_->state;
  if (!is_ready_told_)
    return may_call(AgonesCall::Ready, now) ? std::optional(post(AgonesCall::Ready, "/ready")) : std::nullopt;
  // A Reserved server with players in it would become Ready, and perhaps be scaled away, with them inside.
  const bool allocates =
      status.players > 0 && ((config_.allocate_on_join && state == "Ready") || state == "Reserved");
  if (allocates && may_call(AgonesCall::Allocate, now)) return post(AgonesCall::Allocate, "/allocate");
  const bool reserves =
      config_.reserve.count() > 0 && status.players == 0 && has_played_ && state == "Allocated";
  if (reserves && may_call(AgonesCall::Reserve, now))
    return post(AgonesCall::Reserve, "/reserve", reserve_body(config_.reserve));
  return std::nullopt;
}

void AgonesPlan::answered(const AgonesRequest& request, const HttpAnswer& answer, Time now) {
  if (answer.status == 0) return take_silence(answer.error, now);
  if (is_silent_) log_info("fleet: Agones' side-car answers again");
  is_silent_ = false;
  silence_said_.reset();
  if (answer.status >= 200 && answer.status < 300) return take_answer(request.call, answer, now);
  take_refusal(request, answer, now);
}

void AgonesPlan::take_silence(const std::string& why, Time now) {
  silent_until_ = now + kRetry;
  is_silent_ = true;
  if (may_complain(silence_said_, now))
    log_warn("fleet: Agones' side-car does not answer ({}); asked again until it does", why);
}

void AgonesPlan::take_answer(AgonesCall call, const HttpAnswer& answer, Time now) {
  Time& not_before = not_before_[static_cast<std::size_t>(call)];
  refusal_said_[static_cast<std::size_t>(call)].reset();
  switch (call) {
    case AgonesCall::Look:
      not_before = now + kLookEvery;
      return take_game_server(answer.body, now);
    case AgonesCall::Health:
      not_before = now + (seen_ ? seen_->health_period : GameServer{}.health_period) / 2;
      return;
    case AgonesCall::Label:
      ++labels_told_;
      return;
    case AgonesCall::Annotation:
      ++annotations_told_;
      return;
    case AgonesCall::Count:
      not_before = now + kCountEvery;
      counted_ = count_asked_;
      is_without_counter_ = false;
      return;
    case AgonesCall::Ready:
      is_ready_told_ = true;
      break;
    case AgonesCall::Shutdown:
      has_shut_down_ = true;
      break;
    case AgonesCall::Reserve:
    case AgonesCall::Allocate:
      break;
  }
  not_before = now + kStateTime;
  not_before_[static_cast<std::size_t>(AgonesCall::Look)] = now;  // what has come of it?
  log_info("fleet: told Agones' side-car: {}", name_of(call));
}

void AgonesPlan::take_refusal(const AgonesRequest& request, const HttpAnswer& answer, Time now) {
  const auto index = static_cast<std::size_t>(request.call);
  const std::string why = fmt::format("{} {}", answer.status, read_error(answer.body));
  not_before_[index] = now + kRetryRefused;
  if (request.call == AgonesCall::Count && is_one_of(std::to_string(answer.status), {"404", "501"})) {
    not_before_[index] = now + kCounterRetry;
    if (!is_without_counter_) {
      log_warn("fleet: no counter '{}' ({}): who allocates by players needs spec.counters.{} in the Fleet",
               kPlayersCounter, why, kPlayersCounter);
    }
    is_without_counter_ = true;
    return;
  }
  if (may_complain(refusal_said_[index], now))
    log_warn("fleet: Agones' side-car refuses {} {}: {}", name_of(request.call), request.body, why);
  // Nobody is served better by a server that waits for its labels.
  if (request.call == AgonesCall::Label) ++labels_told_;
  if (request.call == AgonesCall::Annotation) ++annotations_told_;
}

void AgonesPlan::take_game_server(const std::string& body, Time now) {
  auto read = read_game_server(body);
  if (!read) {
    if (may_complain(refusal_said_[static_cast<std::size_t>(AgonesCall::Look)], now))
      log_warn("fleet: the game server that Agones' side-car shows cannot be read: {}", read.error());
    return;
  }
  const std::string before = seen_ ? seen_->state : std::string();
  seen_ = *std::move(read);
  const std::string& state = seen_->state;
  if (state != before) {
    log_info("fleet: game server {} is {}{}", seen_->name, state,
             before.empty() ? std::string() : fmt::format(", was {}", before));
    if (state == "Unhealthy")
      log_error(
          "fleet: Agones heard no sign of health in time and will replace this server; there is no way back");
    // What was asked for has come about; the next time is another matter.
    for (const AgonesCall call : {AgonesCall::Allocate, AgonesCall::Reserve})
      not_before_[static_cast<std::size_t>(call)] = now;
    if (state != "Allocated") has_played_ = false;
  }
  // A side-car that began anew knows nothing of what it was told.
  const bool has_forgotten = is_one_of(state, {"PortAllocation", "Creating", "Starting", "Scheduled"});
  if (is_ready_told_ && has_forgotten && may_call(AgonesCall::Ready, now)) {
    is_ready_told_ = false;
    labels_told_ = annotations_told_ = 0;
    counted_.reset();
  }
  const bool is_ending = seen_->is_being_deleted || (state == "Shutdown" && !has_shut_down_);
  if (is_ending && !wants_end_)
    log_info("fleet: Agones ends this server: {}",
             seen_->is_being_deleted ? "it is being deleted" : "Shutdown");
  wants_end_ = wants_end_ || is_ending;
}

}  // namespace shoal
