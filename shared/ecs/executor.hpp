// Executors: who runs the tasks of a stage. The schedule says what is to be done, an executor only on which
// threads; nothing that a task does may depend on that.
//
// Thread rule: `run` is called by one thread at a time, not from inside a task.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace shoal {

/// A reference to a function of a task's number. What it refers to outlives the run.
class TaskFunction {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, TaskFunction>)
  TaskFunction(F& function)  // NOLINT: meant to convert
      : function_(const_cast<void*>(static_cast<const void*>(&function))),
        call_([](void* f, std::uint32_t task) noexcept { (*static_cast<F*>(f))(task); }) {}

  void operator()(std::uint32_t task) const { call_(function_, task); }

 private:
  void* function_;
  void (*call_)(void*, std::uint32_t) noexcept;
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// How many tasks may run at once, the caller's thread among them.
  virtual std::uint32_t threads() const = 0;
  /// Calls function(0) … function(count - 1), each once, on any thread in any order, and returns when all have ended;
  /// what they wrote is then seen by the caller. A task that throws ends the program: catch inside.
  virtual void run(std::uint32_t count, TaskFunction function) = 0;
};

/// Everything on the caller's thread, in order.
class InlineExecutor final : public Executor {
 public:
  std::uint32_t threads() const override { return 1; }
  void run(std::uint32_t count, TaskFunction function) override {
    for (std::uint32_t task = 0; task < count; ++task) function(task);
  }
};

/// One thread: an InlineExecutor. More: a ThreadPoolExecutor. REQUIRES: threads > 0.
std::unique_ptr<Executor> make_executor(std::uint32_t threads);

}  // namespace shoal
