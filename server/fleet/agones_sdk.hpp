// Talks to Agones' side-car on a thread of its own: AgonesPlan says what, HttpClient how.
//
// 1. The tick's thread only posts small values and reads flags; it never waits for the side-car, which may be slow, late,
//    or gone.
// 2. The thread ends within a second of the destructor's call, whatever the side-car does.
// Threads: post(), wants_end() and has_shut_down() from any; the rest by the owner.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "server/fleet/agones_plan.hpp"
#include "server/fleet/http_client.hpp"
#include "shared/base/time.hpp"

namespace shoal {

class AgonesSdk {
 public:
  /// Begins at once. `port`: of the side-car on this machine. `is_alive` says whether the tick goes on, and is called on
  /// the thread. The clock outlives this.
  AgonesSdk(std::uint16_t port, AgonesPlanConfig config, std::function<bool()> is_alive, const Clock& clock);
  ~AgonesSdk();

  void post(const FleetStatus& status);
  bool wants_end() const { return wants_end_.load(); }
  bool has_shut_down() const { return has_shut_down_.load(); }
  /// Sleeps until `is_done` or the time is over, asking now and then; the answer of the last time.
  bool wait(Duration time_out, const std::function<bool()>& is_done);

 private:
  void run();

  const Clock& clock_;
  std::function<bool()> is_alive_;
  AgonesPlan plan_;  // the thread's
  HttpClient client_;
  std::mutex mutex_;
  FleetStatus status_;
  bool is_stopping_ = false;
  bool has_ended_ = false;
  std::condition_variable wake_;
  std::atomic<bool> wants_end_{false};
  std::atomic<bool> has_shut_down_{false};
  std::thread thread_;  // after all that it uses
};

}  // namespace shoal
