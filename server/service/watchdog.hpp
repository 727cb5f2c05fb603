// Notices when the tick's thread does not go on, says where it hangs, and says when it goes on again. A thread of its own
// looks: the one that hangs cannot.
//
// 1. A stall is said once, then again every `repeat` as long as it lasts. It is counted once.
// 2. It says what the thread is doing, by the words of `describe`, as of the moment at which it looks.
// 3. It changes nothing, unless abort_after is set: then it ends the process, with a core where the system keeps them, for
//    whoever starts it anew.
// Threads: beat() is for the thread that is watched; questions are for any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "server/tick_progress.hpp"
#include "shared/base/time.hpp"

namespace shoal {

struct WatchdogConfig {
  /// So long between two beats is a stall; 0: nobody looks.
  Duration limit = kDefaultWatchdogLimit;
  Duration repeat = seconds(10);
  /// A stall that lasts so long ends the process; 0: none does.
  Duration abort_after{};
};

/// Decides what is said of the beats; knows no thread.
class StallDetector {
 public:
  enum class Verdict : std::uint8_t {
    Fine,
    Stalls,    // say it
    Resumed,   // say it
    Hopeless,  // abort_after is over
  };
  explicit StallDetector(const WatchdogConfig& config) : config_(config) {}

  Verdict look(Time newest_beat, Time now);
  /// Of the present stall, or of the one that just ended.
  Duration length() const { return length_; }

 private:
  WatchdogConfig config_;
  std::optional<Time> stalled_since_;
  Time next_word_{};
  Duration length_{};
};

class Watchdog {
 public:
  /// `describe`: what the watched thread is doing; called by the watchdog's thread. The references outlive the watchdog,
  /// and the clock is read by both threads.
  Watchdog(const Clock& clock, const WatchdogConfig& config, std::function<std::string()> describe);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// The thread goes on. Often: costs a look at the clock and a store.
  void beat() { newest_beat_.store(clock_.now().since_zero.count(), std::memory_order_relaxed); }
  /// From now on nobody looks: the thread may take its time.
  void stop();

  /// Whether the thread went on within the limit; with a limit of 0, within the default one.
  bool is_alive() const;
  Time newest_beat() const { return {Duration(newest_beat_.load(std::memory_order_relaxed))}; }
  /// So far, the present one included.
  std::uint64_t stalls() const { return stalls_.load(std::memory_order_relaxed); }

 private:
  void watch();
  void look();

  const Clock& clock_;
  WatchdogConfig config_;
  std::function<std::string()> describe_;
  StallDetector detector_;
  bool is_stalled_ = false;  // of the watchdog's thread
  std::atomic<std::int64_t> newest_beat_;
  std::atomic<std::uint64_t> stalls_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_stopping_ = false;
  std::thread thread_;  // last: it uses all the others
};

}  // namespace shoal
