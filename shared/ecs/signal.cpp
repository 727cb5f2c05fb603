#include "shared/ecs/signal.hpp"

#include "shared/base/assert.hpp"

namespace shoal {

void ScopedConnection::disconnect() {
  if (const auto signal = signal_.lock()) (*signal)->disconnect(id_);
  signal_.reset();
  id_ = {};
}

ListenerId Signal::connect(Listener listener) {
  SHOAL_ASSERT(static_cast<bool>(listener), "connect of an empty function");
  const ListenerId id{++last_id_};
  entries_.push_back(std::make_unique<Entry>(Entry{id, std::move(listener)}));
  ++connected_;
  return id;
}

ScopedConnection Signal::connect_scoped(Listener listener) {
  if (!anchor_) anchor_ = std::make_shared<Signal*>(this);
  return {anchor_, connect(std::move(listener))};
}

bool Signal::disconnect(ListenerId id) {
  if (id.value == 0) return false;
  for (auto& entry : entries_) {
    if (entry->id != id) continue;
    entry->id = {};
    --connected_;
    if (depth_ == 0) sweep();
    return true;
  }
  return false;
}

void Signal::sweep() {
  std::erase_if(entries_, [](const std::unique_ptr<Entry>& entry) { return entry->id.value == 0; });
}

}  // namespace shoal
