// Comes back by itself: opens a session again when one broke off, or when its server ended and is expected back. It waits
// between attempts, longer each time and never as long as everybody else, so that a server that comes back is not met by
// all of its players at once.
//
//   Reconnector reconnector(client, clock, seed);
//   client.connect();
//   for (;;) { client.poll(); reconnector.run(); show(reconnector.describe()); … }
//
// 1. It connects again by the note that the server gave the session (ClientTransport::resume_ticket), so that the player
//    finds its own entity; when that is refused, by the client's own credentials, at once.
// 2. Never against a will: after a kick, a ban, a newer session of the same player, close() or stop() by the client, or where another
//    attempt would end as this one (wrong password, wrong server key, another schema), it gives up and says why.
// 3. Time and chance are inputs: the same clock and seed give the same attempts.
// Threads: that of the client.
#pragma once

#include <cstdint>
#include <string>

#include "client/client.hpp"
#include "shared/base/random.hpp"
#include "shared/base/time.hpp"

namespace shoal {

struct ReconnectConfig {
  /// Of these, half to all is waited: doubled after each attempt that failed, from the first one to the longest.
  Duration first_wait = milliseconds(500);
  Duration longest_wait = seconds(15);
  /// A session that held for so long was none that failed: waiting begins with first_wait again.
  Duration holds = seconds(10);
  /// Since there was a session, or since the first attempt; 0: never.
  Duration give_up_after{};
};

enum class ReconnectState : std::uint8_t {
  Idle,        // nobody has connected yet
  Connecting,  // for the first time, or again
  Connected,
  Waiting,  // the session, or an attempt, failed: trying again in time_left()
  GivenUp,  // or stopped; why: describe(). Client::connect() begins anew
};

/// Whether another attempt, some time later, may end otherwise.
bool may_try_again(CloseReason reason, RefuseReason refusal);

class Reconnector {
 public:
  /// The references outlive it.
  Reconnector(Client& client, const Clock& clock, std::uint64_t seed, const ReconnectConfig& config = {});

  /// Call it after each Client::poll(). It calls Client::connect() when that is due.
  void run();
  /// The player leaves: no attempt follows. While Waiting there is no session that close() would end.
  void stop();

  ReconnectState state() const { return state_; }
  /// Until the next attempt; 0 unless Waiting.
  Duration time_left() const;
  /// Since there was a session: attempts that failed.
  std::uint32_t attempts() const { return attempts_; }
  /// For a screen: what is, and why.
  std::string describe() const;

 private:
  void take_failure(Time now);
  Duration next_wait();

  Client* client_;
  const Clock* clock_;
  Random random_;
  ReconnectConfig config_;
  ReconnectState state_ = ReconnectState::Idle;
  bool was_stopped_ = false;
  std::uint32_t attempts_ = 0;
  std::uint32_t waits_ = 0;  // since a session held
  Time connected_at_{};
  Time failing_since_{};
  Time next_attempt_{};
};

}  // namespace shoal
