#include "shared/ecs/thread_pool_executor.hpp"

// Asio has fences around handlers, which the thread sanitizer does not know. What hands work over here are the mutex of
// Asio's queue and the atomics below, which it does.
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

#include <algorithm>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <atomic>
#include <cstddef>
#include <optional>
#include <vector>

#include "shared/base/assert.hpp"

namespace shoal {
namespace {

/// Where the handler that wakes one helper lies while it waits in the pool's queue.
struct Berth {
  alignas(std::max_align_t) std::byte bytes[256];
  std::atomic<bool> taken{false};
};

template <class T>
class BerthAllocator {
 public:
  using value_type = T;
  explicit BerthAllocator(Berth& berth) : berth_(&berth) {}
  template <class U>
  BerthAllocator(const BerthAllocator<U>& other) : berth_(other.berth_) {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) {
    SHOAL_ASSERT(count * sizeof(T) <= sizeof(berth_->bytes), "a handler of Asio has outgrown its place");
    return reinterpret_cast<T*>(berth_->bytes);
  }
  void deallocate(T*, std::size_t) {}
  friend bool operator==(const BerthAllocator& a, const BerthAllocator& b) { return a.berth_ == b.berth_; }

 private:
  template <class>
  friend class BerthAllocator;
  Berth* berth_;
};

}  // namespace

class ThreadPoolExecutor::Crew {
 public:
  explicit Crew(std::uint32_t helpers) : berths_(helpers) {
    if (helpers > 0) pool_.emplace(helpers);
  }
  ~Crew() {
    if (pool_) pool_->join();
  }

  std::uint32_t helpers() const { return static_cast<std::uint32_t>(berths_.size()); }

  void run(std::uint32_t count, TaskFunction function) {
    if (count == 0) return;
    SHOAL_ASSERT(unfinished_.load(std::memory_order_relaxed) == 0,
                 "run() while a run goes on: from inside a task, or by two threads");
    function_.emplace(function);
    count_ = count;
    unfinished_.store(count, std::memory_order_relaxed);
    // Whoever reads this sees what stands above.
    left_.store((std::uint64_t{++run_} << 32) | count, std::memory_order_release);
    wake(std::min(helpers(), count - 1));
    work();
    for (std::uint32_t now = unfinished_.load(std::memory_order_acquire); now != 0;
         now = unfinished_.load(std::memory_order_acquire)) {
      unfinished_.wait(now, std::memory_order_acquire);
    }
  }

 private:
  struct Wake {
    using allocator_type = BerthAllocator<void>;
    allocator_type get_allocator() const { return BerthAllocator<void>(*berth); }
    void operator()() const {
      berth->taken.store(false, std::memory_order_release);  // Asio has copied the handler out of it
      crew->work();
    }
    Crew* crew;
    Berth* berth;
  };

  void wake(std::uint32_t wanted) {
    for (std::uint32_t i = 0; i < wanted; ++i) {
      // Still on its way from an earlier run: it takes part in this one.
      if (!berths_[i].taken.exchange(true, std::memory_order_acquire))
        asio::post(*pool_, Wake{this, &berths_[i]});
    }
  }

  void work() {
    std::uint64_t left = left_.load(std::memory_order_acquire);
    while (static_cast<std::uint32_t>(left) != 0) {
      if (!left_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire))
        continue;
      // From here to the fetch_sub the run cannot end, so function_ and count_ are its own.
      (*function_)(count_ - static_cast<std::uint32_t>(left));
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
      left = left_.load(std::memory_order_acquire);
    }
  }

  std::optional<TaskFunction> function_;
  std::uint32_t count_ = 0;
  std::uint32_t run_ = 0;
  // The number of the run in the upper half, tasks that nobody took in the lower one: a helper that slept through a run
  // cannot mistake the next one for it.
  std::atomic<std::uint64_t> left_{0};
  std::atomic<std::uint32_t> unfinished_{0};
  std::vector<Berth> berths_;
  std::optional<asio::thread_pool> pool_;  // last: its threads end before what they use
};

ThreadPoolExecutor::ThreadPoolExecutor(std::uint32_t threads) {
  SHOAL_ASSERT(threads > 0, "an executor has at least the caller's thread");
  crew_ = std::make_unique<Crew>(threads - 1);
}
ThreadPoolExecutor::~ThreadPoolExecutor() = default;

std::uint32_t ThreadPoolExecutor::threads() const {
  return crew_->helpers() + 1;
}
void ThreadPoolExecutor::run(std::uint32_t count, TaskFunction function) {
  crew_->run(count, function);
}

std::unique_ptr<Executor> make_executor(std::uint32_t threads) {
  if (threads == 1) return std::make_unique<InlineExecutor>();
  return std::make_unique<ThreadPoolExecutor>(threads);
}

}  // namespace shoal
