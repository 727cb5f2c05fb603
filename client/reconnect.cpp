#include "client/reconnect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shoal {

bool may_try_again(CloseReason reason, RefuseReason refusal) {
  switch (reason) {
    case CloseReason::Unspecified:  // of a newer server; a kick would say so
    case CloseReason::ServerShutDown:
    case CloseReason::TimedOut:
    case CloseReason::KeyUsedUp:
    case CloseReason::ServerRestart:
    case CloseReason::NoAnswer:
      return true;
    case CloseReason::ClientLeft:
    case CloseReason::Kicked:
    case CloseReason::Replaced:  // each of both would end the other for ever
    case CloseReason::ProtocolError:
    case CloseReason::WrongServerKey:
      return false;
    case CloseReason::Refused:
      break;
  }
  switch (refusal) {
    case RefuseReason::ServerFull:
    case RefuseReason::ShuttingDown:
    case RefuseReason::Busy:
    case RefuseReason::TooManySessions:
    case RefuseReason::Draining:
      return true;
    default:
      return false;
  }
}

Reconnector::Reconnector(Client& client, const Clock& clock, std::uint64_t seed,
                         const ReconnectConfig& config)
    : client_(&client), clock_(&clock), random_(seed), config_(config), failing_since_(clock.now()) {}

void Reconnector::run() {
  const Time now = clock_->now();
  switch (client_->state()) {
    case ClientState::Idle:
      return;
    case ClientState::Connecting:
      // By whoever owns the client, as long as it was not us.
      if (state_ != ReconnectState::Connecting && state_ != ReconnectState::Waiting) failing_since_ = now;
      state_ = ReconnectState::Connecting;
      was_stopped_ = false;
      return;
    case ClientState::Connected:
      if (state_ != ReconnectState::Connected) connected_at_ = now;
      state_ = ReconnectState::Connected;
      attempts_ = 0;
      return;
    case ClientState::Closed:
      break;
  }
  if (state_ == ReconnectState::GivenUp) return;
  if (state_ != ReconnectState::Waiting) take_failure(now);
  if (state_ != ReconnectState::Waiting || now < next_attempt_) return;
  state_ = ReconnectState::Connecting;
  client_->connect();
}

void Reconnector::stop() {
  client_->close();
  state_ = ReconnectState::GivenUp;
  was_stopped_ = true;
}

void Reconnector::take_failure(Time now) {
  const bool had_session = state_ == ReconnectState::Connected;
  if (had_session) {
    failing_since_ = now;
    if (now - connected_at_ >= config_.holds) waits_ = 0;
  } else {
    ++attempts_;
  }
  const bool shows_other_credentials =
      client_->close_reason() == CloseReason::Refused && client_->was_resume_ticket_refused();
  const bool is_over = config_.give_up_after.count() > 0 && now - failing_since_ >= config_.give_up_after;
  if (is_over ||
      (!shows_other_credentials && !may_try_again(client_->close_reason(), client_->refuse_reason()))) {
    state_ = ReconnectState::GivenUp;
    return;
  }
  state_ = ReconnectState::Waiting;
  next_attempt_ = shows_other_credentials ? now : now + next_wait();
}

Duration Reconnector::next_wait() {
  Duration most = config_.first_wait;
  for (std::uint32_t i = 0; i < waits_ && most < config_.longest_wait; ++i) most *= 2;
  most = std::min(most, config_.longest_wait);
  ++waits_;
  const double part = 0.5 + 0.5 * static_cast<double>(random_.uniform());
  return Duration(static_cast<std::int64_t>(static_cast<double>(most.count()) * part));
}

Duration Reconnector::time_left() const {
  if (state_ != ReconnectState::Waiting) return {};
  return std::max(Duration{}, next_attempt_ - clock_->now());
}

std::string Reconnector::describe() const {
  switch (state_) {
    case ReconnectState::Idle:
      return "not connected";
    case ReconnectState::Connecting:
      return attempts_ == 0 ? "connecting" : fmt::format("connecting, attempt {}", attempts_ + 1);
    case ReconnectState::Connected:
      return "connected";
    case ReconnectState::Waiting:
      return fmt::format("not connected ({}): trying again in {:.0f} s", to_string(client_->close_reason()),
                         std::ceil(to_seconds(time_left())));
    case ReconnectState::GivenUp:
      return was_stopped_ ? "left" : "given up: " + client_->describe_close();
  }
  return {};
}

}  // namespace shoal
