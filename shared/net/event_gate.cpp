#include "shared/net/event_gate.hpp"

#include <algorithm>

#include "shared/base/fault.hpp"

namespace shoal {

void EventGate::leave(Event& event, bool is_late, std::vector<Event>& out) {
  bytes_ -= event.message.size;
  event.is_late = is_late;
  out.push_back(std::move(event));
}

void EventGate::push(Event event, std::vector<Event>& out) {
  bytes_ += event.message.size;
  events_.push_back(std::move(event));
  while (events_.size() > kMaxEvents || bytes_ > kMaxBytes) {
    // The oldest of all is the oldest of its entity.
    leave(events_.front(), true, out);
    events_.pop_front();
  }
}

void EventGate::release(Time now, const IsThere& is_there, std::vector<Event>& out) {
  std::vector<std::uint64_t> waiting;  // entities of which an earlier event stays
  std::size_t kept = 0;
  for (std::size_t i = 0; i < events_.size(); ++i) {
    Event& event = events_[i];
    const bool waits_for_another = std::find(waiting.begin(), waiting.end(), event.entity) != waiting.end();
    if (!waits_for_another) {
      const bool there = event.entity == 0 || fault("net-event-early") || is_there(event.entity, event.tick);
      if (there || now - event.came >= kMaxWait) {
        leave(event, !there, out);
        continue;
      }
      waiting.push_back(event.entity);
    }
    if (kept != i) events_[kept] = std::move(event);
    ++kept;
  }
  events_.resize(kept);
}

}  // namespace shoal
