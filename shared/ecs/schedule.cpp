#include "shared/ecs/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/base/assert.hpp"
#include "shared/base/hash.hpp"
#include "shared/ecs/running_system.hpp"

namespace shoal {

Schedule::Handle Schedule::add_system(std::string name, Access access, Prepare prepare, Function function) {
  SHOAL_ASSERT(!running_, "a system is added while the systems run; add all of them before");
  for (const System& system : systems_) {
    if (system.name != name) continue;
    assertion_failed("unique name", fmt::format("two systems have the name \"{}\"", name).c_str(), __FILE__,
                     __LINE__);
  }
  System& system = systems_.emplace_back();
  system.name = std::move(name);
  system.access = std::move(access);
  bodies_.push_back({prepare, std::move(function), {}});
  built_ = false;
  return Handle(system);
}

std::vector<const SystemNode*> Schedule::nodes() const {
  std::vector<const SystemNode*> found;
  for (const System& system : systems_) found.push_back(&system);
  return found;
}

void Schedule::build(const Registry& registry) {
  SHOAL_ASSERT(registry.frozen(), "a schedule is built for a registry whose types are frozen");
  for (const System& system : systems_) {
    for (const AccessItem& item : system.access.items()) {
      if (item.resource || registry.find_slot(item.slot) != nullptr) continue;
      assertion_failed(
          "registered",
          fmt::format("the system \"{}\" takes {}, which the registry has not; register_component it",
                      system.name, item.type_name)
              .c_str(),
          __FILE__, __LINE__);
    }
  }
  order_ = order_of(nodes(), registry);
  for (std::uint32_t stage = 0; stage < order_.stages.size(); ++stage) {
    for (const std::uint32_t system : order_.stages[stage]) systems_[system].stage = stage;
  }
  running_tasks_ = std::make_unique<std::atomic<std::uint32_t>[]>(systems_.size());
  built_ = true;
}

std::string Schedule::dot(const Registry& registry) {
  if (!built_) build(registry);
  return to_dot(nodes(), order_, registry);
}

void Schedule::run(Registry& registry, Tick tick) {
  if (!built_) build(registry);
  SHOAL_ASSERT(!running_, "run() from inside a system");
  running_ = true;
  try {
    for (const auto& stage : order_.stages) run_stage(stage, registry, tick);
  } catch (...) {
    running_ = false;
    throw;
  }
  running_ = false;
}

void Schedule::run_stage(std::span<const std::uint32_t> stage, Registry& registry, Tick tick) {
  tasks_.clear();
  for (const std::uint32_t number : stage) {
    Body& body = bodies_[number];
    const std::uint32_t pieces = body.prepare != nullptr ? body.prepare(registry) : 1;
    systems_[number].pieces = pieces;
    while (body.buffers.size() < pieces) body.buffers.push_back(std::make_unique<CommandBuffer>());
    for (std::uint32_t piece = 0; piece < pieces; ++piece) tasks_.push_back({number, piece, {}, nullptr});
  }
  const auto run_one = [&](std::uint32_t task) { run_task(tasks_[task], registry, tick); };
  // One task, an exclusive system among others, never leaves the tick's thread.
  if (executor_ != nullptr && tasks_.size() > 1) {
    executor_->run(static_cast<std::uint32_t>(tasks_.size()), run_one);
  } else {
    for (std::uint32_t task = 0; task < tasks_.size(); ++task) run_one(task);
  }
  finish_stage(stage, registry);
}

void Schedule::run_task(Task& task, Registry& registry, Tick tick) {
  const System& system = systems_[task.system];
  Body& body = bodies_[task.system];
  const RunningMark mark(running_tasks_[task.system]);
  SystemContext context({system.name, mix64(seed_ ^ fnv1a64(system.name)), tick, task.piece, &registry,
                         body.buffers[task.piece].get()});
  const Time start = now();
  try {
    if (is_exclusive(task.system)) {
      body.function(context);
    } else {
      const detail::RunningSystem running{system.name, &registry, &registry.resources(), &system.access,
                                          &context.commands()};
      const detail::RunningScope scope(running);
      body.function(context);
    }
  } catch (...) {
    task.exception = std::current_exception();
  }
  task.took = now() - start;
}

void Schedule::finish_stage(std::span<const std::uint32_t> stage, Registry& registry) {
  const auto failed =
      std::find_if(tasks_.begin(), tasks_.end(), [](const Task& task) { return task.exception != nullptr; });
  if (failed != tasks_.end()) {
    for (const Task& task : tasks_) bodies_[task.system].buffers[task.piece]->clear();
    std::rethrow_exception(std::exchange(failed->exception, nullptr));
  }
  auto task = tasks_.begin();
  for (const std::uint32_t number : stage) {
    System& system = systems_[number];
    const RunningMark mark(running_tasks_[number]);
    Duration took{};
    const Time start = now();
    for (; task != tasks_.end() && task->system == number; ++task) {
      const CommandBuffer::Applied applied = bodies_[number].buffers[task->piece]->apply(registry);
      system.commands_done += applied.done;
      system.commands_skipped += applied.skipped;
      took += task->took;
    }
    ++system.runs;
    if (clock_ == nullptr) continue;
    system.last = took + (now() - start);
    system.longest = std::max(system.longest, system.last);
    system.total += system.last;
  }
}

}  // namespace shoal
