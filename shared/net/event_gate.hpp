// Events that came before the state of which they speak: they wait for it, since they travel by themselves and a
// frame may be lost or have had no room.
//
// 1. An event leaves when the state of its entity is as new as its tick, or late: a second after it came, or
//    when others need its place. A late one says so; the listener decides what it is worth without the state.
// 2. Events of one entity leave in the order in which they came.
// 3. At most kMaxEvents with kMaxBytes are held, whatever a peer sends.
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "shared/base/tick.hpp"
#include "shared/base/time.hpp"
#include "shared/net/message_receiver.hpp"

namespace shoal {

class EventGate {
 public:
  static constexpr Duration kMaxWait = seconds{1};
  static constexpr std::size_t kMaxEvents = 256;
  static constexpr std::size_t kMaxBytes = 256u << 10;

  struct Event {
    std::uint64_t entity = 0;  // its bits; 0: of none, waits for nothing
    Tick tick;
    ReceivedMessage message;
    Time came{};
    bool is_late = false;  // the state is not there
  };
  /// Whether what is known of the entity is of this tick or a later one; also when it is known to be gone by then.
  using IsThere = std::function<bool(std::uint64_t entity, Tick tick)>;

  /// Holds the event; those that must make room for it are appended to `out`, late.
  void push(Event event, std::vector<Event>& out);
  /// Appends to `out` what may leave. O(events held), times the entities that wait.
  void release(Time now, const IsThere& is_there, std::vector<Event>& out);
  /// With the session.
  void clear() {
    events_.clear();
    bytes_ = 0;
  }

  std::size_t size() const { return events_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  void leave(Event& event, bool is_late, std::vector<Event>& out);

  std::deque<Event> events_;  // as they came
  std::size_t bytes_ = 0;
};

}  // namespace shoal
