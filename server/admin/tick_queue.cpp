#include "server/admin/tick_queue.hpp"

#include <utility>

namespace shoal {

std::optional<HttpReply> TickQueue::run(Work work, Duration deadline) {
  auto entry = std::make_shared<Entry>();
  entry->work = std::move(work);
  auto answer = entry->answer.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_ || count_ == kPlaces) return std::nullopt;
    entries_[(first_ + count_++) % kPlaces] = entry;
  }
  if (answer.wait_for(deadline) != std::future_status::ready) {
    State waiting = State::Waiting;
    if (entry->state.compare_exchange_strong(waiting, State::GivenUp)) return std::nullopt;
    // The tick is at it at this moment.
    if (answer.wait_for(deadline) != std::future_status::ready) return std::nullopt;
  }
  return answer.get();
}

std::shared_ptr<TickQueue::Entry> TickQueue::take() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || count_ == 0) return nullptr;
  auto entry = std::move(entries_[first_]);
  first_ = (first_ + 1) % kPlaces;
  --count_;
  return entry;
}

void TickQueue::drain(std::size_t most) {
  while (most > 0) {
    const auto entry = take();
    if (!entry) return;
    State waiting = State::Waiting;
    if (!entry->state.compare_exchange_strong(waiting, State::Taken)) continue;
    entry->answer.set_value(entry->work());
    --most;
  }
}

void TickQueue::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
}

}  // namespace shoal
