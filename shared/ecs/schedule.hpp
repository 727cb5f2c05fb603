// The schedule: systems, plain functions with a name, run once per tick in one order, side by side where they do not
// get into each other's way. What a system reads and writes says its signature (shared/ecs/system_parameters.hpp,
// shared/ecs/each_system.hpp), or it is declared; a system that takes Registry& and declares nothing is *exclusive*:
// it may do anything, and runs alone on the tick's thread.
//
//   schedule.add("index", [](ViewOf<const Position> bodies, Write<Grid> grid) {…});
//   schedule.add_each("move", [](Position& position, const Velocity& velocity, Read<Rules> rules) {…});
//   schedule.add("score", count_points).reads<Player>().writes_resource<Score>().after("move");
//   schedule.add("bury", [](Registry& registry, Tick tick) {…});  // exclusive
//
// What it promises:
// 1. The order is that of adding, changed only by before() and after(). It is cut into stages: systems in a row of which
//    none writes what another one reads or writes. A cut depends on access and stated order alone, so the stages are the
//    same in each tick, on each machine.
// 2. Systems of one stage run side by side; one per entity also in pieces of kPieceValues. Nobody sees half of what
//    another one does, and everybody sees all that earlier stages did.
// 3. Inside a stage nothing structural happens and no signal is heard. Commands, events, and signals of values that were
//    changed are recorded, and applied at the end of the stage on the tick's thread in the order (system, piece,
//    record). Signals of exclusive systems are immediate; their commands are applied when they end.
// 4. So the world is the same, bit for bit, for any executor, whatever its number of threads. What a system draws from
//    SystemContext::random is keyed, not shared.
// 5. In debug builds (as SHOAL_DEBUG_ASSERT) a system that touches what it did not declare, or changes structure in a
//    stage, stops the program with a message that names system, component and remedy.
// 6. An exception that leaves a system: the others of its stage end, nothing that the stage recorded is applied, and the
//    first one in the order (system, piece) leaves `run`.
// 7. In the steady state nothing is allocated.
//
// A system does not see the commands of those in its own stage. One that must see them says after("…"), or the other
// declares with writes<T>() the components that its commands give and take.
//
// Thread rule: one thread, the tick's, but for for_each_running(). Reads no clock unless one is given; that one is read by all threads of the executor.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shared/base/tick.hpp"
#include "shared/base/time.hpp"
#include "shared/ecs/command_buffer.hpp"
#include "shared/ecs/each_system.hpp"
#include "shared/ecs/executor.hpp"
#include "shared/ecs/registry.hpp"
#include "shared/ecs/schedule_graph.hpp"
#include "shared/ecs/system_parameters.hpp"

namespace shoal {

class Schedule {
 public:
  struct System : SystemNode {
    std::uint32_t stage = 0;   // from build() on
    std::uint32_t pieces = 0;  // of the last run
    // Durations stay 0 without a clock. They are work: the pieces of a run are added up, and what it takes to apply what
    // they recorded.
    std::uint64_t runs = 0;
    Duration last{};
    Duration longest{};
    Duration total{};
    std::uint64_t commands_done = 0;
    std::uint64_t commands_skipped = 0;
  };

  /// What is said of a system that was added. Good until the next one is added or the schedule is built.
  class Handle {
   public:
    /// Components that the signature does not show. With Registry& it makes the system one that runs beside others.
    template <class... T>
    Handle& reads() {
      return declare([](Access& access) { (access.add_component<T>(AccessMode::Read), ...); });
    }
    template <class... T>
    Handle& writes() {
      return declare([](Access& access) { (access.add_component<T>(AccessMode::Write), ...); });
    }
    template <class... R>
    Handle& reads_resource() {
      return declare([](Access& access) { (access.add_resource<R>(AccessMode::Read), ...); });
    }
    template <class... R>
    Handle& writes_resource() {
      return declare([](Access& access) { (access.add_resource<R>(AccessMode::Write), ...); });
    }
    /// In an earlier stage than the system of this name, which may be added later.
    Handle& before(std::string name) {
      system_->before.push_back(std::move(name));
      return *this;
    }
    Handle& after(std::string name) {
      system_->after.push_back(std::move(name));
      return *this;
    }

   private:
    friend class Schedule;
    explicit Handle(System& system) : system_(&system) {}
    template <class F>
    Handle& declare(F add) {
      system_->access.set_everything(AccessMode::None);
      add(system_->access);
      return *this;
    }
    System* system_;
  };

