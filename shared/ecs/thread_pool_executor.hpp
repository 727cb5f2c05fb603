// The executor with threads: Asio's thread_pool behind the one .cpp that includes it. The caller's thread works along;
// the others are woken for a run and take tasks until none is left.
//
// Thread rule: as Executor.
// Invariants:
// 1. `run` returns when every task has ended, not when every helper has woken: one that comes late finds nothing to do,
//    or takes part in the next run.
// 2. A run allocates nothing: the place of each helper's handler is its own.
// 3. The destructor joins all threads.
#pragma once

#include <cstdint>
#include <memory>

#include "shared/ecs/executor.hpp"

namespace shoal {

class ThreadPoolExecutor final : public Executor {
 public:
  /// So many in all, the caller's among them. REQUIRES: threads > 0.
  explicit ThreadPoolExecutor(std::uint32_t threads);
  ~ThreadPoolExecutor() override;

  std::uint32_t threads() const override;
  void run(std::uint32_t count, TaskFunction function) override;

 private:
  class Crew;
  std::unique_ptr<Crew> crew_;
};

}  // namespace shoal
