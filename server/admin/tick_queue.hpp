// Work from other threads that the tick's thread does between two ticks: commands, and questions that only it can answer.
//
// 1. At most kPlaces wait; when all are taken, the next one is refused at once.
// 2. Who asked waits no longer than the deadline. Work that nobody waits for any more is not done; work that had begun by
//    then is done, and its asker is told that nothing is known.
// 3. The tick's thread never waits: when somebody is putting something in at that moment, it looks again after the next
//    tick.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>

#include "server/admin/http.hpp"
#include "shared/base/time.hpp"

namespace shoal {

class TickQueue {
 public:
  using Work = std::function<HttpReply()>;
  static constexpr std::size_t kPlaces = 32;

  /// Any thread but the tick's. None: no place, or the tick did not answer in time.
  std::optional<HttpReply> run(Work work, Duration deadline);
  /// The tick's thread: does at most `most` of what waits, oldest first.
  void drain(std::size_t most);
  /// From now on everything is refused, and what waits is not done.
  void close();

 private:
  enum class State : int { Waiting, Taken, GivenUp };
  struct Entry {
    Work work;
    std::promise<HttpReply> answer;
    std::atomic<State> state{State::Waiting};
  };

  std::shared_ptr<Entry> take();

  std::mutex mutex_;
  std::array<std::shared_ptr<Entry>, kPlaces> entries_;  // a ring
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  bool is_closed_ = false;
};

}  // namespace shoal
