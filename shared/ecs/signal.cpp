#include "shared/ecs/signal.hpp"

#include <vector>

namespace shoal {

void ScopedConnection::disconnect() {
  // First out of here: the listener that ends may own this connection.
  const auto signal = std::exchange(signal_, {}).lock();
  const ListenerId id = std::exchange(id_, {});
  if (signal) (*signal)->disconnect(id);
}

Signal::~Signal() {
  for (Entry& entry : entries_) entry.id = {};
  connected_ = 0;
  sweep();
}

ListenerId Signal::add(Entry entry) {
  entry.id = {++last_id_};
  entries_.push_back(entry);
  ++connected_;
  return entry.id;
}

ScopedConnection Signal::scoped(ListenerId id) {
  if (!anchor_) anchor_ = std::make_shared<Signal*>(this);
  return {anchor_, id};
}

bool Signal::disconnect(ListenerId id) {
  if (id.value == 0) return false;
  for (Entry& entry : entries_) {
    if (entry.id != id) continue;
    entry.id = {};
    --connected_;
    if (depth_ == 0) sweep();
    return true;
  }
  return false;
}

void Signal::sweep() {
  // First out of the list, then ended: what a listener's end does may come back here.
  std::vector<Entry> ended;
  std::size_t kept = 0;
  for (const Entry& entry : entries_) {
    if (entry.id.value == 0) {
      ended.push_back(entry);
    } else {
      entries_[kept++] = entry;
    }
  }
  entries_.resize(kept);
  for (const Entry& entry : ended) entry.end(entry.object);
}

}  // namespace shoal
