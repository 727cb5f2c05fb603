#include "server/fleet/agones_sdk.hpp"

#include <utility>

namespace shoal {
namespace {

/// For each part of a request. The side-car is on this machine, but waits for its cluster when it starts.
constexpr Duration kTimeOut = seconds(2);
/// How soon what was posted is looked at.
constexpr Duration kPause = milliseconds(50);

}  // namespace

AgonesSdk::AgonesSdk(std::uint16_t port, AgonesPlanConfig config, std::function<bool()> is_alive,
                     const Clock& clock)
    : clock_(clock),
      is_alive_(std::move(is_alive)),
      plan_(std::move(config)),
      client_(port, kTimeOut),
      thread_([this] { run(); }) {}

AgonesSdk::~AgonesSdk() {
  {
    std::unique_lock lock(mutex_);
    is_stopping_ = true;
    wake_.notify_all();
    // Again and again: an abort between two requests ends neither.
    while (!wake_.wait_for(lock, kPause, [this] { return has_ended_; })) client_.abort();
  }
  thread_.join();
}

void AgonesSdk::post(const FleetStatus& status) {
  std::lock_guard lock(mutex_);
  status_ = status;
}

bool AgonesSdk::wait(Duration time_out, const std::function<bool()>& is_done) {
  std::unique_lock lock(mutex_);
  for (const Time end = clock_.now() + time_out; !is_done() && clock_.now() < end;)
    wake_.wait_for(lock, kPause);
  return is_done();
}

void AgonesSdk::run() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    const FleetStatus status = status_;
    lock.unlock();
    const auto request = plan_.next(clock_.now(), status, is_alive_());
    if (request) {
      const HttpAnswer answer = client_.send(request->method, request->path, request->body);
      plan_.answered(*request, answer, clock_.now());
      wants_end_.store(plan_.wants_end());
      has_shut_down_.store(plan_.has_shut_down());
    }
    lock.lock();
    if (!request && !is_stopping_) wake_.wait_for(lock, kPause);
  }
  has_ended_ = true;
  wake_.notify_all();
}

}  // namespace shoal