  /// With a clock, which must outlive this, each system is timed.
  explicit Schedule(const Clock* clock = nullptr) : clock_(clock) {}
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// A function, or an object with one operator(), whose parameters are those of shared/ecs/system_parameters.hpp; a
  /// generic one takes (Registry&, Tick) or also a CommandBuffer&. REQUIRES: no system has this name.
  template <class F>
  Handle add(std::string name, F fn) {
    if constexpr (requires { typename detail::ParametersOf<F>::type; }) {
      using Parameters = typename detail::ParametersOf<F>::type;
      Access access;
      detail::declare_system(access, Parameters{});
      return add_system(std::move(name), std::move(access), nullptr,
                        [fn = std::move(fn)](SystemContext& context) mutable {
                          detail::call_system(fn, context, Parameters{});
                        });
    } else {
      Access access;
      access.set_everything(AccessMode::Write);
      return add_system(std::move(name), std::move(access), nullptr,
                        [fn = std::move(fn)](SystemContext& context) mutable {
                          if constexpr (std::is_invocable_v<F&, Registry&, Tick, CommandBuffer&>) {
                            fn(context.registry(), context.tick(), context.commands());
                          } else {
                            fn(context.registry(), context.tick());
                          }
                        });
    }
  }
  /// A function of one entity's components, with the parameters of shared/ecs/each_system.hpp. It is called by several
  /// threads at once: what it captures is const, or of its own making safe. REQUIRES: no system has this name.
  template <class F>
  Handle add_each(std::string name, F fn) {
    using Each = detail::EachSystem<F, typename detail::ParametersOf<F>::type>;
    Access access;
    Each::declare(access);
    return add_system(std::move(name), std::move(access), &Each::prepare,
                      [each = Each(std::move(fn))](SystemContext& context) mutable { each.run(context); });
  }

  /// Who runs the tasks from now on; it must outlive this. Null, as at first: the tick's thread alone.
  void set_executor(Executor* executor) { executor_ = executor; }
  /// Of SystemContext::random.
  void set_seed(std::uint64_t seed) { seed_ = seed; }

  /// Works out order and stages; the first run does it if nobody has. Stops the program, with names, when before and
  /// after contradict each other or name nobody, or a system declares a component that the registry has not.
  void build(const Registry& registry);
  void run(Registry& registry, Tick tick);

  /// In the order of adding.
  std::span<const System> systems() const { return systems_; }
  std::size_t stage_count() const { return order_.stages.size(); }
  /// f(const std::string& name) for each system that runs now, or whose records are being applied. From any thread, once
  /// the schedule is built: what it says may be over when it is heard.
  template <class F>
  void for_each_running(F f) const {
    for (std::size_t i = 0; i < systems_.size(); ++i) {
      if (running_tasks_[i].load(std::memory_order_relaxed) > 0) f(systems_[i].name);
    }
  }
  /// The graph in the language of Graphviz. Builds if nobody has.
  std::string dot(const Registry& registry);

 private:
  using Prepare = std::uint32_t (*)(Registry&);  // gives the number of pieces; null: one task
  using Function = std::function<void(SystemContext&)>;
  struct Body {
    Prepare prepare;
    Function function;
    std::vector<std::unique_ptr<CommandBuffer>> buffers;  // one a piece
  };
  struct Task {
    std::uint32_t system;
    std::uint32_t piece;
    Duration took{};
    std::exception_ptr exception;
  };

  /// While it lives the system is among those of for_each_running().
  class RunningMark {
   public:
    explicit RunningMark(std::atomic<std::uint32_t>& tasks) : tasks_(tasks) {
      tasks_.fetch_add(1, std::memory_order_relaxed);
    }
    ~RunningMark() { tasks_.fetch_sub(1, std::memory_order_relaxed); }
    RunningMark(const RunningMark&) = delete;
    RunningMark& operator=(const RunningMark&) = delete;

   private:
    std::atomic<std::uint32_t>& tasks_;
  };

  Handle add_system(std::string name, Access access, Prepare prepare, Function function);
  std::vector<const SystemNode*> nodes() const;
  bool is_exclusive(std::uint32_t system) const {
    return systems_[system].access.everything() == AccessMode::Write;
  }
  void run_stage(std::span<const std::uint32_t> stage, Registry& registry, Tick tick);
  void run_task(Task& task, Registry& registry, Tick tick);
  void finish_stage(std::span<const std::uint32_t> stage, Registry& registry);
  Time now() const { return clock_ != nullptr ? clock_->now() : Time{}; }

  const Clock* clock_;
  Executor* executor_ = nullptr;
  std::uint64_t seed_ = 0;
  bool built_ = false;
  bool running_ = false;
  std::vector<System> systems_;
  std::vector<Body> bodies_;
  ScheduleOrder order_;
  std::vector<Task> tasks_;                                      // of the stage that runs
  std::unique_ptr<std::atomic<std::uint32_t>[]> running_tasks_;  // by system; from build() on
};

}  // namespace shoal
