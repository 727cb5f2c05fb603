#include "server/service/watchdog.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "shared/base/log.hpp"

namespace shoal {

StallDetector::Verdict StallDetector::look(Time newest_beat, Time now) {
  const Duration silence = now - newest_beat;
  if (silence < config_.limit) {
    if (!stalled_since_) return Verdict::Fine;
    length_ = now - *stalled_since_;
    stalled_since_.reset();
    return Verdict::Resumed;
  }
  length_ = silence;
  const bool is_new = !stalled_since_;
  if (is_new) stalled_since_ = newest_beat;
  // Not at the first look: when a machine stood still, this thread may wake up before the one that it looks at.
  if (!is_new && config_.abort_after.count() > 0 && silence >= config_.abort_after) return Verdict::Hopeless;
  if (!is_new && now < next_word_) return Verdict::Fine;
  next_word_ = now + config_.repeat;
  return Verdict::Stalls;
}

Watchdog::Watchdog(const Clock& clock, const WatchdogConfig& config, std::function<std::string()> describe)
    : clock_(clock),
      config_(config),
      describe_(std::move(describe)),
      detector_(config),
      newest_beat_(clock.now().since_zero.count()) {
  if (config_.limit.count() > 0) thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  stop();
}

void Watchdog::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Watchdog::is_alive() const {
  const Duration limit = config_.limit.count() > 0 ? config_.limit : kDefaultWatchdogLimit;
  return clock_.now() - newest_beat() < limit;
}

void Watchdog::watch() {
  // A stall is told of at most an eighth too late.
  const Duration between =
      std::clamp<Duration>(config_.limit / 8, std::chrono::milliseconds(5), std::chrono::milliseconds(500));
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, between, [this] { return is_stopping_; })) look();
}

void Watchdog::look() {
  switch (detector_.look(newest_beat(), clock_.now())) {
    case StallDetector::Verdict::Fine:
      return;
    case StallDetector::Verdict::Stalls:
      if (!std::exchange(is_stalled_, true)) stalls_.fetch_add(1, std::memory_order_relaxed);
      return log_error("the tick has not gone on for {:.1f} s: it is in {}", to_seconds(detector_.length()),
                       describe_());
    case StallDetector::Verdict::Resumed:
      is_stalled_ = false;
      return log_warn("the tick goes on, after {:.1f} s", to_seconds(detector_.length()));
    case StallDetector::Verdict::Hopeless:
      log_error("the tick has not gone on for {:.1f} s: it is in {}; ending (--watchdog-abort-seconds)",
                to_seconds(detector_.length()), describe_());
      std::abort();
  }
}

}  // namespace shoal
