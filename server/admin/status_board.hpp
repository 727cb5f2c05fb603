// Where the newest status hangs: the tick's thread puts it up, any other thread takes it down to read.
//
// 1. Who publishes never waits: when a reader holds the board at that moment, the old status stays, and the next tick
//    tries again. Readers hold it for the copy of a pointer.
// 2. A status that was taken stays good while its reader holds it.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "server/admin/status.hpp"

namespace shoal {

class StatusBoard {
 public:
  /// The tick's thread alone. False: somebody was reading; nothing changed.
  bool publish(std::shared_ptr<const ServerStatus>& status) {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    // What hung there goes back to the caller: it is taken apart outside of the lock.
    newest_.swap(status);
    return true;
  }
  /// A tick ended now: the sign of life.
  void beat(Time now) { last_beat_.store(now.since_zero.count(), std::memory_order_relaxed); }

  /// From any thread. Null before the first one.
  std::shared_ptr<const ServerStatus> newest() const {
    const std::lock_guard lock(mutex_);
    return newest_;
  }
  Time last_beat() const { return {Duration(last_beat_.load(std::memory_order_relaxed))}; }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const ServerStatus> newest_;
  std::atomic<Duration::rep> last_beat_{0};
};

}  // namespace shoal
